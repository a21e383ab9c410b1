"""Odd sets of vertices with a price: the part of a proof that single prices cannot give.

The sets of one proof are laminar: two of them are disjoint, or one is inside the other.
"""

from __future__ import annotations

from collections.abc import Sequence

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
        self._outside: list[int] = []
        self._total: list[int] = []
        self._depth: list[int] = []
        for number, (inside, z) in enumerate(sorted(odd_sets, key=lambda item: -len(item[0]))):
            outside = self.innermost[inside[0]]
            if any(self.innermost[v] != outside for v in inside):
                raise ValueError("the odd sets of a proof overlap")
            self._outside.append(outside)
            self._total.append(z + (self._total[outside] if outside >= 0 else 0))
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
                a = self._outside[a]
            else:
                b = self._outside[b]
        return self._total[a] if a >= 0 else 0
