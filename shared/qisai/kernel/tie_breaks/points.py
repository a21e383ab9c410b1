"""Points: always the first criterion, before every tie-break."""

from __future__ import annotations

from qisai.kernel.names import names
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Terms, term
from qisai.kernel.tie_breaks.record import Record


def terms(record: Record, entrant: int) -> Terms:
    """The points of each round (docs/rules.md section 9)."""
    return [term(record, cell, cell.meaning.points, Reason.POINTS) for cell in record.cells[entrant]]


POINTS = Sum(code="points", names=names("积分", "積分", "Points"), scale=Scale.HALF, terms=terms)
