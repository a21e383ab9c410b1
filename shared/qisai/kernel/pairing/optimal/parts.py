"""Stage B falls into independent parts, because who floats where is fixed.

One part is all who stay in a score group; another is all who float between the same two groups. A part's criteria are
those that stage B must keep at their optimum, then those of stage B itself, packed into one integer a pair. The lots of
pairs come last and are kept apart: computing one takes longer than all the rest, so only promising pairs get theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from qisai.kernel.pairing.criteria import PAIR_LOTS, Criterion
from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.optimal.result import Pair
from qisai.kernel.pairing.optimal.structure import BY_GROUPS, BYE_ONLY
from qisai.kernel.pairing.systems import PairingSystem
from qisai.kernel.pairing.view import Flags, View

LARGEST_LOT: Final = 65_535
BLOCK: Final = 1 << 18
"""Pairs looked at in one go: bounds memory whatever the size of a group."""
WORD: Final = 1 << 60
"""Packed costs and prices below this are computed as 64-bit integers; larger ones exactly, but more slowly."""

Costs = NDArray[Any]
"""int64, or Python integers where 64 bits do not suffice."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """Entrants who are paired among themselves. Pairs are named by positions 0 … m − 1 in `members`."""

    view: View
    members: Ints
    """Indexes of the field, ascending."""
    start: tuple[Pair, ...]
    """Stage A's pairs, as positions: every kept criterion is at its optimum in them."""
    layers: tuple[tuple[Criterion, int], ...]
    """Criteria before the lots, with their weights in the packed cost."""
    kept: int
    """How many of them, the first ones, are criteria that stage A brought to their optimum."""
    lots: Criterion | None
    """`pair_lots`, where the system ends with it."""
    lot_factor: int
    """One unit of packed cost outweighs all lots of the part: full cost = packed · factor + lot."""
    barred: Pair2
    """Positions that must not meet, both ways round, sorted by the first."""
    crosses: bool
    """Floaters between two groups (who must cross), not a group that stays together."""
    largest: int
    """No packed cost of a pair is larger."""

    @property
    def size(self) -> int:
        """How many are in the part."""
        return len(self.members)

    @property
    def wide(self) -> bool:
        """64 bits do not suffice for packed costs."""
        return self.largest >= WORD

    def blocks(self) -> Iterator[range]:
        """Ranges of rows such that one block of costs stays small."""
        rows = max(1, BLOCK // self.size)
        return (range(at, min(at + rows, self.size)) for at in range(0, self.size, rows))

    def packed(self, rows: range, columns: range) -> tuple[Costs, Flags]:
        """Packed costs of a block, and which of its pairs may meet."""
        layers = self.layers
        i = self.members[rows.start : rows.stop, None]
        j = self.members[None, columns.start : columns.stop]
        left, right = (min(max(at - columns.start, 0), len(columns)) for at in (rows.start, rows.stop))
        cost: Costs = np.empty((len(rows), len(columns)), dtype=object if self.wide else np.int64)
        # Left of the diagonal the column is the upper entrant, right of it the row; only around it they mix.
        middle = j[:, left:right]
        cost[:, :left] = self._packed(layers, j[:, :left], i)
        cost[:, left:right] = self._packed(layers, np.minimum(i, middle), np.maximum(i, middle))
        cost[:, right:] = self._packed(layers, i, j[:, right:])
        group = self.view.arrays.group
        legal = group[i] != group[j] if self.crosses else i != j
        first, last = np.searchsorted(self.barred[0], (rows.start, rows.stop))
        r, c = self.barred[0][first:last], self.barred[1][first:last]
        inside = (c >= columns.start) & (c < columns.stop)
        legal[r[inside] - rows.start, c[inside] - columns.start] = False
        return cost, legal

    def packed_grid(self, rows: Ints, columns: Ints, *, kept: bool = True) -> Costs:
        """Packed costs of every row with every column, whether they may meet or not."""
        i, j = self.members[rows][:, None], self.members[columns][None, :]
        layers = self.layers if kept else self.layers[self.kept :]
        return self._packed(layers, np.minimum(i, j), np.maximum(i, j))

    def packed_pairs(self, a: Ints, b: Ints) -> list[int]:
        """Packed costs of single pairs, given as positions."""
        i, j = self.members[a], self.members[b]
        costs: list[int] = self._packed(self.layers, np.minimum(i, j), np.maximum(i, j)).tolist()
        return costs

    def lots_of(self, a: Ints, b: Ints) -> list[int]:
        """Lots of single pairs, given as positions."""
        if self.lots is None:
            return [0] * len(a)
        i, j = self.members[a], self.members[b]
        lots: list[int] = self.lots.of_pairs(self.view, np.minimum(i, j), np.maximum(i, j)).tolist()
        return lots

    def full_costs(self, a: Ints, b: Ints) -> list[int]:
        """Full costs of single pairs, given as positions."""
        factor = self.lot_factor
        return [p * factor + lot for p, lot in zip(self.packed_pairs(a, b), self.lots_of(a, b), strict=True)]

    def _packed(self, layers: Sequence[tuple[Criterion, int]], upper: Ints, lower: Ints) -> Costs:
        total: Costs = np.zeros(np.broadcast_shapes(upper.shape, lower.shape), dtype=object if self.wide else np.int64)
        for criterion, weight in layers:
            values = criterion.of_pairs(self.view, upper, lower)
            total += values.astype(object) * weight if self.wide else values * weight
        return total


Pair2 = tuple[Ints, Ints]


def parts_of(view: View, system: PairingSystem, pairs: Sequence[Pair]) -> list[Part]:
    """The parts of a settled field with more than one way to be paired, and their criteria. `pairs`: stage A's."""
    settled = view.settled
    assert settled is not None
    group = view.arrays.group
    met = settled.meets
    groups = len(view.field.group_size)
    part = np.where(met < 0, -1, np.minimum(group, met) * groups + np.maximum(group, met))
    by_part: dict[int, list[Pair]] = {}
    numbers: list[int] = part.tolist()
    for i, j in pairs:
        by_part.setdefault(numbers[i], []).append((i, j))
    barred = _barred_pairs(view, part)
    open_parts = [number for number in sorted(by_part) if len(by_part[number]) > 1]
    return [_part(view, system, by_part[number], barred, part) for number in open_parts]


def _barred_pairs(view: View, part: Ints) -> Pair2:
    """Barred pairs inside one part, as indexes of the field, both ways round, sorted by the first."""
    barred = view.field.barred
    first = np.repeat(np.arange(len(barred), dtype=np.int64), [len(others) for others in barred])
    second = np.array([j for others in barred for j in others], dtype=np.int64)
    inside = part[first] == part[second]
    return first[inside], second[inside]


def _part(view: View, system: PairingSystem, pairs: Sequence[Pair], barred: Pair2, part: Ints) -> Part:
    i, j = np.array(pairs, dtype=np.int64).T
    members = np.sort(np.concatenate([i, j]))
    position = np.full(view.field.size, -1, dtype=np.int64)
    position[members] = np.arange(len(members))
    own = part[barred[0]] == part[i[0]]
    group = view.arrays.group
    criteria = _criteria(system)
    lots = criteria.pop() if criteria and criteria[-1] is PAIR_LOTS else None
    layers, top = _weighted(view, system, criteria, i, j)
    return Part(
        view=view,
        members=members,
        start=tuple(zip(position[i].tolist(), position[j].tolist(), strict=True)),
        layers=layers,
        kept=sum(criterion.name in system.kept for criterion, _ in layers),
        lots=lots,
        lot_factor=LARGEST_LOT * len(pairs) + 1 if lots else 1,
        barred=(position[barred[0][own]], position[barred[1][own]]),
        crosses=bool(group[i[0]] != group[j[0]]),
        largest=top,
    )


def _criteria(system: PairingSystem) -> list[Criterion]:
    """Criteria that can differ between draws in which the same entrants float to the same groups."""
    settled = BY_GROUPS | BYE_ONLY
    kept = [c for c in system.stage_a if c.name in system.kept and c not in settled]
    return kept + list(system.stage_b)


def _weighted(
    view: View, system: PairingSystem, criteria: Sequence[Criterion], i: Ints, j: Ints
) -> tuple[tuple[tuple[Criterion, int], ...], int]:
    """Weights such that one unit of a criterion outweighs all that the best draw has in later ones.

    Stage A's own pairs bound that: they have the kept criteria at their optimum, so the best draw has no more of the
    first criterion of stage B than they have. What comes after that one is bounded by its largest value.
    """
    boards = len(i)
    first_of_b = system.stage_b[0].name if system.stage_b else ""
    weight = 1
    layers: list[tuple[Criterion, int]] = []
    for criterion in reversed(criteria):
        layers.append((criterion, weight))
        if criterion.name in system.kept or criterion.name == first_of_b:
            bound = int(criterion.of_pairs(view, i, j).sum())
        else:
            everybody = np.concatenate([i, j])
            bound = boards * max(
                int(criterion.of_pairs(view, np.minimum(u, everybody), np.maximum(u, everybody)).max())
                for u in everybody
            )
        weight *= bound + 1
    # The largest packed cost of a pair: every criterion of a pair is at most a few units above its layer's weight.
    largest = sum(w * max(1, 4 * len(i) ** 2 if c.name not in system.kept else 1) for c, w in layers)
    return tuple(reversed(layers)), largest
