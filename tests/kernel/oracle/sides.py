"""Section 6 and the side criteria of section 4: limits, wishes, and who moves first."""

from __future__ import annotations

from tests.kernel.oracle.event import Event, Past

Pair = tuple[int, int]


def is_outside(past: Past, side: str) -> bool:
    """Whether taking `side` now breaks the limits of criterion 3 for this entrant."""
    third_in_a_row = past.sides[-2:] == [side, side]
    surplus = past.surplus + (1 if side == "first" else -1)
    return third_in_a_row or abs(surplus) > 2


def outside(event: Event, first: int, second: int) -> int:
    """How many of the two are outside the limits in this assignment."""
    return int(is_outside(event.past[first], "first")) + int(is_outside(event.past[second], "second"))


def is_breach(event: Event, pair: Pair) -> bool:
    """Criterion 3 for one pair, with the exception for leaders in the last round."""
    a, b = pair
    top = max(event.score(number) for number in event.present)
    if event.is_last_round and event.score(a) == event.score(b) == top:
        return False
    return outside(event, a, b) > 0 and outside(event, b, a) > 0


def wishes_clash(event: Event, pair: Pair) -> bool:
    """Criterion 9: both want the same side."""
    one, other = (event.past[number].wish for number in pair)
    return one is not None and one == other


def strong_clash(event: Event, pair: Pair) -> bool:
    """Criterion 8: they clash and neither surplus is 0."""
    return wishes_clash(event, pair) and all(event.past[number].surplus != 0 for number in pair)


def seat(event: Event, pair: Pair) -> Pair:
    """(first, second): who moves first, or sits left where there is no first move."""
    a, b = sorted(pair)
    if not event.regulations["first_move"]:
        return _left_and_right(event, a, b)
    if event.regulations["balance_sides"]:
        for rule in (_by_limits, _by_wishes, _by_surplus):
            decided = rule(event, a, b)
            if decided:
                return decided
    return _by_alternation(event, a, b)


def _left_and_right(event: Event, a: int, b: int) -> Pair:
    if event.regulations["seat_balance"] and event.past[a].left_seats > event.past[b].left_seats:
        return b, a
    return a, b


def _by_limits(event: Event, a: int, b: int) -> Pair | None:
    straight, turned = outside(event, a, b), outside(event, b, a)
    if straight == turned:
        return None
    return (a, b) if straight < turned else (b, a)


def _by_wishes(event: Event, a: int, b: int) -> Pair | None:
    wish_a, wish_b = event.past[a].wish, event.past[b].wish
    if wish_a == wish_b:
        return None
    return (a, b) if wish_a == "first" or wish_b == "second" else (b, a)


def _by_surplus(event: Event, a: int, b: int) -> Pair | None:
    one, other = event.past[a].surplus, event.past[b].surplus
    if one == other:
        return None
    return (a, b) if one < other else (b, a)


def _by_alternation(event: Event, a: int, b: int) -> Pair:
    for side_a, side_b in zip(reversed(event.past[a].sides), reversed(event.past[b].sides), strict=False):
        if side_a != side_b:
            return (b, a) if side_a == "first" else (a, b)
    return (a, b) if a % 2 else (b, a)
