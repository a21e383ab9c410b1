"""Section 4: the whole cost of a draw, criterion by criterion, in the order of the system and its settings."""

from __future__ import annotations

import hashlib
from collections import Counter

from tests.kernel.oracle.event import Event
from tests.kernel.oracle.legality import Draw, Pair
from tests.kernel.oracle.sides import is_breach, strong_clash, wishes_clash

STAGE_A_SCORE_GROUP = (
    "bye_score",
    "bye_unplayed",
    "side_breaches",
    "leaders_apart",
    "max_gap",
    "gap_squares",
    "cross_pairs",
    "strong_clashes",
    "side_clashes",
    "float_history",
    "float_places",
    "float_lots",
)
STAGE_A_DRAW_NUMBER = (
    "bye_score",
    "max_gap",
    "gap_squares",
    "cross_pairs",
    "repeat_floats",
    "float_places",
    "float_lots",
)


def lot(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:2], "big")


def stage_a_names(event: Event) -> tuple[str, ...]:
    """Criteria 1 to 12 in the order in force."""
    if not event.is_score_group:
        return STAGE_A_DRAW_NUMBER
    if event.regulations["side_priority"] == "over_score":
        return STAGE_A_SCORE_GROUP
    names = [name for name in STAGE_A_SCORE_GROUP if name != "side_breaches"]
    names.insert(names.index("cross_pairs") + 1, "side_breaches")
    return tuple(names)


def stage_b_names(event: Event) -> tuple[str, ...]:
    return ("club_pairs", "order", "pair_lots") if event.avoids_clubs else ("order", "pair_lots")


def cost(event: Event, draw: Draw) -> dict[str, int]:
    """The whole tuple of any draw, names in order."""
    return stage_a(event, draw) | stage_b(event, draw)


# ---- order of groups ----------------------------------------------------------------------------------------------


def is_descending(event: Event) -> bool:
    """Whether this round of `draw_number` orders groups by number descending."""
    if event.is_score_group:
        return False
    return (event.round % 2 == 0) == (event.regulations["direction"] == "Z")


def seeded_mode(event: Event) -> str | None:
    """The first-round mode where it replaces the system's own order (section 5)."""
    mode = event.regulations["first_round"]["mode"]
    return None if event.round > 1 or mode == "system" else str(mode)


def in_order(event: Event, numbers: list[int]) -> list[int]:
    """Entrants of one group in its order."""
    mode = seeded_mode(event)
    if mode == "random":
        seed = event.regulations["lot_seed"]
        return sorted(numbers, key=lambda number: hashlib.sha256(f"{seed}:{number}".encode()).digest())
    if mode:
        rating = {number: event.entrants[number].get("seed") for number in numbers}
        rated = sorted((number for number in numbers if rating[number] is not None), key=lambda n: (-rating[n], n))
        return rated + sorted(number for number in numbers if rating[number] is None)
    return sorted(numbers, reverse=is_descending(event))


def ideal(event: Event) -> str:
    """Which ideal partner criterion 13 measures against."""
    mode = seeded_mode(event)
    if mode:
        return "adjacent" if mode == "random" else mode
    if event.is_score_group:
        return str(event.regulations["within_group"])
    return "fold" if is_descending(event) else "adjacent"


def group_of(event: Event, number: int) -> list[int]:
    """The whole score group of an entrant, in order."""
    return in_order(event, [other for other in event.present if event.score(other) == event.score(number)])


# ---- stage A ------------------------------------------------------------------------------------------------------


def upper_lower(event: Event, pair: Pair) -> Pair:
    a, b = pair
    return (a, b) if event.score(a) > event.score(b) else (b, a)


def is_cross(event: Event, pair: Pair) -> bool:
    return event.score(pair[0]) != event.score(pair[1])


def stage_a(event: Event, draw: Draw) -> dict[str, int]:
    """Criteria 1 to 12 of one draw, by combining what the bye and each pair add."""
    total = bye_terms(event, draw.bye) if draw.bye is not None else Counter()
    for pair in draw.pairs:
        for name, value in pair_terms(event, pair).items():
            total[name] = max(total[name], value) if name == "max_gap" else total[name] + value
    return {name: total[name] for name in stage_a_names(event)}


def bye_terms(event: Event, bye: int) -> Counter[str]:
    group = group_of(event, bye)
    return Counter(
        bye_score=event.score(bye),
        bye_unplayed=event.past[bye].unplayed,
        float_places=(len(group) - 1 - group.index(bye)) ** 2,
        float_lots=lot(f"{event.regulations['lot_seed']}:{event.round}:{bye}"),
    )


def pair_terms(event: Event, pair: Pair) -> Counter[str]:
    """What one pair adds to criteria 3 to 12 (to the largest gap: its own)."""
    terms: Counter[str] = Counter()
    if event.has_side_criteria:
        terms["side_breaches"] = int(is_breach(event, pair))
        terms["strong_clashes"] = int(strong_clash(event, pair))
        terms["side_clashes"] = int(wishes_clash(event, pair))
    if is_cross(event, pair):
        terms.update(cross_terms(event, pair))
    return terms


def cross_terms(event: Event, pair: Pair) -> Counter[str]:
    upper, lower = upper_lower(event, pair)
    gap = event.score(upper) - event.score(lower)
    top = max(event.score(number) for number in event.present)
    from_group, to_group = group_of(event, upper), group_of(event, lower)
    above_bottom = len(from_group) - 1 - from_group.index(upper)
    below_top = to_group.index(lower)
    return Counter(
        leaders_apart=int(event.score(upper) == top),
        max_gap=gap,
        gap_squares=gap**2,
        cross_pairs=1,
        float_history=history_weight(event, upper, "down") + history_weight(event, lower, "up"),
        repeat_floats=len(event.past[upper].floats) + len(event.past[lower].floats),
        float_places=above_bottom**2 + below_top**2,
        float_lots=float_lot(event, upper, lower) + float_lot(event, lower, upper),
    )


def history_weight(event: Event, number: int, way: str) -> int:
    """Criterion 10 for one entrant about to float `way`."""
    weight = 0
    for when, past_way in event.past[number].floats:
        if past_way != way:
            weight += 1
        elif when == event.round - 1:
            weight += 8
        elif when == event.round - 2:
            weight += 4
        else:
            weight += 2
    return weight


def float_lot(event: Event, floater: int, opponent: int) -> int:
    return lot(f"{event.regulations['lot_seed']}:{event.round}:{floater}>{event.score(opponent)}")


# ---- stage B ------------------------------------------------------------------------------------------------------


def stage_b(event: Event, draw: Draw) -> dict[str, int]:
    """`club_pairs` where it counts, then criteria 13 and 14."""
    seed = event.regulations["lot_seed"]
    values = {
        "club_pairs": sum(shares_club(event, pair) for pair in draw.pairs),
        "order": order_inside_groups(event, draw) + order_between_groups(event, draw),
        "pair_lots": sum(lot(f"{seed}:{event.round}:{a}:{b}") for a, b in draw.pairs),
    }
    return {name: values[name] for name in stage_b_names(event)}


def shares_club(event: Event, pair: Pair) -> bool:
    one, other = (event.entrants[number].get("club") for number in pair)
    return bool(one) and one == other


def order_inside_groups(event: Event, draw: Draw) -> int:
    total = 0
    inside = [pair for pair in draw.pairs if not is_cross(event, pair)]
    for score in {event.score(a) for a, _ in inside}:
        pairs = [pair for pair in inside if event.score(pair[0]) == score]
        ordered = in_order(event, [number for pair in pairs for number in pair])
        for pair in pairs:
            i, j = sorted(ordered.index(number) + 1 for number in pair)
            total += distance(ideal(event), i, j, len(ordered)) ** 2
    return total


def distance(kind: str, i: int, j: int, m: int) -> int:
    if kind == "adjacent":
        return j - i - 1
    return i + j - m - 1 if kind == "fold" else j - i - m // 2


def order_between_groups(event: Event, draw: Draw) -> int:
    total = 0
    cross = [upper_lower(event, pair) for pair in draw.pairs if is_cross(event, pair)]
    for upper_score, lower_score in {(event.score(upper), event.score(lower)) for upper, lower in cross}:
        pairs = [
            (upper, lower)
            for upper, lower in cross
            if event.score(upper) == upper_score and event.score(lower) == lower_score
        ]
        uppers = in_order(event, [upper for upper, _ in pairs])
        lowers = in_order(event, [lower for _, lower in pairs])
        total += sum((uppers.index(upper) - lowers.index(lower)) ** 2 for upper, lower in pairs)
    return total


def cross_cap(event: Event, draw: Draw) -> int:
    """The largest number of cross pairs that one score group gave away as the upper side."""
    given = Counter(event.score(upper_lower(event, pair)[0]) for pair in draw.pairs if is_cross(event, pair))
    return max(given.values(), default=0)
