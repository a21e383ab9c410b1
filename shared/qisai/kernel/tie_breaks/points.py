"""Points: always the first criterion, before every tie-break."""

from __future__ import annotations

from qisai.kernel.names import names
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Term, Terms, term
from qisai.kernel.tie_breaks.record import Record


def terms(record: Record, entrant: int) -> Terms:
    """The points of each round, then the chief referee's adjustments (docs/rules.md section 9)."""
    rounds = [term(record, cell, cell.meaning.points, Reason.POINTS) for cell in record.cells[entrant]]
    given = record.adjustments[entrant]
    return rounds + [Term(one.half_points, Reason.ADJUSTMENT, one.after_round) for one in given]


POINTS = Sum(code="points", names=names("积分", "積分", "Points"), scale=Scale.HALF, terms=terms)
