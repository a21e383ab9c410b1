"""`sb_fide`: FIDE Sonneborn-Berger, each opponent's adjusted score times the points made against that opponent."""

from __future__ import annotations

from qisai.kernel.names import names
from qisai.kernel.tie_breaks.criterion import Scale, Sum, Term, Terms, term
from qisai.kernel.tie_breaks.fide_unplayed import opponent_value
from qisai.kernel.tie_breaks.record import Record


def terms(record: Record, entrant: int) -> Terms:
    """Quarter-points of each round; unplayed rounds count against the dummy (C.07; docs/rules.md section 9)."""
    found: list[Term] = []
    for cell in record.cells[entrant]:
        worth = opponent_value(record, entrant, cell)
        if worth is not None:
            found.append(term(record, cell, worth[0] * cell.meaning.points, worth[1]))
    return found


SB_FIDE = Sum(
    code="sb_fide",
    names=names("索博分", "索博分", "Sonneborn-Berger"),
    scale=Scale.QUARTER,
    terms=terms,
)
