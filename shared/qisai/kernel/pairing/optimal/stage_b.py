"""Stage B: the order inside groups and between floaters, part by part, with who floats where fixed by stage A."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.optimal.certificate_parts import too_cheap
from qisai.kernel.pairing.optimal.matcher import Matcher
from qisai.kernel.pairing.optimal.odd_sets import check_sum
from qisai.kernel.pairing.optimal.parts import Part
from qisai.kernel.pairing.optimal.result import Pair
from qisai.kernel.pairing.optimal.warm_start import library_matching, prices_from

Edge = tuple[int, int, int]

WHOLE: Final = 12
"""Parts up to this size are offered whole."""
NEAREST: Final = 12
"""Cheapest partners offered a head, those included whom one must not meet."""
NEAREST_BY_ORDER: Final = 6
"""And cheapest partners if only the order counted: without them prices of the two wishes have nothing to hold on to."""
STRIP: Final = 32
"""So many neighbours are looked at together."""
WINDOW: Final = 96
"""How many more than themselves are looked at for them."""
AFRESH: Final = 8
"""Where more than one pair for so many members was missing, starting afresh is quicker than mending."""
WIDER: Final = 2
"""Times as many of the cheapest partners at the first fresh start: one costs less than several would."""
ALIGNED: Final = 2
"""Steps to either side of the partner of equal rank among those with the other wish."""


def best_pairs(
    part: Part, *, limit: int | None = None, candidates: tuple[Ints, Ints] | None = None
) -> tuple[list[Pair], int]:
    """The best pairs of a part as positions, proven against all its pairs, and the steps taken.

    `candidates` replace the pairs to start from; they must hold a perfect matching.

    :raises OutOfSteps: more than `limit` steps.
    """
    edges = _edges(part, starting_pairs(part) if candidates is None else candidates)
    matcher = _started(part, edges)
    steps, widened = 0, False
    while True:
        matcher.solve(limit=None if limit is None else limit - steps)
        odd_sets = matcher.positive()
        missing = too_cheap(part, matcher.y, odd_sets)
        if not missing:
            break
        edges.extend(missing)
        if len(missing) > part.size // AFRESH:
            steps += matcher.steps
            if not widened:
                edges = list({*edges, *_edges(part, starting_pairs(part, times=WIDER))})
                edges.sort()
                widened = True
            matcher = _started(part, edges)
        else:
            matcher.offer(missing)
    pairs = [(u, v) for u, v in enumerate(matcher.mate) if u < v]
    check_sum(matcher.y, odd_sets, sum(part.full_costs(*np.array(pairs, dtype=np.int64).T)))
    return pairs, steps + matcher.steps


def _edges(part: Part, pairs: tuple[Ints, Ints]) -> list[Edge]:
    a, b = pairs
    return list(zip(a.tolist(), b.tolist(), part.full_costs(a, b), strict=True))


def _started(part: Part, edges: Sequence[Edge]) -> Matcher:
    """A matcher over these edges that starts from the library's matching and its prices, in a part of some size."""
    matcher = Matcher(part.size)
    matcher.offer(edges)
    pairs = library_matching(part.size, edges) if part.size > WHOLE else None
    if pairs is None:
        matcher.start([0] * part.size)
        return matcher
    factor = part.lot_factor
    a, b = (np.array(side, dtype=np.int64) for side in zip(*[edge[:2] for edge in edges], strict=True))
    packed = np.array([cost // factor for _, _, cost in edges], dtype=object if part.wide else np.int64)
    lots = np.array([cost % factor for _, _, cost in edges], dtype=np.int64)
    matcher.start(prices_from(pairs, a, b, packed=packed, lots=lots, lot_factor=factor), pairs)
    return matcher


def starting_pairs(part: Part, *, times: int = 1) -> tuple[Ints, Ints]:
    """Which pairs are offered first, as positions: a poor choice costs time, never the optimum.

    `times` as many of the cheapest as usual.

    The cheapest partners of each; those who rank alike among the two wishes, since a group's first-wanters and
    second-wanters are best paired in order; and stage A's pairs, so that there is a matching.
    """
    chosen = [np.array(part.start, dtype=np.int64)]
    if part.size <= WHOLE:
        chosen.append(np.stack(np.triu_indices(part.size, 1), axis=1))
    else:
        rows = (range(at, min(at + STRIP, part.size)) for at in range(0, part.size, STRIP))
        chosen += [*(_nearest(part, strip, times) for strip in rows), *_aligned(part)]
    flat = np.concatenate(chosen)
    keys = np.unique(flat.min(axis=1) * part.size + flat.max(axis=1))
    a, b = keys // part.size, keys % part.size
    legal = ~np.isin(keys, part.barred[0] * part.size + part.barred[1]) & (a != b)
    if part.crosses:
        group = part.view.arrays.group[part.members]
        legal &= group[a] != group[b]
    return a[legal], b[legal]


def _nearest(part: Part, rows: range, times: int) -> Ints:
    """For neighbours in the order, the partners who are cheapest for each among those who suit the one in the middle.

    Costs change little from one to the next, so the rest of the part need not be looked at.
    """
    centre = (rows.start + rows.stop) // 2
    by_order = part.packed_grid(np.array([centre]), np.arange(part.size), kept=False)[0]
    window = min(part.size, len(rows) + WINDOW)
    columns = np.argpartition(by_order, window - 1)[:window]
    own = np.arange(rows.start, rows.stop)
    found = []
    for nearest, kept in ((NEAREST, True), (NEAREST_BY_ORDER, False)):
        count = min(times * nearest, window - 1)
        near = np.argpartition(part.packed_grid(own, columns, kept=kept), count, axis=1)[:, :count]
        found.append(np.stack([np.repeat(own, count), columns[near].ravel()], axis=1))
        if part.kept == 0:
            break
    return np.concatenate(found)


def _aligned(part: Part) -> list[Ints]:
    wish = part.view.arrays.wish[part.members]
    first, second = np.nonzero(wish > 0)[0], np.nonzero(wish < 0)[0]
    surplus = len(second) - len(first)
    found = []
    steps = range(-ALIGNED, ALIGNED + 1)
    for shift in sorted({middle + step for middle in (0, surplus // 2, surplus) for step in steps}):
        rank = np.arange(len(first))
        fits = (rank + shift >= 0) & (rank + shift < len(second))
        found.append(np.stack([first[fits], second[rank[fits] + shift]], axis=1))
    return found
