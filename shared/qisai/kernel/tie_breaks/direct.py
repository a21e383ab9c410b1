"""`direct` (直胜): the mini-table among entrants equal on everything before it (docs/rules.md section 9).

Only games over the board count. If all of them met, the mini-table orders them; if not, only who stays ahead whatever
the missing results is placed first. Either way it is applied again to those still equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from qisai.kernel.names import names
from qisai.kernel.tie_breaks.criterion import AmongEqual, Reason, Scale, Settlement, Term, Terms, term
from qisai.kernel.tie_breaks.record import Cell, Record

Games = dict[int, list[Cell]]
"""Per entrant of the group: decided games over the board against others of the group."""


def settle(record: Record, tied: Sequence[int]) -> Settlement:
    """Order one group of equal entrants; values are half-points in the mini-table that settled them, or none."""
    order: list[list[int]] = []
    terms: dict[int, list[Term]] = {}
    waiting = [sorted(tied)]
    while waiting:
        group = waiting.pop()
        parts = _mini_table(record, group, terms) if len(group) > 1 else [group]
        if len(parts) == 1:
            order.extend(parts)
        else:
            waiting.extend(reversed(parts))
    return Settlement(order=order, terms=terms)


def _mini_table(record: Record, group: list[int], terms: dict[int, list[Term]]) -> list[list[int]]:
    """Split one group by its mini-table, best first, and note the arithmetic of whom it settles."""
    games = _games(record, group)
    points = {entrant: sum(cell.meaning.points for cell in games[entrant]) for entrant in group}
    missing = {entrant: len(group) - 1 - len({cell.opponent for cell in games[entrant]}) for entrant in group}
    if not any(missing.values()):
        for entrant in group:
            _add(terms, entrant, _lines(record, games[entrant]))
        return _split(group, points)
    leader = _certain_leader(record, group, points=points, missing=missing)
    if leader is None:
        return [group]
    _add(terms, leader, [*_lines(record, games[leader]), *_not_met(record, leader, group, games[leader])])
    return [[leader], [entrant for entrant in group if entrant != leader]]


def _games(record: Record, group: Sequence[int]) -> Games:
    members = frozenset(group)
    return {
        entrant: [
            cell
            for cell in record.cells[entrant]
            if cell.opponent in members and cell.meaning.over_the_board and cell.meaning.decided
        ]
        for entrant in group
    }


def _split(group: Sequence[int], points: dict[int, int]) -> list[list[int]]:
    by_points: dict[int, list[int]] = {}
    for entrant in group:
        by_points.setdefault(points[entrant], []).append(entrant)
    return [by_points[score] for score in sorted(by_points, reverse=True)]


def _certain_leader(
    record: Record, group: Sequence[int], *, points: dict[int, int], missing: dict[int, int]
) -> int | None:
    """Who is alone in front even if losing every missing game while each other one wins all of theirs."""
    worth = record.regulations.points
    floor = {entrant: points[entrant] + missing[entrant] * worth.loss for entrant in group}
    ceiling = {entrant: points[entrant] + missing[entrant] * worth.win for entrant in group}
    leader = max(group, key=floor.__getitem__)
    ahead = all(floor[leader] > ceiling[entrant] for entrant in group if entrant != leader)
    return leader if ahead else None


def _lines(record: Record, games: Sequence[Cell]) -> list[Term]:
    return [term(record, cell, cell.meaning.points, Reason.MINI_TABLE) for cell in games]


def _not_met(record: Record, entrant: int, group: Sequence[int], games: Sequence[Cell]) -> Terms:
    met = {cell.opponent for cell in games}
    return [
        Term(0, Reason.NOT_MET, opponent=record.numbers[other], counted=False)
        for other in group
        if other != entrant and other not in met
    ]


def _add(terms: dict[int, list[Term]], entrant: int, lines: list[Term]) -> None:
    """The first mini-table gives the value; later ones, among those still equal, are shown beside it."""
    if entrant in terms:
        terms[entrant].extend(line._replace(reason=Reason.MINI_TABLE_AGAIN, counted=False) for line in lines)
    else:
        terms[entrant] = lines


DIRECT = AmongEqual(code="direct", names=names("直胜", "直勝", "Direct encounter"), scale=Scale.HALF, settle=settle)
