"""Minimum-cost perfect matching with prices, on a sparse graph that may grow, from a warm start.

The method is Edmonds' primal-dual one. It keeps *prices*: an integer `y` for every vertex and `z ≥ 0` for every
*blossom* (an odd set of vertices, built from an odd cycle of tight edges), such that no edge has negative slack,

    slack(u, v) = 2·cost(u, v) − y[u] − y[v] + Σ z[B] over the blossoms B that hold both u and v,

and every matched edge has slack 0. When all vertices are matched, the prices prove the matching optimal; the proof is
checked by other code (`certificate_sums`, `certificate_parts`). Costs are Python integers of any size, doubled inside
so that prices stay whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qisai.kernel.pairing.optimal.alternating_tree import AlternatingTree
from qisai.kernel.pairing.optimal.blossoms import NOBODY


class Matcher(AlternatingTree):
    """A graph of `size` vertices (even), its prices, and a matching that is optimal for the edges offered so far."""

    def offer(self, edges: Iterable[tuple[int, int, int]]) -> None:
        """Offer edges (u, v, cost). Where an edge is cheaper than the prices allow, prices and matching give way."""
        for u, v, cost in edges:
            doubled = 2 * cost
            self.neighbours[u][v] = doubled
            self.neighbours[v][u] = doubled
            lack = self.slack(u, v)
            if lack < 0:
                self._yield_price(v if self.mate[v] == NOBODY and self.mate[u] != NOBODY else u, -lack)

    def slack(self, u: int, v: int) -> int:
        """Slack of an offered edge at the current prices, between searches."""
        value = self.neighbours[u][v] - self.y[u] - self.y[v]
        if self.outermost[u] == self.outermost[v] and self.outermost[u] >= self.size:
            value += sum(self.z[b] for b in self.around(u) & self.around(v))
        return value

    def start(self, prices: Sequence[int], pairs: Iterable[tuple[int, int]] = ()) -> None:
        """Take over prices (each vertex's price is lowered where it is too high) and match tight pairs greedily.

        `pairs` are tried first, in their order.
        """
        self.y = list(prices)
        y = self.y
        for u in range(self.size):
            if self.neighbours[u]:
                y[u] = min(cost - y[v] for v, cost in self.neighbours[u].items())
        for u, v in pairs:
            if self.mate[u] == NOBODY == self.mate[v] and self.neighbours[u][v] == y[u] + y[v]:
                self.mate[u], self.mate[v] = v, u
        for u in range(self.size):
            if self.mate[u] == NOBODY:
                for v, cost in self.neighbours[u].items():
                    if self.mate[v] == NOBODY and cost == y[u] + y[v]:
                        self.mate[u], self.mate[v] = v, u
                        break

    def _yield_price(self, u: int, amount: int) -> None:
        """Lower the price of one vertex; blossoms around it are given up and its partner is set free."""
        while self.outermost[u] >= self.size:
            self._give_up(self.outermost[u])
        self.y[u] -= amount
        self._part(u)

    def _part(self, u: int) -> None:
        v = self.mate[u]
        if v != NOBODY:
            self.mate[u] = self.mate[v] = NOBODY

    def _give_up(self, b: int) -> None:
        """Dissolve an outermost blossom between searches, keeping all slacks non-negative."""
        if self.z[b]:
            half = self.z[b] // 2
            for v in self.members[b]:
                self.y[v] -= half
            self._part(self.base[b])
        self.open(b)

    def solve(self, *, limit: int | None = None) -> None:
        """Match every vertex at least total cost over the offered edges.

        :raises Unmatchable: the offered edges hold no perfect matching.
        :raises OutOfSteps: more than `limit` steps in all; prices stay feasible, some vertices unmatched.
        """
        for root in range(self.size):
            if self.mate[root] == NOBODY:
                self.search(root, limit=limit)
