"""Is a draw the best of stage A? Checked against every pair and bye, for criteria that are sums.

As in `certificate_parts`, prices prove a draw if no legal pair has negative slack and the prices add up to its cost.
There are too many pairs to look at singly, but entrants of one cell (see `structure`) and one innermost odd set share
everything but the part by floats and their price: one comparison of two minima settles all pairs of two cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from qisai.kernel.pairing.optimal.odd_sets import Nest, OddSet
from qisai.kernel.pairing.optimal.result import Pair
from qisai.kernel.pairing.optimal.structure import Tables

PER_HEAD: Final = 2
"""At most this many pairs a head and pair of cells are named in one go."""


def too_cheap(tables: Tables, y: Sequence[int], odd_sets: Sequence[OddSet]) -> list[tuple[int, int, int]]:
    """Legal pairs and byes (u, v, cost) with negative slack: not all of them, but none only if there are none.

    The bye is vertex `field.size`.
    """
    field = tables.view.field
    nest = Nest(len(y), odd_sets)
    cells = _cells(tables, nest)
    found: list[Pair] = []
    for g, own in enumerate(cells):
        for at, a in enumerate(own):
            keys = a.keys(tables, y, g, g)
            sides = tables.sides[a.kind]
            for b in own[at:]:
                base = 2 * sides[b.kind] + nest.common(a.odd_set, b.odd_set)
                found.extend(_below(tables, keys, b.keys(tables, y, g, g), base))
        for h in tables.reach[g]:
            groups = tables.groups[g, h]
            for a in own:
                keys = a.keys(tables, y, g, h)
                sides = tables.sides[a.kind]
                for b in cells[h]:
                    base = 2 * (groups + sides[b.kind]) + nest.common(a.odd_set, b.odd_set)
                    found.extend(_below(tables, keys, b.keys(tables, y, h, g), base))
    edges = [(u, v, tables.cost(u, v)) for u, v in found]
    if field.odd:
        edges.extend(_byes_too_cheap(tables, y, nest))
    return edges


def _byes_too_cheap(tables: Tables, y: Sequence[int], nest: Nest) -> Iterator[tuple[int, int, int]]:
    nobody = tables.view.field.size
    for index, cost in tables.byes.items():
        slack = 2 * cost - y[index] - y[nobody]
        if slack < 0 and slack + nest.around_both(index, nobody) < 0:
            yield index, nobody, cost


class _Cell:
    """Entrants of one group, class and innermost odd set."""

    __slots__ = ("_keys", "kind", "members", "odd_set")

    def __init__(self, kind: int, odd_set: int) -> None:
        self.kind = kind
        self.odd_set = odd_set
        self.members: list[int] = []
        self._keys: dict[int, list[tuple[int, int]]] = {}

    def keys(self, tables: Tables, y: Sequence[int], own: int, other: int) -> list[tuple[int, int]]:
        """(2 · part by floats − price, member) towards a group, smallest first."""
        found = self._keys.get(other)
        if found is None:
            if own == other:
                found = [(-y[u], u) for u in self.members]
            else:
                costs, place = tables.floats[own, other], tables.view.field.place
                found = [(2 * costs[place[u]] - y[u], u) for u in self.members]
            found.sort()
            self._keys[other] = found
        return found


def _cells(tables: Tables, nest: Nest) -> list[list[_Cell]]:
    field = tables.view.field
    groups: list[dict[tuple[int, int], _Cell]] = [{} for _ in field.group_size]
    kinds, innermost = tables.classes.of, nest.innermost
    for index, group in enumerate(field.group):
        key = kinds[index], innermost[index]
        cell = groups[group].get(key)
        if cell is None:
            cell = groups[group][key] = _Cell(*key)
        cell.members.append(index)
    return [list(cells.values()) for cells in groups]


def _below(
    tables: Tables, ups: Sequence[tuple[int, int]], lows: Sequence[tuple[int, int]], base: int
) -> Sequence[Pair]:
    """Legal pairs with key + key + base < 0, smaller index first, a few a head."""
    least = lows[0][0] + base
    if ups[0][0] + least >= 0:
        return ()
    barred = tables.view.field.barred
    found: list[Pair] = []
    for key, u in ups:
        if key + least >= 0:
            break
        rest = key + base
        count = 0
        for other, v in lows:
            if rest + other >= 0 or count == PER_HEAD:
                break
            if u != v and v not in barred[u]:
                found.append((u, v) if u < v else (v, u))
                count += 1
    return found
