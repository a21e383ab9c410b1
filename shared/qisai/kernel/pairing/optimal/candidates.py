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
PARTNERS: Final = 2
"""Partners a head in each camp of the own group: those with the same wish, surplus 0 or not."""
SPREAD: Final = 7
"""The ranks of the next partners of two neighbours are this many times as far apart as those of the last."""
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

    In a group where one wish outnumbers all others by more than one, pairs of the many clash: their price is the cost
    of such a pair, and the others make up for it. Then pairs of both kinds are tight at once. Where too few of the many
    have surplus 0, some of these pairs are strong clashes: that is their price then, and who has surplus 0 is cheaper
    by what that saves.
    """
    field = tables.view.field
    prices = [0] * (field.size + field.size % 2)
    clash, strong = (tables.weights.get(name, 0) for name in ("side_clashes", "strong_clashes"))
    for group in range(len(field.group_size)):
        inside = members(field, group)
        balance = sum(field.wish[u] for u in inside)
        many = {u for u in inside if field.wish[u] * balance > 0}
        clashing = 2 * len(many) - len(inside)
        if clash == 0 or clashing < 2:
            continue
        mild = {u for u in many if field.surplus[u] == 0}
        dearest = clash if 2 * len(mild) >= clashing else clash + strong
        for u in inside:
            prices[u] = 2 * clash - dearest if u in mild else dearest if u in many else -dearest
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
    camps: dict[tuple[int, bool], list[int]] = {}
    for u in inside:
        camps.setdefault((field.wish[u], field.surplus[u] == 0), []).append(u)
    for own in camps.values():
        for camp in camps.values():
            for rank, u in enumerate(own):
                yield from _spread(field, u, camp, rank + (camp is own))


def _spread(field: Field, u: int, camp: Sequence[int], rank: int) -> Iterator[tuple[int, int]]:
    """Partners of u in a camp: the one of the same rank, and others far from there; the next who may be met for each.

    If neighbours had neighbours for partners, some entrants would know few but each other. Such an enclave gets prices
    that hundreds of the pairs left out contradict, and mending them takes longer than all the rest.
    """
    barred = field.barred[u]
    chosen = {u}
    for nth in range(PARTNERS):
        start = rank * SPREAD**nth + nth
        for step in range(min(len(camp), PARTNERS + len(barred) + 1)):
            v = camp[(start + step) % len(camp)]
            if v not in chosen and v not in barred:
                chosen.add(v)
                yield u, v
                break


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
