"""Blossoms: odd sets of vertices, each an odd cycle of smaller blossoms or single vertices, nested in one another.

Indexes below `size` are vertices, others blossoms; a vertex counts as a blossom of one. Every blossom has a base: the
one vertex whose partner is outside (or who has none). The other members are matched inside, along the cycle's links.
"""

from __future__ import annotations

from typing import Final

from qisai.kernel.pairing.optimal.odd_sets import OddSet

NOBODY: Final = -1

Link = tuple[int, int]
"""An edge between two neighbours on a cycle: its vertex in the first, its vertex in the second."""


class Blossoms:
    """All blossoms over one matching. `mate[v]` is the partner of v, or −1; `z` the price of each blossom."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.mate: list[int] = [NOBODY] * size
        self.z: list[int] = [0] * size
        self.base: list[int] = list(range(size))
        self.members: list[list[int]] = [[v] for v in range(size)]
        """The vertices of each blossom."""
        self.outermost: list[int] = list(range(size))
        """Per vertex, the largest blossom around it."""
        self.parent: list[int] = [NOBODY] * size
        self.children: list[list[int]] = [[] for _ in range(size)]
        """The cycle of each blossom; the first child holds the base."""
        self.links: list[list[Link]] = [[] for _ in range(size)]
        """links[b][i] joins children i and i + 1 of b, the last one the last child and the first."""
        self.unused: list[int] = []

    def positive(self) -> list[OddSet]:
        """The blossoms with a positive price, as (vertices, z)."""
        return [(tuple(self.members[b]), self.z[b]) for b in range(self.size, len(self.z)) if self.z[b]]

    def around(self, v: int) -> set[int]:
        """All blossoms around a vertex."""
        found = set()
        b = self.parent[v]
        while b != NOBODY:
            found.add(b)
            b = self.parent[b]
        return found

    def close(self, children: list[int], links: list[Link], *, price: int) -> int:
        """Make a cycle one outermost blossom with the base of its first child, and return its index."""
        if self.unused:
            b = self.unused.pop()
        else:
            b = len(self.z)
            self.z.append(0)
            self.base.append(NOBODY)
            self.members.append([])
            self.parent.append(NOBODY)
            self.children.append([])
            self.links.append([])
        members: list[int] = []
        for child in children:
            self.parent[child] = b
            members += self.members[child]
        for v in members:
            self.outermost[v] = b
        self.parent[b] = NOBODY
        self.members[b], self.children[b], self.links[b] = members, children, links
        self.base[b] = self.base[children[0]]
        self.z[b] = price
        return b

    def open(self, b: int) -> None:
        """Make the children of an outermost blossom outermost; its index is free from now on."""
        for child in self.children[b]:
            self.parent[child] = NOBODY
            for v in self.members[child]:
                self.outermost[v] = child
        self.z[b] = 0
        self.children[b], self.links[b], self.members[b] = [], [], []
        self.unused.append(b)

    def child_holding(self, b: int, v: int) -> int:
        """The child of b that holds v."""
        at = v
        while self.parent[at] != b:
            at = self.parent[at]
        return at

    def rebase(self, b: int, v: int) -> None:
        """Make v the base of b, by swapping matched and unmatched links inside."""
        todo = [(b, v)]
        while todo:
            b, v = todo.pop()
            if b < self.size or self.base[b] == v:
                continue
            children, links = self.children[b], self.links[b]
            at = children.index(self.child_holding(b, v))
            todo.append((children[at], v))
            count = len(children)
            # The way from the new base child to the old one that has an even number of links.
            for i in range(at + 1, count, 2) if at % 2 else range(0, at, 2):
                low, high = links[i]
                self.mate[low], self.mate[high] = high, low
                todo.append((children[i], low))
                todo.append((children[(i + 1) % count], high))
            self.children[b] = children[at:] + children[:at]
            self.links[b] = links[at:] + links[:at]
            self.base[b] = v
