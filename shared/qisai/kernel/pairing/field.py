"""The field of one round: the tournament as pairing sees it, compiled once into flat arrays.

Everything the criteria of docs/rules.md section 4 need about an entrant is here, by *index* (0 … n − 1): present
entrants sorted by score descending, then by place within their score group. No criterion reads the tournament itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from qisai.errors import FieldError, Invalid
from qisai.kernel.first_round import GroupOrder, first_round_order
from qisai.kernel.model import Direction, Entrant, Regulations, System, Tournament, WithinGroup
from qisai.kernel.pairing.history import FIRST, SECOND, History, Record, compile_history
from qisai.kernel.pairing.round_robin import berger_round, table_numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Field:
    """Present entrants of the round to draw. Scores in half-points; side codes: +1 first, −1 second."""

    regulations: Regulations
    round: int
    last_round: bool
    """True when `regulations.rounds` equals this round."""
    within: WithinGroup
    """Order inside groups in this round: by regulations, direction of the round or first-round mode."""
    number: tuple[int, ...]
    score: tuple[int, ...]
    """Score for pairing: an adjourned game counts as a draw."""
    group: tuple[int, ...]
    """Index of the score group, 0 = highest score present."""
    place: tuple[int, ...]
    """Place within the group from 0, in the group's order for this round."""
    group_size: tuple[int, ...]
    """Per group."""
    group_start: tuple[int, ...]
    """Per group, the index of its first entrant: a group is the indexes from here on, `group_size` of them."""
    sides: tuple[tuple[int, ...], ...]
    """Sides of games with a side, in round order; rounds without one are skipped. Empty without a first move."""
    surplus: tuple[int, ...]
    """Times first minus times second."""
    wish: tuple[int, ...]
    """+1 wants first, −1 wants second, 0 none (always 0 where sides are not balanced)."""
    may_first: tuple[bool, ...]
    """Whether moving first keeps inside the limits of criterion 3 (always where sides are not balanced)."""
    may_second: tuple[bool, ...]
    """Whether moving second does."""
    down_weight: tuple[int, ...]
    """Earlier down-floats weighted 8 (last round), 4 (the round before), 2 (older)."""
    up_weight: tuple[int, ...]
    """Earlier up-floats, weighted likewise."""
    down_count: tuple[int, ...]
    up_count: tuple[int, ...]
    unplayed: tuple[int, ...]
    """Earlier rounds not played over the board."""
    bye_count: tuple[int, ...]
    """Pairing byes, full-point byes and wins by forfeit so far."""
    bye_eligible: tuple[bool, ...]
    """With an odd field: those with the fewest `bye_count` present. All False in an even field."""
    barred: tuple[frozenset[int], ...]
    """Per index, the indexes it must not be paired with: met before, or forbidden in this round."""
    met: tuple[frozenset[int], ...]
    """The part of `barred` that comes from earlier meetings."""
    left_seats: tuple[int, ...]
    """Boards played on the left (first) seat; for `seat_balance`."""
    club: tuple[int, ...]
    """Club as a number, −1 for none; all −1 but in round 1 with same-club avoidance."""
    table: tuple[int, ...] = ()
    """Round robin only: the index of the opponent in the Berger table, −1 where that opponent is not present."""
    table_first: tuple[bool, ...] = ()
    """Round robin only: whether the table lets the entrant move first against that opponent."""

    @property
    def size(self) -> int:
        """Number of present entrants."""
        return len(self.number)

    @property
    def odd(self) -> bool:
        """Whether somebody gets the pairing bye."""
        return len(self.number) % 2 == 1

    @property
    def balances_sides(self) -> bool:
        """Whether side criteria and rules 6.1 to 6.3 are in force."""
        return self.regulations.first_move and self.regulations.balance_sides


def compile_field(tournament: Tournament) -> Field:
    """The field of the round to draw.

    Raises `Invalid` (slug in brackets) for a past board without a result or a history that cannot be read
    (`past-rounds-incomplete`), a round beyond the planned ones (`round-beyond-rounds`), a pool that names somebody
    unknown or another round (`pool-invalid`) and a pool without anybody (`empty-pool`).
    """
    regulations, drawing = tournament.regulations, tournament.next_round
    if regulations.rounds is not None and drawing > regulations.rounds:
        detail = f"round {drawing} is beyond the {regulations.rounds} rounds planned; raise `rounds` to go on"
        said = {"round": drawing, "rounds": regulations.rounds}
        fault = FieldError("/regulations/rounds", detail, "round-beyond-rounds", said)
        raise Invalid("round-beyond-rounds", detail, errors=[fault])
    history = compile_history(tournament)
    order = group_order(regulations, drawing)
    present = sorted(present_entrants(tournament), key=lambda e: (-history.scores[e.number], *order.key(e)))
    if not present:
        detail = f"nobody is present in round {drawing}: everyone is withdrawn, absent or has a bye"
        fault = FieldError("/entrants", detail, "empty-pool", {"round": drawing})
        raise Invalid("empty-pool", detail, errors=[fault])
    return _compile(tournament, present, history, order)


def present_entrants(tournament: Tournament) -> list[Entrant]:
    """Seated, not withdrawn, not absent, no requested bye this round (docs/rules.md section 4, Definitions)."""
    drawing, pool = tournament.next_round, tournament.next
    away: set[int] = set()
    if pool is not None:
        if pool.round != drawing:
            detail = f"the pool is for round {pool.round}, but round {drawing} is next"
            fault = FieldError("/next/round", detail, "pool-of-another-round", {"round": pool.round, "next": drawing})
            raise Invalid("pool-invalid", detail, errors=[fault])
        away = {*pool.absent, *(bye.entrant for bye in pool.byes)}
        unknown = away - {entrant.number for entrant in tournament.entrants}
        if unknown:
            detail = f"the pool names entrant {min(unknown)}, who is not in the event"
            fault = FieldError("/next", detail, "unknown-entrant", {"value": min(unknown)})
            raise Invalid("pool-invalid", detail, errors=[fault])
    return [
        entrant
        for entrant in tournament.entrants
        if entrant.number not in away and (entrant.withdrawn_from is None or entrant.withdrawn_from > drawing)
    ]


def group_order(regulations: Regulations, drawing: int) -> GroupOrder:
    """Order inside score groups in this round (docs/rules.md sections 4 and 5)."""
    if drawing == 1 and regulations.system is not System.ROUND_ROBIN:
        order = first_round_order(regulations.first_round.mode, lot_seed=regulations.lot_seed)
        if order is not None:
            return order
    if regulations.system is not System.DRAW_NUMBER:
        return GroupOrder(key=_ascending, within=regulations.within_group)
    if (drawing % 2 == 1) == (regulations.direction is Direction.Z):
        return GroupOrder(key=_ascending, within=WithinGroup.ADJACENT)
    return GroupOrder(key=_descending, within=WithinGroup.FOLD)


def _ascending(entrant: Entrant) -> tuple[int]:
    return (entrant.number,)


def _descending(entrant: Entrant) -> tuple[int]:
    return (-entrant.number,)


def _compile(tournament: Tournament, present: Sequence[Entrant], history: History, order: GroupOrder) -> Field:
    regulations, drawing = tournament.regulations, tournament.next_round
    number = tuple(entrant.number for entrant in present)
    index = {name: position for position, name in enumerate(number)}
    records = [history.records[name] for name in number]
    score = tuple(history.scores[name] for name in number)
    group_size = tuple(len(list(members)) for _, members in groupby(score))
    met = tuple(frozenset([index[other] for other in record.met if other in index]) for record in records)
    sides = tuple(tuple(record.sides) if regulations.first_move else () for record in records)
    surplus = tuple(map(sum, sides))
    balanced = regulations.first_move and regulations.balance_sides
    opponent, moves_first = _table(tournament, index) if regulations.system is System.ROUND_ROBIN else ((), ())
    return Field(
        regulations=regulations,
        round=drawing,
        last_round=regulations.rounds == drawing,
        within=order.within,
        number=number,
        score=score,
        group=tuple(group for group, size in enumerate(group_size) for _ in range(size)),
        place=tuple(place for size in group_size for place in range(size)),
        group_size=group_size,
        group_start=tuple(accumulate(group_size[:-1], initial=0)),
        sides=sides,
        surplus=surplus,
        wish=tuple(map(_wish, sides, surplus)) if balanced else (0,) * len(number),
        may_first=_inside_limits(sides, surplus, side=FIRST, balanced=balanced),
        may_second=_inside_limits(sides, surplus, side=SECOND, balanced=balanced),
        down_weight=tuple([record.down_weight for record in records]),
        up_weight=tuple([record.up_weight for record in records]),
        down_count=tuple([record.down_count for record in records]),
        up_count=tuple([record.up_count for record in records]),
        unplayed=tuple(drawing - 1 - record.played for record in records),
        bye_count=tuple(record.byes for record in records),
        bye_eligible=_bye_eligible(records),
        barred=_with_forbidden(tournament, index, met),
        met=met,
        left_seats=tuple(record.left for record in records),
        club=_clubs(present, avoid=drawing == 1 and regulations.first_round.avoid_same_club),
        table=opponent,
        table_first=moves_first,
    )


def _wish(sides: Sequence[int], surplus: int) -> int:
    """Surplus > 0 wants second, < 0 first; at 0 the opposite of the last side; without games nothing."""
    if surplus:
        return SECOND if surplus > 0 else FIRST
    return -sides[-1] if sides else 0


def _inside_limits(
    sides: Sequence[Sequence[int]], surplus: Sequence[int], *, side: int, balanced: bool
) -> tuple[bool, ...]:
    """No third same side in a row, surplus after this game within ±2 (docs/rules.md section 4, criterion 3)."""
    if not balanced:
        return (True,) * len(sides)
    return tuple(
        -2 <= total + side <= 2 and not (len(played) > 1 and played[-1] == played[-2] == side)
        for played, total in zip(sides, surplus, strict=True)
    )


def _bye_eligible(records: Sequence[Record]) -> tuple[bool, ...]:
    if len(records) % 2 == 0:
        return (False,) * len(records)
    fewest = min(record.byes for record in records)
    return tuple(record.byes == fewest for record in records)


def _with_forbidden(
    tournament: Tournament, index: Mapping[int, int], met: tuple[frozenset[int], ...]
) -> tuple[frozenset[int], ...]:
    drawing = tournament.next_round
    forbidden: dict[int, set[int]] = {}
    for pair in tournament.forbidden_pairs:
        if pair.from_round <= drawing and (pair.to_round is None or drawing <= pair.to_round):
            i, j = (index.get(entrant) for entrant in pair.entrants)
            if i is not None and j is not None:
                forbidden.setdefault(i, set()).add(j)
                forbidden.setdefault(j, set()).add(i)
    return tuple(others | forbidden[i] if i in forbidden else others for i, others in enumerate(met))


def _clubs(present: Iterable[Entrant], *, avoid: bool) -> tuple[int, ...]:
    """Clubs as numbers by first appearance; nobody shares the club of an entrant without one."""
    codes: dict[str, int] = {}
    return tuple(codes.setdefault(entrant.club, len(codes)) if avoid and entrant.club else -1 for entrant in present)


def _table(tournament: Tournament, index: Mapping[int, int]) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Opponent and side of each entrant in this round of the Berger table."""
    opponent, moves_first = [-1] * len(index), [False] * len(index)
    for first, second in berger_round(table_numbers(tournament), tournament.next_round):
        if first in index and second in index:
            opponent[index[first]], opponent[index[second]] = index[second], index[first]
            moves_first[index[first]] = True
    return tuple(opponent), tuple(moves_first)
