"""As many pairs as the legal graph allows, and, where somebody must stay over, the set of entrants that proves it.

Edmonds' method: grow alternating trees from all who are over, contract odd cycles (blossoms), flip an augmenting path
when two trees meet. A graph is one integer per vertex whose bits are its neighbours, so dense fields cost little; no
recursion, at most n searches of O(n²/64) word operations each. Deterministic: the lowest vertex always comes first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why no perfect matching exists (Gallai–Edmonds): more odd `components` compete for partners than `needed` offers.

    Without the vertices of `needed`, each component is cut off from all others and has an odd number of vertices, so
    one of each must be matched into `needed`; `len(components) − len(needed)` of them stay over.
    """

    needed: tuple[int, ...]
    components: tuple[tuple[int, ...], ...]
    over: tuple[int, ...]
    """Who stays over in the maximum matching that was found."""

    @property
    def missing(self) -> int:
        """How many vertices stay over in every maximum matching."""
        return len(self.components) - len(self.needed)


def complete_matching(adjacent: Sequence[int], mate: list[int]) -> Obstacle | None:
    """Make `mate` a maximum matching, starting from the pairs it holds (`NOBODY` where there is none yet).

    `adjacent[v]` has bit w set where v and w may be paired. Returns None when everybody is matched.
    """
    while NOBODY in mate:
        forest = _Forest(adjacent, mate)
        if not forest.augment():
            return forest.obstacle()
    return None


def bits(mask: int) -> list[int]:
    """Positions of the bits set, ascending."""
    positions = []
    while mask:
        low = mask & -mask
        positions.append(low.bit_length() - 1)
        mask ^= low
    return positions


class _Forest:
    """One search: trees of alternating paths from all unmatched vertices. Outer ones are an even way from a root."""

    __slots__ = ("_adjacent", "_inner", "_mate", "_members", "_outer", "_parent", "_queue", "_root", "_top", "_unseen")

    def __init__(self, adjacent: Sequence[int], mate: list[int]) -> None:
        count = len(adjacent)
        roots = [v for v in range(count) if mate[v] == NOBODY]
        self._adjacent = adjacent
        self._mate = mate
        self._outer = sum(1 << v for v in roots)
        self._inner = 0
        self._unseen = ((1 << count) - 1) ^ self._outer
        self._queue = deque(roots)
        self._root = list(range(count))
        self._parent = [NOBODY] * count
        self._top = list(range(count))
        self._members = {v: 1 << v for v in roots}

    def augment(self) -> bool:
        """Grow until two trees meet, then match one pair more. False when the matching is already maximum."""
        while self._queue:
            v = self._queue.popleft()
            neighbours = self._adjacent[v]
            while meeting := neighbours & self._outer & ~self._members[self._base(v)]:
                w = (meeting & -meeting).bit_length() - 1
                if self._root[v] != self._root[w]:
                    self._flip(v, w)
                    self._flip(w, v)
                    return True
                self._contract(v, w)
            while fresh := neighbours & self._unseen:
                self._grow(v, (fresh & -fresh).bit_length() - 1)
        return False

    def obstacle(self) -> Obstacle:
        """The proof left behind by a search that did not augment."""
        components: dict[int, list[int]] = {}
        for v in bits(self._outer):
            components.setdefault(self._base(v), []).append(v)
        over = tuple(v for v, partner in enumerate(self._mate) if partner == NOBODY)
        return Obstacle(tuple(bits(self._inner)), tuple(sorted(map(tuple, components.values()))), over)

    def _grow(self, v: int, w: int) -> None:
        """Take the matched pair of unseen w into the tree of outer v."""
        partner = self._mate[w]
        self._parent[w] = v
        self._root[w] = self._root[partner] = self._root[v]
        self._unseen &= ~(1 << w | 1 << partner)
        self._inner |= 1 << w
        self._outer |= 1 << partner
        self._members[partner] = 1 << partner
        self._queue.append(partner)

    def _base(self, v: int) -> int:
        """The outermost blossom's base; a vertex in no blossom is its own."""
        top = self._top
        root = v
        while top[root] != root:
            root = top[root]
        while top[v] != root:
            top[v], v = root, top[v]
        return root

    def _contract(self, v: int, w: int) -> None:
        """Outer v and w of one tree are neighbours: the odd cycle through them becomes one outer blossom."""
        base = self._meeting_point(v, w)
        path = self._mark(v, base, w) | self._mark(w, base, v)
        members = self._members[base]
        for b in bits(path):
            self._top[b] = base
            if self._inner >> b & 1:
                self._inner ^= 1 << b
                self._outer |= 1 << b
                self._queue.append(b)
                members |= 1 << b
            else:
                members |= self._members.pop(b)
        self._members[base] = members

    def _meeting_point(self, v: int, w: int) -> int:
        """The base where the ways of v and w to their common root join."""
        seen = 0
        v = self._base(v)
        while True:
            seen |= 1 << v
            if self._mate[v] == NOBODY:
                break
            v = self._base(self._parent[self._mate[v]])
        w = self._base(w)
        while not seen >> w & 1:
            w = self._base(self._parent[self._mate[w]])
        return w

    def _mark(self, v: int, base: int, child: int) -> int:
        """Bases between v and `base`, as bits; lets every outer vertex on the way find back around the cycle."""
        path = 0
        while self._base(v) != base:
            partner = self._mate[v]
            path |= 1 << self._base(v) | 1 << self._base(partner)
            self._parent[v] = child
            child = partner
            v = self._parent[partner]
        return path

    def _flip(self, v: int, partner: int) -> None:
        """Match outer v with `partner` and re-match along its way to the root."""
        mate, parent = self._mate, self._parent
        freed = mate[v]
        mate[v] = partner
        while freed != NOBODY:
            outer = parent[freed]
            following = mate[outer]
            mate[freed], mate[outer] = outer, freed
            freed = following
