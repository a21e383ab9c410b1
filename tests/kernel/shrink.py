"""Make a failing tournament small before a person has to read it: drop what can go while it still fails."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]


def smallest_failing(tournament: Json, fails: Callable[[Json], bool]) -> Json:
    """The tournament with everything left out whose absence does not make the failure go away."""
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller_ones(tournament):
            if _still_fails(candidate, fails):
                tournament, smaller = candidate, True
                break
    return tournament


def _still_fails(candidate: Json, fails: Callable[[Json], bool]) -> bool:
    """A candidate that cannot be judged at all (no one left to pair) is no smaller form of the failure."""
    try:
        return fails(candidate)
    except (KeyError, ValueError, IndexError):
        return False


def _smaller_ones(tournament: Json) -> Iterator[Json]:
    for entrant in tournament["entrants"]:
        yield _without_entrant(tournament, entrant["number"])
    for index in range(len(tournament["rounds"])):
        yield _without_round(tournament, index)
    for path in _parts(tournament):
        smaller = copy.deepcopy(tournament)
        holder: Any = smaller
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
        yield smaller


def _parts(tournament: Json) -> Iterator[tuple[Any, ...]]:
    """Paths of what may be left out by itself."""
    yield from (("forbidden_pairs", index) for index in range(len(tournament["forbidden_pairs"])))
    yield from (("regulations", name) for name in tournament["regulations"])
    for index, entrant in enumerate(tournament["entrants"]):
        yield from (("entrants", index, name) for name in entrant if name != "number")
    for index, past in enumerate(tournament["rounds"]):
        for kind in ("boards", "byes"):
            yield from (("rounds", index, kind, place) for place in range(len(past[kind])))
    for kind in ("absent", "byes"):
        yield from (("next", kind, place) for place in range(len(tournament["next"][kind])))


def _without_entrant(tournament: Json, number: int) -> Json:
    smaller = copy.deepcopy(tournament)
    smaller["entrants"] = [entrant for entrant in smaller["entrants"] if entrant["number"] != number]
    smaller["forbidden_pairs"] = [ban for ban in smaller["forbidden_pairs"] if number not in ban["entrants"]]
    for past in smaller["rounds"]:
        past["boards"] = [board for board in past["boards"] if number not in (board["first"], board["second"])]
        past["byes"] = [bye for bye in past["byes"] if bye["entrant"] != number]
    smaller["next"]["absent"] = [who for who in smaller["next"]["absent"] if who != number]
    smaller["next"]["byes"] = [bye for bye in smaller["next"]["byes"] if bye["entrant"] != number]
    return smaller


def _without_round(tournament: Json, index: int) -> Json:
    smaller = copy.deepcopy(tournament)
    del smaller["rounds"][index]
    for number, past in enumerate(smaller["rounds"], start=1):
        past["number"] = number
    smaller["next"]["round"] -= 1
    if smaller["regulations"].get("rounds"):
        smaller["regulations"]["rounds"] -= 1
    return smaller
