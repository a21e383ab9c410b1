"""`wins`: rounds with a win's points; `wins_played`: games won over the board."""

from __future__ import annotations

from qisai.kernel.names import names
from qisai.kernel.outcomes import Award
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Terms, term
from qisai.kernel.tie_breaks.record import Record


def terms(record: Record, entrant: int) -> Terms:
    """One for each round that gave a win's points, played or not."""
    win = record.regulations.points.win
    return [term(record, cell, 1, Reason.COUNTED) for cell in record.cells[entrant] if cell.meaning.points == win]


def terms_played(record: Record, entrant: int) -> Terms:
    """One for each game won over the board."""
    return [
        term(record, cell, 1, Reason.COUNTED)
        for cell in record.cells[entrant]
        if cell.meaning.over_the_board and cell.meaning.award is Award.WIN
    ]


WINS = Sum(code="wins", names=names("胜局", "勝局", "Wins"), scale=Scale.UNIT, terms=terms)
WINS_PLAYED = Sum(
    code="wins_played", names=names("实战胜局", "實戰勝局", "Wins played"), scale=Scale.UNIT, terms=terms_played
)
