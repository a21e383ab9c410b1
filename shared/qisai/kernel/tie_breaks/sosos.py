"""`sosos`: the sum of the opponents' `opponents`."""

from __future__ import annotations

from qisai.kernel.names import names
from qisai.kernel.tie_breaks import opponents
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Terms, term
from qisai.kernel.tie_breaks.record import Record


def terms(record: Record, entrant: int) -> Terms:
    """`opponents` of each opponent met; rounds without one add nothing (docs/rules.md section 9)."""
    sums = record.once(opponents.values)
    return [
        term(record, cell, sums[cell.opponent], Reason.OPPONENT_SUM)
        for cell in record.cells[entrant]
        if cell.meaning.met and cell.opponent is not None
    ]


SOSOS = Sum(
    code="sosos", names=names("对手的对手分", "對手的對手分", "Opponents' opponents"), scale=Scale.HALF, terms=terms
)
