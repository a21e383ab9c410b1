"""`sodos`: scores of the opponents beaten over the board, plus half the scores of those drawn with."""

from __future__ import annotations

from typing import Final

from qisai.kernel.names import names
from qisai.kernel.outcomes import Award
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Terms, term
from qisai.kernel.tie_breaks.record import Record

_QUARTERS_PER_HALF_POINT: Final = {Award.WIN: 2, Award.DRAW: 1}
"""A beaten opponent's score in half-points counts whole, a drawn one's half; in quarter-points: twice and once."""


def terms(record: Record, entrant: int) -> Terms:
    """Quarter-points by opponent; adjourned games and rounds not played over the board add nothing."""
    return [
        term(
            record,
            cell,
            record.scores[cell.opponent] * _QUARTERS_PER_HALF_POINT[cell.meaning.award],
            Reason.OPPONENT_SCORE,
        )
        for cell in record.cells[entrant]
        if cell.opponent is not None and cell.meaning.over_the_board and cell.meaning.award in _QUARTERS_PER_HALF_POINT
    ]


SODOS = Sum(
    code="sodos", names=names("胜平对手分", "勝和對手分", "Defeated opponents"), scale=Scale.QUARTER, terms=terms
)
