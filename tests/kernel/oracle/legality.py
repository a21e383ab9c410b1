"""Section 3: which draws are legal, all of them, whether there is one, and what is wrong with a given one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import rustworkx

from tests.kernel.oracle.event import Event, Json, sorted_pair

Pair = tuple[int, int]


class Draw(NamedTuple):
    """Pairs as (smaller, larger number), sorted, and who has the pairing bye."""

    pairs: tuple[Pair, ...]
    bye: int | None


def may_meet(event: Event, a: int, b: int) -> bool:
    """Rules 2 and 3 for the round to be drawn."""
    pair = sorted_pair(a, b)
    return pair not in event.met and not event.is_forbidden(pair, event.round)


def bye_candidates(event: Event) -> list[int]:
    """Rule 4: those present with the fewest byes so far, in an odd field; empty otherwise or where byes are off."""
    if len(event.present) % 2 == 0 or not event.regulations["allow_bye"]:
        return []
    fewest = min(event.past[number].byes_counted for number in event.present)
    return [number for number in event.present if event.past[number].byes_counted == fewest]


def legal_draws(event: Event) -> Iterator[Draw]:
    """Every legal draw, once."""
    if not event.present:
        return
    if len(event.present) % 2 == 0:
        for pairs in _pairings(event, event.present):
            yield Draw(pairs, None)
    for bye in bye_candidates(event):
        for pairs in _pairings(event, [number for number in event.present if number != bye]):
            yield Draw(pairs, bye)


def _pairings(event: Event, numbers: list[int]) -> Iterator[tuple[Pair, ...]]:
    if not numbers:
        yield ()
        return
    one, *others = numbers
    for other in others:
        if may_meet(event, one, other):
            for rest in _pairings(event, [number for number in others if number != other]):
                yield ((one, other), *rest)


def has_legal_draw(event: Event) -> bool:
    """Exact for any size: a perfect matching of the legal graph exists (the bye as one more vertex)."""
    bye = -1
    vertices = list(event.present)
    edges = [(a, b) for i, a in enumerate(vertices) for b in vertices[i + 1 :] if may_meet(event, a, b)]
    if len(vertices) % 2:
        edges += [(number, bye) for number in bye_candidates(event)]
        vertices.append(bye)
    graph = rustworkx.PyGraph(multigraph=False)
    index = {number: graph.add_node(number) for number in vertices}
    graph.add_edges_from_no_data([(index[a], index[b]) for a, b in edges])
    return bool(vertices) and 2 * len(rustworkx.max_weight_matching(graph, max_cardinality=True)) == len(vertices)


def breaches(event: Event, drawn: Json) -> list[str]:
    """What a `qisai.draw/1` dict breaks of rules 1 to 4, in words; empty for a legal draw."""
    found = []
    placed = Counter([seat for board in drawn["boards"] for seat in (board["first"], board["second"])])
    if drawn["bye"] is not None:
        placed[drawn["bye"]] += 1
    for number in sorted(set(event.present) | set(placed)):
        if number not in event.present:
            found.append(f"{number} is paired and not present")
        elif placed[number] != 1:
            found.append(f"{number} appears {placed[number]} times")
    for board in drawn["boards"]:
        pair = sorted_pair(board["first"], board["second"])
        if pair in event.met:
            found.append(f"{pair} met before")
        if event.is_forbidden(pair, event.round):
            found.append(f"{pair} is forbidden in round {event.round}")
    if drawn["bye"] is not None and drawn["bye"] not in bye_candidates(event):
        found.append(f"the bye may not go to {drawn['bye']}")
    if len({board["board"] for board in drawn["boards"]}) != len(drawn["boards"]):
        found.append("a board number is used twice")
    return found
