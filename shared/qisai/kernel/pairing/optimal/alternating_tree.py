"""The search for one more pair: a tree of alternating matched and unmatched tight edges, grown from one vertex.

Blossoms in the tree are *outer* (reached by a matched edge, or the root) or *inner*. To make more edges tight, prices
of outer vertices rise and those of inner ones fall together; so they are kept relative to one running number: the true
price of an outer vertex is `y + shift`, of an inner one `y − shift`, and likewise, twice, for blossoms. When each edge
becomes tight is worked out once and kept in a heap. Nothing here is recursive.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Final

from qisai.kernel.pairing.optimal.blossoms import NOBODY, Blossoms, Link

FREE: Final = 0
OUTER: Final = 1
INNER: Final = 2


class Unmatchable(Exception):
    """The offered edges hold no perfect matching."""


class OutOfSteps(Exception):
    """The budget of steps was used up before the matching was complete."""


class AlternatingTree(Blossoms):
    """A graph with prices and a matching, and the search that makes the matching grow by one pair.

    `steps` counts events of searches since the start; it is the unit of budgets.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.y: list[int] = [0] * size
        self.neighbours: list[dict[int, int]] = [{} for _ in range(size)]
        """Per vertex, its offered partners with the doubled cost."""
        self.steps = 0
        # The tree of the current search.
        self._label: list[int] = [FREE] * size
        self._entry: list[Link | None] = [None] * size
        self._labelled: list[int] = []
        self._best: dict[int, int] = {}
        self._heap: list[tuple[int, int, int]] = []
        self._ready: list[Link] = []
        self._shift = 0

    def search(self, root: int, *, limit: int | None) -> None:
        """Grow the tree of `root` until it reaches another unmatched vertex, and match along the path."""
        self._shift = 0
        self._best = {}
        self._heap = []
        self._ready = []
        self._labelled = []
        self._make_outer(self.outermost[root], None)
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
            raise Unmatchable
        mine, other = self.outermost[u], self.outermost[v]
        label = self._label[other]
        if mine == other or label == INNER:
            return True
        if label == OUTER:
            self._shrink(u, v)
            return True
        if self.mate[self.base[other]] == NOBODY:
            self._augment(u, v)
            return False
        self._make_inner(other, (u, v))
        base = self.base[other]
        self._make_outer(self.outermost[self.mate[base]], (base, self.mate[base]))
        return True

    def _still_due(self, when: int, u: int, v: int) -> bool:
        other = self.outermost[v]
        label = self._label[other]
        if label == INNER or other == self.outermost[u]:
            return False
        due = self.neighbours[u][v] - self.y[u] - self.y[v]
        return due == (2 * when if label == OUTER else when)

    def _scan(self, members: Sequence[int], mine: int) -> None:
        """Note when each edge out of new outer vertices becomes tight."""
        y, outermost, label, best = self.y, self.outermost, self._label, self._best
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
            if self._label[self.outermost[u]] == OUTER:
                when = cost - self.y[u] - self.y[v]
                if v not in self._best or when < self._best[v]:
                    self._best[v] = when
                    heappush(self._heap, (when, u, v))

    def _make_outer(self, b: int, entry: Link | None) -> None:
        self._label[b] = OUTER
        self._entry[b] = entry
        self._labelled.append(b)
        shift = self._shift
        if shift:
            for v in self.members[b]:
                self.y[v] -= shift
            if b >= self.size:
                self.z[b] -= 2 * shift
        self._scan(self.members[b], b)

    def _make_inner(self, b: int, entry: Link) -> None:
        self._label[b] = INNER
        self._entry[b] = entry
        self._labelled.append(b)
        shift = self._shift
        if shift:
            for v in self.members[b]:
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
            if label == FREE or self.parent[b] != NOBODY:
                self._label[b] = FREE
                continue
            self._label[b] = FREE
            self._entry[b] = None
            sign = shift if label == OUTER else -shift
            if shift:
                for v in self.members[b]:
                    self.y[v] += sign
            if b >= self.size:
                self.z[b] += 2 * sign
                candidates.append(b)
        while candidates:
            b = candidates.pop()
            if self.z[b] == 0 and self.children[b]:
                children = [child for child in self.children[b] if child >= self.size]
                self.open(b)
                candidates.extend(children)

    # ---- blossoms ---------------------------------------------------------------------------------------------

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
                above = self._entry[self.outermost[entry[0]]]
                assert above is not None
                sides[side] = self.outermost[above[0]]

    def _climb(self, v: int, top: int) -> tuple[list[int], list[Link]]:
        """Children and links from the blossom of `v` up to just below `top`; each link is (lower side, upper side)."""
        children: list[int] = []
        links: list[Link] = []
        b = self.outermost[v]
        while b != top:
            entry = self._entry[b]
            assert entry is not None
            children.append(b)
            links.append((entry[1], entry[0]))
            b = self.outermost[entry[0]]
        return children, links

    def _shrink(self, u: int, v: int) -> None:
        """Make the odd cycle closed by the tight edge (u, v) one outer blossom."""
        top = self._meeting(self.outermost[u], self.outermost[v])
        left, left_links = self._climb(u, top)
        right, right_links = self._climb(v, top)
        # The cycle runs top → down the left side → across (u, v) → up the right side → top.
        children = [top, *reversed(left), *right]
        links = [(upper, lower) for lower, upper in reversed(left_links)]
        links.append((u, v))
        links.extend(right_links)
        shift = self._shift
        fresh: list[int] = []
        for child in children:
            if self._label[child] == INNER:
                fresh += self.members[child]
                if child >= self.size:
                    self.z[child] -= 2 * shift
            elif child >= self.size:
                self.z[child] += 2 * shift
            self._label[child] = FREE
        if shift:
            for w in fresh:
                self.y[w] -= 2 * shift
        b = self.close(children, links, price=-2 * shift)
        if b == len(self._label):
            self._label.append(FREE)
            self._entry.append(None)
        self._label[b] = OUTER
        self._entry[b] = self._entry[top]
        self._labelled.append(b)
        self._scan(fresh, b)

    def _expand(self, b: int) -> None:
        """Open an inner blossom whose price fell to 0: an even path through it stays in the tree, the rest is free."""
        entry = self._entry[b]
        assert entry is not None
        children, links = self.children[b], self.links[b]
        count = len(children)
        at = children.index(self.child_holding(b, entry[1]))
        self.open(b)
        self._label[b] = FREE
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
            for v in self.members[child]:
                self.y[v] -= shift
        for child in outer:
            self._labelled.append(child)
            for v in self.members[child]:
                self.y[v] -= 2 * shift
            if child >= self.size:
                self.z[child] -= 2 * shift
        for child in outer:
            self._scan(self.members[child], child)
        for child in free:
            for v in self.members[child]:
                self._rescan(v)

    # ---- matching along a path --------------------------------------------------------------------------------

    def _augment(self, u: int, v: int) -> None:
        """Match u with v, and swap matched and unmatched edges from u up to the root of the tree."""
        self.rebase(self.outermost[v], v)
        while True:
            b = self.outermost[u]
            entry = self._entry[b]
            self.rebase(b, u)
            self.mate[u], self.mate[v] = v, u
            if entry is None:
                return
            inner = self.outermost[entry[0]]
            above = self._entry[inner]
            assert above is not None
            u, v = above
            self.rebase(inner, v)
