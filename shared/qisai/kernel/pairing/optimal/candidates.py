"""Which pairs stage A starts from: few, but such that the optimum is usually among them.

Inside a group the cost of a pair hangs on the classes of the two only, so a handful of partners a head is enough;
across groups it is those who float most cheaply. What is missing is found by `certificate_sums` and offered later; a
poor choice here costs time, never the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.optimal.structure import Tables

Edge = tuple[int, int, int]

WHOLE: Final = 8
"""Groups up to this size are offered whole."""
PARTNERS: Final = 3
"""Partners a head inside a group: this many with the other wish, and this many with the same."""
FLOATERS: Final = 3
"""Per class and pair of groups, how many of the cheapest floaters are offered."""
BYES: Final = 12
"""How many of the cheapest byes are offered."""


def starting_edges(tables: Tables) -> list[Edge]:
    """Candidate edges (u, v, cost) of stage A; the bye is an edge to vertex `field.size`."""
    field = tables.view.field
    wanted = {
        (u, v) if u < v else (v, u)
        for g in range(len(field.group_size))
        for u, v in _inside(tables, g)
        if v not in field.barred[u]
    }
    for g, lower in enumerate(tables.reach):
        for h in lower:
            wanted.update(_across(tables, g, h))
    edges = [(u, v, tables.cost(u, v)) for u, v in sorted(wanted)]
    cheapest = sorted(tables.byes, key=lambda index: (tables.byes[index], index))[:BYES] if field.odd else []
    edges.extend((index, field.size, tables.byes[index]) for index in cheapest)
    return edges


def starting_prices(tables: Tables) -> list[int]:
    """Prices to start from, per vertex; the matcher lowers those that are too high.

    In a group where one wish outnumbers the other by more than one, pairs of the many clash: their price is the cost of
    such a pair, and the others make up for it. Then pairs of both kinds are tight at once.
    """
    field = tables.view.field
    prices = [0] * (field.size + field.size % 2)
    clash = tables.weights.get("side_clashes", 0)
    for group in range(len(field.group_size)):
        inside = members(field, group)
        surplus = sum(field.wish[u] for u in inside)
        if clash and abs(surplus) > 1:
            for u in inside:
                prices[u] = clash if field.wish[u] * surplus > 0 else -clash
    return prices


def members(field: Field, group: int) -> range:
    """Indexes of a group."""
    start = field.group_start[group]
    return range(start, start + field.group_size[group])


def _inside(tables: Tables, group: int) -> Iterator[tuple[int, int]]:
    field = tables.view.field
    inside = members(field, group)
    if len(inside) <= WHOLE:
        yield from ((u, v) for u in inside for v in range(u + 1, inside.stop))
        return
    by_wish: dict[int, list[int]] = {1: [], -1: [], 0: []}
    for u in inside:
        by_wish[field.wish[u]].append(u)
    for wish, group_members in by_wish.items():
        for rank, u in enumerate(group_members):
            for others in by_wish.values():
                if others is group_members:
                    count = PARTNERS if wish == 0 else 1
                    yield from _next(field, u, others, rank + 1, count)
                else:
                    yield from _next(field, u, others, rank, PARTNERS)


def _next(field: Field, u: int, others: Sequence[int], start: int, count: int) -> Iterator[tuple[int, int]]:
    """The next `count` of `others` from a rank on, going round, whom u may meet."""
    barred = field.barred[u]
    found = 0
    for step in range(min(len(others), count + len(barred) + 1)):
        v = others[(start + step) % len(others)]
        if v != u and v not in barred:
            yield u, v
            found += 1
            if found == count:
                return


def _across(tables: Tables, upper: int, lower: int) -> Iterator[tuple[int, int]]:
    barred = tables.view.field.barred
    downs, ups = cheapest_floaters(tables, upper, lower), cheapest_floaters(tables, lower, upper)
    return ((u, v) for u in downs for v in ups if v not in barred[u])


def cheapest_floaters(tables: Tables, own: int, other: int) -> list[int]:
    """Of each class in a group, those who float to the other group most cheaply; everybody in a small group."""
    field = tables.view.field
    inside = members(field, own)
    if len(inside) <= WHOLE:
        return list(inside)
    costs = tables.floats[own, other]
    class_of = tables.classes.of
    taken: dict[int, int] = {}
    chosen = []
    for place in sorted(range(len(inside)), key=costs.__getitem__):
        u = inside[place]
        count = taken.get(class_of[u], 0)
        if count < FLOATERS:
            taken[class_of[u]] = count + 1
            chosen.append(u)
    return chosen
