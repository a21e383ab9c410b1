"""`aro`: mean rating of the rated opponents met over the board, .5 rounds up."""

from __future__ import annotations

from qisai.kernel.names import names
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Terms, term, total
from qisai.kernel.tie_breaks.record import Record


def ratings(record: Record) -> list[int | None]:
    """Seed score of each entrant, None where unrated."""
    by_number = {entrant.number: entrant.seed for entrant in record.tournament.entrants}
    return [by_number[number] for number in record.numbers]


def terms(record: Record, entrant: int) -> Terms:
    """The rating of each rated opponent met over the board."""
    known = record.once(ratings)
    return [
        term(record, cell, rating, Reason.RATING)
        for cell in record.cells[entrant]
        if cell.opponent is not None and cell.meaning.over_the_board and (rating := known[cell.opponent]) is not None
    ]


def mean(lines: Terms) -> int | None:
    """The mean, .5 up; None without a rated opponent."""
    return (2 * (total(lines) or 0) + len(lines)) // (2 * len(lines)) if lines else None


ARO = Sum(
    code="aro",
    names=names("对手平均等级分", "對手平均等級分", "Opponents' rating"),
    scale=Scale.UNIT,
    terms=terms,
    value=mean,
)
