"""Small fields that are hard for look-ahead: about as many rounds as they can just have, and trouble on the way.

Trouble is withdrawals announced for later rounds, forbidden pairs with ranges, absences, byes asked for, odd fields,
and rounds played at random, after which the rest need not fit any more.
"""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]
Pairs = list[tuple[int, int]]


def hostile_small_field(rng: random.Random, *, smallest: int = 4, largest: int = 12) -> Json:
    """One field with at least one round to come after the one to draw, as `qisai.tournament/1`."""
    size = rng.choice([rng.randint(smallest, largest), rng.randint(max(smallest, largest - 3), largest)])
    most = size - 1 + size % 2
    planned = max(2, most - rng.choice([0, 0, 0, 0, 1, 1, 2]))
    rounds = _played(rng, size, min(planned - 1, rng.choice([0, 0, 1, 2, *[rng.randint(0, planned - 2)] * 2])))
    entrants: list[Json] = [{"number": number} for number in range(1, size + 1)]
    for _ in range(rng.choice([0, 0, 1, 1, 1, 2, 3])):
        rng.choice(entrants)["withdrawn_from"] = rng.randint(len(rounds) + 2, planned + 1)
    return {
        "format": "qisai.tournament/1",
        "regulations": {
            "rounds": planned,
            "first_move": rng.random() < 0.5,
            "system": rng.choice(["score_group", "draw_number"]),
            "lot_seed": rng.randint(0, 9),
        },
        "entrants": entrants,
        "forbidden_pairs": _forbidden(rng, size, planned),
        "rounds": rounds,
        "next": {"round": len(rounds) + 1, **_away(rng, size)},
    }


def _played(rng: random.Random, size: int, count: int) -> list[Json]:
    """Rounds of a round robin in its order, or shuffled, or each drawn at random as long as that goes."""
    names = rng.sample(range(1, size + 1), size)
    table = _round_robin(size)
    how = rng.choice(["in order", "shuffled", "at random"])
    if how == "shuffled":
        rng.shuffle(table)
    rounds: list[Json] = []
    met: set[frozenset[int]] = set()
    byes = dict.fromkeys(range(1, size + 1), 0)
    for number in range(1, count + 1):
        if how == "at random":
            drawn = _at_random(rng, met, byes)
        else:
            drawn = [(names[a - 1], names[b - 1] if b <= size else 0) for a, b in table[number - 1]]
        if drawn is None:
            break
        met |= {frozenset(pair) for pair in drawn}
        rounds.append(_round(rng, number, drawn))
        byes.update({bye["entrant"]: byes[bye["entrant"]] + 1 for bye in rounds[-1]["byes"]})
    return rounds


def _round_robin(size: int) -> list[Pairs]:
    """Everybody meets everybody (circle method); in an odd field whoever meets `size` + 1 has the bye."""
    circle = list(range(1, size + size % 2 + 1))
    rounds = []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        rounds.append([(min(pair), max(pair)) for pair in zip(circle[:half], circle[: -half - 1 : -1], strict=True)])
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return rounds


def _at_random(rng: random.Random, met: set[frozenset[int]], byes: dict[int, int]) -> Pairs | None:
    """Pairs who have not met, 0 for the bye; None where a number of tries found none."""
    for _ in range(60):
        free = rng.sample(sorted(byes), len(byes))
        drawn: Pairs = []
        if len(free) % 2:
            taker = min(free, key=lambda who: byes[who])
            free.remove(taker)
            drawn.append((taker, 0))
        while free:
            one = free.pop()
            other = next((who for who in free if frozenset((one, who)) not in met), None)
            if other is None:
                break
            free.remove(other)
            drawn.append((one, other))
        else:
            return drawn
    return None


def _round(rng: random.Random, number: int, drawn: Pairs) -> Json:
    results = ["draw", "first_win", "second_win"]
    boards = [
        {"board": at, "first": a, "second": b, "result": rng.choice(results if rng.random() < 0.97 else ["void"])}
        for at, (a, b) in enumerate([pair for pair in drawn if pair[1]], start=1)
    ]
    return {
        "number": number,
        "boards": boards,
        "byes": [{"entrant": a, "kind": "pairing"} for a, b in drawn if not b],
    }


def _forbidden(rng: random.Random, size: int, planned: int) -> list[Json]:
    pairs: dict[frozenset[int], Json] = {}
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3, rng.randint(3, 6)])):
        both = rng.sample(range(1, size + 1), 2)
        start = rng.choice([1, rng.randint(1, planned)])
        end = rng.choice([None, rng.randint(start, planned)])
        pairs[frozenset(both)] = {"entrants": both, "from_round": start, "to_round": end}
    return list(pairs.values())


def _away(rng: random.Random, size: int) -> Json:
    away = rng.sample(range(1, size + 1), min(size - 2, rng.choice([0, 0, 0, 1, 1, 2])))
    absent = [who for who in away if rng.random() < 0.5]
    kinds = ["full", "half", "zero"]
    return {
        "absent": absent,
        "byes": [{"entrant": who, "kind": rng.choice(kinds)} for who in away if who not in absent],
    }
