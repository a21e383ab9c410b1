"""Odd sets of vertices with a price: the part of a proof that single prices cannot give.

The sets of one proof are laminar: two of them are disjoint, or one is inside the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

OddSet = tuple[Sequence[int], int]
"""Its vertices, and its price z > 0."""


class BrokenProof(Exception):
    """Prices that do not prove what they should: a fault of the solver, caught before anybody relies on it."""


def lower_bound(y: Sequence[int], odd_sets: Sequence[OddSet]) -> int:
    """Twice the cost that no perfect matching can go below, if no pair has negative slack at these prices."""
    if any(z < 0 or z % 2 or len(inside) % 2 == 0 for inside, z in odd_sets):
        raise BrokenProof("an odd set of a proof is even, or its price is not a whole, positive one")
    return sum(y) - sum(z // 2 * (len(inside) - 1) for inside, z in odd_sets)


def check_sum(y: Sequence[int], odd_sets: Sequence[OddSet], cost: int) -> None:
    """Compare the bound with what a matching really costs.

    :raises BrokenProof: it costs more, so it is not proven to be the best.
    """
    bound = lower_bound(y, odd_sets)
    if bound != 2 * cost:
        raise BrokenProof(f"the prices prove {bound / 2}, but the matching costs {cost}")


class Nest:
    """The sets as a tree: for each vertex the innermost set around it, and what is around two vertices."""

    def __init__(self, size: int, odd_sets: Sequence[OddSet]) -> None:
        self.innermost = [-1] * size
        """Per vertex, the number of the innermost set around it, −1 for none."""
        self.sets: list[Sequence[int]] = []
        """The sets, larger ones first; their numbers are positions here."""
        self.outside: list[int] = []
        """Per set, the next one around it, −1 for none."""
        self.total: list[int] = []
        """Per set, Σ z of itself and all around it."""
        self._depth: list[int] = []
        for number, (inside, z) in enumerate(sorted(odd_sets, key=lambda item: -len(item[0]))):
            outside = self.innermost[inside[0]]
            if any(self.innermost[v] != outside for v in inside):
                raise BrokenProof("the odd sets of a proof overlap")
            self.sets.append(inside)
            self.outside.append(outside)
            self.total.append(z + (self.total[outside] if outside >= 0 else 0))
            self._depth.append(1 + (self._depth[outside] if outside >= 0 else 0))
            for v in inside:
                self.innermost[v] = number

    def around_both(self, u: int, v: int) -> int:
        """Σ z of the sets around both vertices."""
        return self.common(self.innermost[u], self.innermost[v])

    def common(self, a: int, b: int) -> int:
        """Σ z of the sets around both, given their innermost sets."""
        while a != b:
            if a < 0 or b < 0:
                return 0
            if self._depth[a] >= self._depth[b]:
                a = self.outside[a]
            else:
                b = self.outside[b]
        return self.total[a] if a >= 0 else 0

    def in_order(self) -> Iterator[tuple[list[int], list[int]]]:
        """Per outermost set: its vertices, each set's side by side, and the innermost set around each two neighbours
        in that order (one fewer)."""
        own: list[list[int]] = [[] for _ in self.sets]
        children: list[list[int]] = [[] for _ in self.sets]
        for v, number in enumerate(self.innermost):
            if number >= 0:
                own[number].append(v)
        for number, outside in enumerate(self.outside):
            if outside >= 0:
                children[outside].append(number)
        for top, outside in enumerate(self.outside):
            if outside < 0:
                yield _walk(top, own, children)


def _walk(top: int, own: list[list[int]], children: list[list[int]]) -> tuple[list[int], list[int]]:
    """Vertices of a set, depth first; on the way from one to the next, the outermost set passed is around both."""
    vertices = list(own[top])
    between = [top] * len(vertices)
    path = [(top, iter(children[top]))]
    around = top
    while path:
        child = next(path[-1][1], None)
        if child is None:
            path.pop()
            around = path[-1][0] if path else top
            continue
        if own[child]:
            vertices += own[child]
            between += [around] + [child] * (len(own[child]) - 1)
            around = child
        path.append((child, iter(children[child])))
    return vertices, between[1:]


class Surroundings:
    """Σ z around both, for whole blocks of pairs, in rounded units.

    In the order of `Nest.in_order` the sum for two vertices is the least of the sums between neighbours on the way from
    one to the other, since a set lies side by side and what is around it is less.
    """

    def __init__(self, size: int, odd_sets: Sequence[OddSet], rounded: Callable[[int], int]) -> None:
        nest = Nest(size, odd_sets)
        self._place: dict[int, tuple[NDArray[np.int64], NDArray[Any], int]] = {}
        """Per vertex in a set: the vertices of its outermost set in order, sums between neighbours, own position."""
        for vertices, between in nest.in_order():
            order = np.array(vertices, dtype=np.int64)
            sums = [rounded(nest.total[number]) for number in between]
            wide = max(sums) >= 1 << 61
            array = np.array(sums, dtype=object if wide else np.int64)
            for position, v in enumerate(vertices):
                self._place[v] = order, array, position

    def add_to(self, slack: NDArray[Any], rows: range, columns: range) -> None:
        """Add the sums to a block of slacks."""
        for row in rows:
            if row in self._place:
                order, sums, at = self._place[row]
                line = np.zeros(len(order), dtype=sums.dtype)
                line[at + 1 :] = np.minimum.accumulate(sums[at:])
                line[:at] = np.minimum.accumulate(sums[:at][::-1])[::-1]
                inside = (order >= columns.start) & (order < columns.stop)
                slack[row - rows.start, order[inside] - columns.start] += line[inside]
