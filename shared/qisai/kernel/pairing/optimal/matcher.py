"""Minimum-cost perfect matching with prices: one alternating tree at a time, on a sparse graph, from a warm start.

The method is Edmonds' primal-dual one. It keeps *prices*: an integer `y` for every vertex and `z ≥ 0` for every
*blossom* (an odd set of vertices, built from an odd cycle of tight edges), such that no edge has negative slack,

    slack(u, v) = 2·cost(u, v) − y[u] − y[v] + Σ z[B] over the blossoms B that hold both u and v,

and every matched edge has slack 0. When all vertices are matched, the prices prove the matching optimal; the proof is
checked by other code (`certificate`). Costs are Python integers of any size, doubled inside so that prices
stay whole.

Prices of the vertices in the growing tree move together, so they are kept relative to one running number (`_shift`):
the true price of an outer vertex is `y + shift`, of an inner one `y − shift`. Nothing here is recursive.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Final

from qisai.kernel.pairing.optimal.odd_sets import OddSet

FREE: Final = 0
OUTER: Final = 1
INNER: Final = 2
NOBODY: Final = -1


class Unmatchable(Exception):
    """The offered edges hold no perfect matching. `outer` are the vertices that compete for too few partners."""

    def __init__(self, outer: tuple[int, ...]) -> None:
        super().__init__("no perfect matching among the offered edges")
        self.outer = outer


class OutOfSteps(Exception):
    """The budget of steps was used up before the matching was complete."""


class Matcher:
    """A graph of `size` vertices (even), its prices, and a matching that is optimal for the edges offered so far.

    `mate[v]` is the partner of v, or −1. `steps` counts tree events since the start; it is the unit of budgets.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.mate: list[int] = [NOBODY] * size
        self.y: list[int] = [0] * size
        self.neighbours: list[dict[int, int]] = [{} for _ in range(size)]
        self.steps = 0
        # Blossoms are numbered from `size` on; an index below it is a single vertex.
        self.z: list[int] = [0] * size
        self._parent: list[int] = [NOBODY] * size
        self._base: list[int] = list(range(size))
        self._members: list[list[int]] = [[v] for v in range(size)]
        self._children: list[list[int]] = [[] for _ in range(size)]
        self._links: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        self._outermost: list[int] = list(range(size))
        self._unused: list[int] = []
        # The tree of the current search.
        self._label: list[int] = [FREE] * size
        self._entry: list[tuple[int, int] | None] = [None] * size
        self._labelled: list[int] = []
        self._best: dict[int, int] = {}
        self._heap: list[tuple[int, int, int]] = []
        self._ready: list[tuple[int, int]] = []
        self._shift = 0

    # ---- offering edges, starting prices ----------------------------------------------------------------------

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
        if self._outermost[u] == self._outermost[v] and self._outermost[u] >= self.size:
            value += sum(self.z[b] for b in self._around(u) if b in self._around(v))
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

    def blossoms(self) -> list[OddSet]:
        """The odd sets with a positive price, as (vertices, z)."""
        dead = set(self._unused)
        return [
            (tuple(self._members[b]), self.z[b]) for b in range(self.size, len(self.z)) if b not in dead and self.z[b]
        ]

    def _around(self, v: int) -> list[int]:
        found = []
        b = self._parent[v]
        while b != NOBODY:
            found.append(b)
            b = self._parent[b]
        return found

    def _yield_price(self, u: int, amount: int) -> None:
        """Lower the price of one vertex; blossoms around it are given up and its partner is set free."""
        while self._outermost[u] >= self.size:
            self._give_up(self._outermost[u])
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
            for v in self._members[b]:
                self.y[v] -= half
            self._part(self._base[b])
        self._open(b)

    def _open(self, b: int) -> None:
        """Make the children of an outermost blossom outermost; `b` is unused from now on."""
        for child in self._children[b]:
            self._parent[child] = NOBODY
            for v in self._members[child]:
                self._outermost[v] = child
        self.z[b] = 0
        self._label[b] = FREE
        self._entry[b] = None
        self._children[b], self._links[b], self._members[b] = [], [], []
        self._unused.append(b)

    # ---- solving ----------------------------------------------------------------------------------------------

    def solve(self, *, limit: int | None = None) -> None:
        """Match every vertex at least total cost over the offered edges.

        :raises Unmatchable: the offered edges hold no perfect matching.
        :raises OutOfSteps: more than `limit` steps in all; prices stay feasible, some vertices unmatched.
        """
        for root in range(self.size):
            if self.mate[root] == NOBODY:
                self._search(root, limit)

    def _search(self, root: int, limit: int | None) -> None:
        """Grow the tree of `root` until it reaches another unmatched vertex, and match along the path."""
        self._shift = 0
        self._best = {}
        self._heap = []
        self._ready = []
        self._labelled = []
        self._make_outer(self._outermost[root], None)
        try:
            while self._advance(limit):
                pass
        finally:
            self._settle()

    def _advance(self, limit: int | None) -> bool:
        """Handle the next event; False when the matching has grown."""
        self.steps += 1
        if limit is not None and self.steps > limit:
            raise OutOfSteps
        if self._ready:
            u, v = self._ready.pop()
        elif self._heap:
            when, u, v = heappop(self._heap)
            if u == NOBODY:
                if self._label[v] == INNER and self.z[v] == 2 * when:
                    self._shift = max(self._shift, when)
                    self._expand(v)
                return True
            if not self._still_due(when, u, v):
                return True
            self._shift = when
        else:
            raise Unmatchable(tuple(v for b in self._labelled if self._label[b] == OUTER for v in self._members[b]))
        mine, other = self._outermost[u], self._outermost[v]
        label = self._label[other]
        if mine == other or label == INNER:
            return True
        if label == OUTER:
            self._shrink(u, v)
            return True
        if self.mate[self._base[other]] == NOBODY:
            self._augment(u, v)
            return False
        self._make_inner(other, (u, v))
        base = self._base[other]
        self._make_outer(self._outermost[self.mate[base]], (base, self.mate[base]))
        return True

    def _still_due(self, when: int, u: int, v: int) -> bool:
        other = self._outermost[v]
        label = self._label[other]
        if label == INNER or other == self._outermost[u]:
            return False
        due = self.neighbours[u][v] - self.y[u] - self.y[v]
        return due == (2 * when if label == OUTER else when)

    def _scan(self, members: Sequence[int], mine: int) -> None:
        """Note when each edge out of new outer vertices becomes tight."""
        y, outermost, label, best = self.y, self._outermost, self._label, self._best
        heap, ready, shift = self._heap, self._ready, self._shift
        for u in members:
            price = y[u]
            for v, cost in self.neighbours[u].items():
                other = outermost[v]
                if other == mine:
                    continue
                state = label[other]
                if state == INNER:
                    continue
                when = cost - price - y[v]
                if state == OUTER:
                    when >>= 1
                else:
                    if v in best and best[v] <= when:
                        continue
                    best[v] = when
                if when <= shift:
                    ready.append((u, v))
                else:
                    heappush(heap, (when, u, v))

    def _rescan(self, v: int) -> None:
        """A vertex became free again during a search: note when outer vertices reach it."""
        self._best.pop(v, None)
        for u, cost in self.neighbours[v].items():
            if self._label[self._outermost[u]] == OUTER:
                when = cost - self.y[u] - self.y[v]
                if v not in self._best or when < self._best[v]:
                    self._best[v] = when
                    heappush(self._heap, (when, u, v))

    def _make_outer(self, b: int, entry: tuple[int, int] | None) -> None:
        self._label[b] = OUTER
        self._entry[b] = entry
        self._labelled.append(b)
        shift = self._shift
        if shift:
            for v in self._members[b]:
                self.y[v] -= shift
            if b >= self.size:
                self.z[b] -= 2 * shift
        self._scan(self._members[b], b)

    def _make_inner(self, b: int, entry: tuple[int, int]) -> None:
        self._label[b] = INNER
        self._entry[b] = entry
        self._labelled.append(b)
        shift = self._shift
        if shift:
            for v in self._members[b]:
                self.y[v] += shift
        if b >= self.size:
            self.z[b] += 2 * shift
            heappush(self._heap, (self.z[b] // 2, NOBODY, b))

    def _settle(self) -> None:
        """End of a search: make prices absolute, forget labels, dissolve blossoms that carry no price."""
        shift = self._shift
        candidates: list[int] = []
        for b in self._labelled:
            label = self._label[b]
            if label == FREE or self._parent[b] != NOBODY:
                self._label[b] = FREE
                continue
            self._label[b] = FREE
            self._entry[b] = None
            sign = shift if label == OUTER else -shift
            if shift:
                for v in self._members[b]:
                    self.y[v] += sign
            if b >= self.size:
                self.z[b] += 2 * sign
                candidates.append(b)
        while candidates:
            b = candidates.pop()
            if self.z[b] == 0 and self._children[b]:
                children = [child for child in self._children[b] if child >= self.size]
                self._open(b)
                candidates.extend(children)

    # ---- blossoms ---------------------------------------------------------------------------------------------

    def _path_to_root(self, b: int) -> list[int]:
        """Outer blossoms from `b` up to the root."""
        path = [b]
        entry = self._entry[b]
        while entry is not None:
            inner = self._outermost[entry[0]]
            above = self._entry[inner]
            assert above is not None
            b = self._outermost[above[0]]
            path.append(b)
            entry = self._entry[b]
        return path

    def _meeting(self, a: int, b: int) -> int:
        """The lowest outer blossom above both, found by climbing both sides in turn."""
        seen: set[int] = set()
        sides = [a, b]
        while True:
            for side in (0, 1):
                at = sides[side]
                if at == NOBODY:
                    continue
                if at in seen:
                    return at
                seen.add(at)
                entry = self._entry[at]
                if entry is None:
                    sides[side] = NOBODY
                    continue
                above = self._entry[self._outermost[entry[0]]]
                assert above is not None
                sides[side] = self._outermost[above[0]]

    def _climb(self, v: int, top: int) -> tuple[list[int], list[tuple[int, int]]]:
        """Children and links from the blossom of `v` up to just below `top`; each link is (lower side, upper side)."""
        children: list[int] = []
        links: list[tuple[int, int]] = []
        b = self._outermost[v]
        while b != top:
            entry = self._entry[b]
            assert entry is not None
            children.append(b)
            links.append((entry[1], entry[0]))
            b = self._outermost[entry[0]]
        return children, links

    def _shrink(self, u: int, v: int) -> None:
        """Make the odd cycle closed by the tight edge (u, v) one outer blossom."""
        top = self._meeting(self._outermost[u], self._outermost[v])
        left, left_links = self._climb(u, top)
        right, right_links = self._climb(v, top)
        # The cycle runs top → down the left side → across (u, v) → up the right side → top.
        children = [top, *reversed(left), *right]
        links = [(upper, lower) for lower, upper in reversed(left_links)]
        links.append((u, v))
        links.extend(right_links)
        b = self._new_blossom()
        shift = self._shift
        fresh: list[int] = []
        y = self.y
        members: list[int] = []
        for child in children:
            self._parent[child] = b
            inside = self._members[child]
            members.extend(inside)
            if self._label[child] == INNER:
                if shift:
                    for w in inside:
                        y[w] -= 2 * shift
                if child >= self.size:
                    self.z[child] -= 2 * shift
                fresh.extend(inside)
            elif child >= self.size:
                self.z[child] += 2 * shift
            self._label[child] = FREE
        for w in members:
            self._outermost[w] = b
        self._members[b] = members
        self._children[b] = children
        self._links[b] = links
        self._base[b] = self._base[top]
        self._label[b] = OUTER
        self._entry[b] = self._entry[top]
        self.z[b] = -2 * shift
        self._labelled.append(b)
        self._scan(fresh, b)

    def _new_blossom(self) -> int:
        if self._unused:
            b = self._unused.pop()
            self._parent[b] = NOBODY
            return b
        self._parent.append(NOBODY)
        self._base.append(NOBODY)
        self._members.append([])
        self._children.append([])
        self._links.append([])
        self._label.append(FREE)
        self._entry.append(None)
        self.z.append(0)
        return len(self.z) - 1

    def _child_holding(self, b: int, v: int) -> int:
        at = v
        while self._parent[at] != b:
            at = self._parent[at]
        return at

    def _expand(self, b: int) -> None:
        """Open an inner blossom whose price fell to 0: an even path through it stays in the tree, the rest is free."""
        entry = self._entry[b]
        assert entry is not None
        children, links = self._children[b], self._links[b]
        count = len(children)
        at = children.index(self._child_holding(b, entry[1]))
        self._open(b)
        shift = self._shift
        in_tree: set[int] = set()
        outer: list[int] = []
        step = 1 if at % 2 else -1
        while True:
            # An inner child, entered by `entry`.
            child = children[at]
            in_tree.add(child)
            self._label[child] = INNER
            self._entry[child] = entry
            self._labelled.append(child)
            if child >= self.size:
                self.z[child] += 2 * shift
                heappush(self._heap, (self.z[child] // 2, NOBODY, child))
            if at == 0:
                break
            low, high = links[at] if step == 1 else links[at - 1][::-1]
            at = (at + step) % count
            child = children[at]
            in_tree.add(child)
            outer.append(child)
            self._label[child] = OUTER
            self._entry[child] = (low, high)
            entry = links[at] if step == 1 else links[at - 1][::-1]
            at = (at + step) % count
        self._relabel_opened(children, in_tree, outer)

    def _relabel_opened(self, children: list[int], in_tree: set[int], outer: list[int]) -> None:
        shift = self._shift
        free = [child for child in children if child not in in_tree]
        for child in free:
            for v in self._members[child]:
                self.y[v] -= shift
        for child in outer:
            self._labelled.append(child)
            for v in self._members[child]:
                self.y[v] -= 2 * shift
            if child >= self.size:
                self.z[child] -= 2 * shift
        for child in outer:
            self._scan(self._members[child], child)
        for child in free:
            for v in self._members[child]:
                self._rescan(v)

    # ---- matching along a path --------------------------------------------------------------------------------

    def _augment(self, u: int, v: int) -> None:
        """Match u with v, and swap matched and unmatched edges from u up to the root of the tree."""
        self._rebase(self._outermost[v], v)
        while True:
            b = self._outermost[u]
            entry = self._entry[b]
            self._rebase(b, u)
            self.mate[u], self.mate[v] = v, u
            if entry is None:
                return
            inner = self._outermost[entry[0]]
            above = self._entry[inner]
            assert above is not None
            u, v = above
            self._rebase(inner, v)

    def _rebase(self, b: int, v: int) -> None:
        """Make v the one vertex of blossom b that is matched outside, by swapping edges inside."""
        todo = [(b, v)]
        while todo:
            b, v = todo.pop()
            if b < self.size:
                continue
            if self._base[b] == v:
                continue
            child = self._child_holding(b, v)
            children, links = self._children[b], self._links[b]
            at = children.index(child)
            todo.append((child, v))
            count = len(children)
            pairs = range(at + 1, count, 2) if at % 2 else range(0, at, 2)
            for i in pairs:
                low, high = links[i]
                self.mate[low], self.mate[high] = high, low
                todo.append((children[i], low))
                todo.append((children[(i + 1) % count], high))
            self._children[b] = children[at:] + children[:at]
            self._links[b] = links[at:] + links[:at]
            self._base[b] = v
