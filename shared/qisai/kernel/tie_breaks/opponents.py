"""`opponents` (SOS, 对手分): the opponents' scores over games that count as met."""

from __future__ import annotations

from qisai.kernel.model import CompensationKind
from qisai.kernel.names import names
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Term, Terms, term, total
from qisai.kernel.tie_breaks.record import Record


def compensation(record: Record) -> int:
    """Half-points that a round without a met opponent adds: zero, the lowest score of a player, or a fixed value."""
    rule = record.regulations.bye_compensation
    match rule.kind:
        case CompensationKind.ZERO:
            return 0
        case CompensationKind.FIXED:
            return rule.points or 0
        case CompensationKind.LOWEST:
            played = (
                score
                for score, row in zip(record.scores, record.cells, strict=True)
                if any(cell.meaning.over_the_board for cell in row)
            )
            return min(played, default=0)


def terms(record: Record, entrant: int) -> Terms:
    """Scores of the opponents met; every other round adds the compensation, one still being played adds nothing."""
    made_up = record.once(compensation)
    found: list[Term] = []
    for cell in record.cells[entrant]:
        if cell.meaning.met and cell.opponent is not None:
            found.append(term(record, cell, record.scores[cell.opponent], Reason.OPPONENT_SCORE))
        elif not cell.meaning.pending:
            found.append(term(record, cell, made_up, Reason.COMPENSATION))
    return found


def values(record: Record) -> list[int]:
    """`opponents` of all entrants, in half-points."""
    return [total(terms(record, entrant)) or 0 for entrant in range(len(record.numbers))]


OPPONENTS = Sum(code="opponents", names=names("对手分", "對手分", "Opponents' scores"), scale=Scale.HALF, terms=terms)
