"""Is a draw of one part of stage B the best? Checked against every pair of the part, from the criteria alone.

Prices prove a matching optimal if no legal pair has negative slack and the prices add up to its cost:

    slack(a, b) = 2·cost − y[a] − y[b] + Σ z over the odd sets around both  ≥ 0   for all legal pairs,
    Σ y − Σ z · (size of the set − 1) / 2  =  2 · cost of the matching,

since every matching costs at least the left side of the second line. Nothing of the solver's is used but its prices.
Lots count as 0 until a pair could be too cheap without its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.optimal.odd_sets import Nest, OddSet, Surroundings
from qisai.kernel.pairing.optimal.parts import Part

FINEST: Final = 10
"""Bits below one unit of packed cost that rounded prices keep, if 64 bits leave room for them."""


def too_cheap(part: Part, y: Sequence[int], odd_sets: Sequence[OddSet]) -> list[tuple[int, int, int]]:
    """Legal pairs (a, b, full cost) of the part with negative slack: all of them. Empty: the prices are feasible."""
    nest = Nest(part.size, odd_sets)
    suspects = list(_suspects(part, y, odd_sets))
    if not suspects:
        return []
    a, b = (np.concatenate(side) for side in zip(*suspects, strict=True))
    found = []
    bare = [packed * part.lot_factor for packed in part.packed_pairs(a, b)]
    slacks = [
        2 * cost - y[i] - y[j] + nest.around_both(i, j) for cost, i, j in zip(bare, a.tolist(), b.tolist(), strict=True)
    ]
    close = np.array([slack < 0 for slack in slacks], dtype=np.bool_)
    if close.any():
        a, b = a[close], b[close]
        near = [(cost, slack) for cost, slack in zip(bare, slacks, strict=True) if slack < 0]
        lots = part.lots_of(a, b)
        for i, j, lot, (cost, slack) in zip(a.tolist(), b.tolist(), lots, near, strict=True):
            if slack + 2 * lot < 0:
                found.append((i, j, cost + lot))
    return found


def _suspects(part: Part, y: Sequence[int], odd_sets: Sequence[OddSet]) -> Iterator[tuple[Ints, Ints]]:
    """Legal pairs whose slack could be negative if lots were 0, with prices rounded against them to a fine unit."""
    factor = part.lot_factor
    highest = max(2 * part.largest, *(abs(price) // factor for price in y))
    finer = min(FINEST, 60 - highest.bit_length())
    dtype = object if part.wide or finer < 0 else np.int64
    finer = max(finer, 0)
    prices = np.array([-((-price << finer) // factor) for price in y], dtype=dtype)
    around = Surroundings(part.size, odd_sets, lambda z: (z << finer) // factor)
    for rows in part.blocks():
        columns = range(rows.start, part.size)
        cost, legal = part.packed(rows, columns)
        slack = cost.astype(dtype, copy=False)
        slack *= 2 << finer
        slack -= prices[rows.start : rows.stop, None]
        slack -= prices[None, columns.start :]
        around.add_to(slack, rows, columns)
        a, b = np.nonzero((slack < 0) & legal)
        a, b = a + rows.start, b + columns.start
        upper = a < b
        if upper.any():
            yield a[upper], b[upper]
