"""`second_games` and `second_wins`: games and wins as second, over the board."""

from __future__ import annotations

from qisai.kernel.names import names
from qisai.kernel.outcomes import Award
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Terms, term
from qisai.kernel.tie_breaks.record import Record


def terms_games(record: Record, entrant: int) -> Terms:
    """One for each game played as second."""
    return [
        term(record, cell, 1, Reason.COUNTED)
        for cell in record.cells[entrant]
        if cell.meaning.second and cell.meaning.over_the_board
    ]


def terms_wins(record: Record, entrant: int) -> Terms:
    """One for each game won as second."""
    return [
        term(record, cell, 1, Reason.COUNTED)
        for cell in record.cells[entrant]
        if cell.meaning.second and cell.meaning.over_the_board and cell.meaning.award is Award.WIN
    ]


SECOND_GAMES = Sum(
    code="second_games", names=names("后手局数", "後手局數", "Games as second"), scale=Scale.UNIT, terms=terms_games
)
SECOND_WINS = Sum(
    code="second_wins", names=names("后手胜局", "後手勝局", "Wins as second"), scale=Scale.UNIT, terms=terms_wins
)
