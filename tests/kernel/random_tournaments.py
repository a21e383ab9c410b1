"""Random `qisai.tournament/1` dicts with a history: every setting, result and bye kind, well-formed but not tidy.

`random_tournament(rng)` makes one from a seeded `random.Random`, so a seed is a case; `tournaments()` is the same as a
Hypothesis strategy. Past rounds are paired at random (near in score, or anyhow), so histories contain what real ones
do: byes out of turn, forfeits met again, and now and then a rematch that a referee forced.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

PLAYED = ["first_win", "second_win", "draw"]
ODD_ENDS = ["first_forfeit", "second_forfeit", "double_forfeit", "adjourned", "void"]
FREE_POINTS = [(1.5, 0.5, 0), (3, 2, 1), (1, 0.5, 0.5), (2, 0.5, 0)]


def tournaments(*, smallest: int = 2, largest: int = 9, rounds: int | None = None) -> st.SearchStrategy[Json]:
    """Random tournaments as a strategy; a failing example is named by its seed."""
    return st.integers(0, 2**40).map(
        lambda seed: random_tournament(random.Random(seed), smallest=smallest, largest=largest, rounds=rounds)
    )


def random_tournament(
    rng: random.Random, *, smallest: int = 1, largest: int = 9, rounds: int | None = None, present_limit: int = 9
) -> Json:
    """One random tournament with `smallest` to `largest` entrants (a few more where some stay away) to draw next.

    `rounds` fixes the number of past rounds. At most `present_limit` are present if `largest` does not exceed it.
    """
    size = max(rng.randint(smallest, largest), rng.randint(smallest, largest))
    extra = rng.randint(1, 3) if largest <= present_limit and rng.random() < 0.15 else 0
    numbers = _numbers(rng, size + extra)
    played = rounds if rounds is not None else _past_rounds(rng, size)
    regulations = random_regulations(rng, next_round=played + 1, size=size + extra)
    entrants = [_entrant(rng, number, played=played) for number in numbers]
    entered = dict.fromkeys(numbers, 1)
    for number in numbers[1:]:
        if played and rng.random() < 0.08:
            entered[number] = rng.randint(2, played + 1)
    tournament: Json = {
        "format": "qisai.tournament/1",
        "regulations": regulations,
        "entrants": entrants,
        "forbidden_pairs": _forbidden_pairs(rng, numbers, played=played),
        "rounds": _history(rng, entrants, entered=entered, played=played, halves=_halves(regulations)),
    }
    tournament["next"] = _next(rng, entrants, played=played, room=max(size, 1), leave=rng.choice([0.05, 0.05, 0.3]))
    rng.shuffle(tournament["entrants"])
    return tournament


def random_regulations(rng: random.Random, *, next_round: int, size: int) -> Json:
    """Settings at random; what is left out takes its default, so defaults are tried as well."""
    regulations: Json = {"lot_seed": rng.choice([0, 1, rng.randint(0, 10**9)])}
    if rng.random() < 0.15:
        regulations["profile"] = rng.choice(["xiangqi", "weiqi", "gomoku", "chess", "shengji", "tuolaji", "poker_team"])
    if rng.random() < 0.85:
        regulations["system"] = rng.choice(["score_group", "score_group", "draw_number"])
    for name, chance, values in (
        ("direction", 0.6, ["Z", "U"]),
        ("within_group", 0.6, ["adjacent", "fold", "slide"]),
        ("first_move", 0.25, [True, False, False]),
        ("balance_sides", 0.15, [True, False, False]),
        ("seat_balance", 0.3, [True, False]),
        ("side_priority", 0.4, ["over_score", "under_score"]),
        ("forfeit_counts_as_met", 0.3, [True, False]),
        ("allow_bye", 0.1, [True, False]),
    ):
        if rng.random() < chance:
            regulations[name] = rng.choice(values)
    if next_round == 1 or rng.random() < 0.1:
        first_round: Json = {}
        if rng.random() < 0.8:
            first_round["mode"] = rng.choice(["system", "fold", "slide", "adjacent", "random"])
        if rng.random() < 0.6:
            first_round["avoid_same_club"] = rng.random() < 0.7
        regulations["first_round"] = first_round
    if rng.random() < 0.8:
        regulations["points"] = _points(rng)
    if rng.random() < 0.7:
        ahead = rng.choice([0, 0, 0, 1, 1, 2, 2, 3, 4]) if size <= 8 else rng.choice([0, 0, 1, 2])
        regulations["rounds"] = next_round + ahead
    return regulations


def _points(rng: random.Random) -> Json:
    free = rng.random() < 0.1
    win, draw, loss = rng.choice(FREE_POINTS if free else [(1, 0.5, 0), (2, 1, 0), (3, 1, 0)])
    points: Json = {"win": win, "draw": draw, "loss": loss}
    if rng.random() < 0.6:
        points["bye"] = rng.choice([win, win, draw, 0])
    return points


def _halves(regulations: Json) -> tuple[int, int, int]:
    """Half-points of win, draw and loss, near enough to pair past rounds by score."""
    points = regulations.get("points", {"win": 1, "draw": 0.5, "loss": 0})
    return round(2 * points["win"]), round(2 * points["draw"]), round(2 * points["loss"])


def _numbers(rng: random.Random, count: int) -> list[int]:
    if rng.random() < 0.85:
        return list(range(1, count + 1))
    return sorted(rng.sample(range(1, 40 + 2 * count), count))


def _past_rounds(rng: random.Random, size: int) -> int:
    if rng.random() < 0.15:
        return 0
    return min(rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 6, 7]), max(1, size - rng.choice([1, 2, 2])))


def _entrant(rng: random.Random, number: int, *, played: int) -> Json:
    entrant: Json = {"number": number, "name": f"Player {number}"}
    if rng.random() < 0.8:
        entrant["club"] = rng.choice(["East", "East", "West", "North", ""])
    if rng.random() < 0.7:
        entrant["seed"] = rng.choice([1500, 1600, 1700, rng.randint(1000, 2500)])
    if rng.random() < 0.08:
        entrant["withdrawn_from"] = rng.randint(max(1, played), played + 3)
    if rng.random() < 0.08:
        entrant["fixed_board"] = rng.randint(1, 5)
    return entrant


def _forbidden_pairs(rng: random.Random, numbers: list[int], *, played: int) -> list[Json]:
    if len(numbers) < 2:
        return []
    dense = rng.random() < 0.1
    count = rng.randint(0, len(numbers) * 2) if dense else rng.choice([0, 0, 0, 1, 1, 2, 3])
    pairs: dict[frozenset[int], Json] = {}
    for _ in range(count):
        both = rng.sample(numbers, 2)
        start = rng.randint(1, played + 2)
        end = rng.choice([None, rng.randint(start, played + 4)])
        pairs[frozenset(both)] = {"entrants": both, "from_round": start, "to_round": end}
    return list(pairs.values())


def _history(
    rng: random.Random, entrants: list[Json], *, entered: dict[int, int], played: int, halves: tuple[int, int, int]
) -> list[Json]:
    rounds: list[Json] = []
    met: set[frozenset[int]] = set()
    score = dict.fromkeys(entered, 0)
    by_score = rng.random() < 0.6
    trouble = rng.choice([0.0, 0.05, 0.1, 0.3])
    often_first = rng.sample(sorted(entered), len(entered) // 2) if rng.random() < 0.35 else []
    usual = rng.choice([PLAYED, PLAYED, ["draw"], ["draw", "draw", "draw", "first_win", "second_win"]])
    for number in range(1, played + 1):
        byes: list[Json] = []
        pool: list[int] = []
        for entrant in entrants:
            who = entrant["number"]
            kind = _bye_kind(rng, entrant, round_number=number, entered=entered[who], trouble=trouble)
            if kind == "plays":
                pool.append(who)
            elif kind != "missing":
                byes.append({"entrant": who, "kind": kind})
        rng.shuffle(pool)
        if by_score:
            pool.sort(key=lambda who: -score[who])
        pairs, left = _pair_up(pool, met=met, rematch=rng.random() < 0.03)
        byes += [{"entrant": who, "kind": "pairing" if i == 0 else "zero"} for i, who in enumerate(left)]
        boards = [
            _board(rng, index, _seated(rng, pair, often_first), results=ODD_ENDS if rng.random() < trouble else usual)
            for index, pair in enumerate(pairs, start=1)
        ]
        for board in boards:
            met.add(frozenset((board["first"], board["second"])))
            score[board["first"]] += {"first_win": halves[0], "draw": halves[1]}.get(board["result"], halves[2])
            score[board["second"]] += {"second_win": halves[0], "draw": halves[1]}.get(board["result"], halves[2])
        rng.shuffle(byes)
        rounds.append({"number": number, "boards": boards, "byes": byes})
    return rounds


def _bye_kind(rng: random.Random, entrant: Json, *, round_number: int, entered: int, trouble: float) -> str:
    """`plays`, `missing` (not in the file, which means absent), or the kind of bye this entrant has."""
    if round_number < entered:
        return rng.choice(["missing", "zero", "half", "absent"])
    if entrant.get("withdrawn_from", round_number + 1) <= round_number:
        return rng.choice(["missing", "absent"])
    if rng.random() < trouble:
        return rng.choice(["missing", "absent", "zero", "half", "full"])
    return "plays"


def _pair_up(pool: list[int], *, met: set[frozenset[int]], rematch: bool) -> tuple[list[tuple[int, int]], list[int]]:
    """Pairs from the top of the pool, each with the next one not met yet; who finds nobody is left over."""
    pairs: list[tuple[int, int]] = []
    left: list[int] = []
    waiting = list(pool)
    while waiting:
        one = waiting.pop(0)
        other = next((who for who in waiting if rematch or frozenset((one, who)) not in met), None)
        if other is None:
            left.append(one)
        else:
            waiting.remove(other)
            pairs.append((one, other))
    return pairs, left


def _seated(rng: random.Random, pair: tuple[int, int], often_first: list[int]) -> tuple[int, int]:
    """First and second: by chance, but some nearly always move first, so that limits of sides are reached."""
    one, other = pair
    if (one in often_first) != (other in often_first) and rng.random() < 0.9:
        return (one, other) if one in often_first else (other, one)
    return pair if rng.random() < 0.5 else (other, one)


def _board(rng: random.Random, index: int, pair: tuple[int, int], *, results: list[str]) -> Json:
    return {"board": index, "first": pair[0], "second": pair[1], "result": rng.choice(results)}


def _next(rng: random.Random, entrants: list[Json], *, played: int, room: int, leave: float) -> Json:
    """Absences and requested byes of the round to draw; somebody is always left to pair if anybody can be."""
    coming: Json = {"round": played + 1, "absent": [], "byes": []}
    free = [e["number"] for e in entrants if (e.get("withdrawn_from") or played + 2) > played + 1]
    if not free:
        entrants[0].pop("withdrawn_from")
        free = [entrants[0]["number"]]
    rng.shuffle(free)
    away = len(free) - room if len(free) > room else 0
    while len(free) - away > 1 and rng.random() < leave:
        away += 1
    for number in free[:away]:
        kind = rng.choice(["absent", "absent", "half", "full", "full", "zero"])
        if kind == "absent":
            coming["absent"].append(number)
        else:
            coming["byes"].append({"entrant": number, "kind": kind})
    return coming


def tight_tournament(rng: random.Random, *, largest: int = 8) -> Json:
    """A small field with about as many rounds as it can just have, so that look-ahead has much to say."""
    size = rng.randint(4, largest)
    most = size - 1 + size % 2
    planned = max(2, most - rng.choice([0, 0, 1, 1, 2]))
    played = rng.randint(0, planned - 2)
    tournament = random_tournament(rng, smallest=size, largest=size, rounds=played)
    numbers = [entrant["number"] for entrant in tournament["entrants"]]
    tournament["regulations"]["rounds"] = planned
    for ban in tournament["forbidden_pairs"]:
        ban["from_round"] = rng.randint(1, planned)
        ban["to_round"] = rng.choice([None, rng.randint(ban["from_round"], planned)])
    if rng.random() < 0.4:
        tournament["next"]["absent"] = []
        tournament["next"]["byes"] = [{"entrant": rng.choice(numbers), "kind": rng.choice(["full", "half"])}]
    return tournament
