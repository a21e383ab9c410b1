"""What can be counted out about rounds to come, before any of them is drawn: byes by level, and sets of entrants.

Both tests are necessary conditions: where one fails, the rounds cannot be filled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float32]


class Demand(NamedTuple):
    """A bye that an entrant must still have, in a round of this level."""

    entrant: int
    level: int


def byes_have_rounds(demands: Sequence[Demand], takers: Sequence[int], levels: Sequence[int]) -> bool:
    """Whether each demand finds a round of its own.

    `takers[r]`: who may still have the bye in round r, as bits; `levels[r]`: how many whoever has it had before.
    A bipartite matching by augmenting paths, as deep as there are rounds.
    """
    owner: dict[int, Demand] = {}

    def finds(demand: Demand, tried: set[int]) -> bool:
        for r, who in enumerate(takers):
            if who >> demand.entrant & 1 and levels[r] == demand.level and r not in tried:
                tried.add(r)
                if r not in owner or finds(owner[r], tried):
                    owner[r] = demand
                    return True
        return False

    return all(finds(demand, set()) for demand in demands)


def pairs_suffice(size: int, often: Iterable[tuple[int, int, int]], open_places: Sequence[int]) -> bool:
    """Whether every set of vertices has enough pairs inside and across for the places open in it.

    `often` lists pairs (v, w) and how often each may still meet; `open_places[r]`: who has no place yet in round r, as
    bits. The last of the `size` vertices is the bye.

    For a set S with D places open in it: 2 · inside + across = D, and likewise for the others. Inside there are no
    more pairs than left, nor than half of S, rounded down, in each round. Across there are no more than the smaller
    part in each round, nor than each vertex on the other side has pairs with S, or rounds. Odd components, entrants
    who have only each other, and rounds that lack pairs are all caught by this. All numbers are exact in float32.
    """
    active = [v for v in range(size) if any(open_ >> v & 1 for open_ in open_places)]
    if not active:
        return True
    at = {v: row for row, v in enumerate(active)}
    pairs = np.zeros((len(active), len(active)), dtype=np.float32)
    for v, w, times in often:
        if v in at and w in at:
            pairs[at[v], at[w]] = pairs[at[w], at[v]] = times
    places = np.array([[open_ >> v & 1 for v in active] for open_ in open_places if open_], dtype=np.float32)
    within, without = _sets(len(active))
    with_set = pairs @ within
    with_rest = pairs.sum(axis=1, keepdims=True) - with_set
    rounds = places.sum(axis=0)[:, None]
    in_set = places @ within
    in_rest = places.sum(axis=1, keepdims=True) - in_set
    inside = np.minimum((with_set * within).sum(axis=0), (2 * np.floor(in_set / 2)).sum(axis=0))
    outside = np.minimum((with_rest * without).sum(axis=0), (2 * np.floor(in_rest / 2)).sum(axis=0))
    fewest = np.maximum(in_set.sum(axis=0) - inside, in_rest.sum(axis=0) - outside)
    most = np.minimum(
        np.minimum(
            (np.minimum(with_set, rounds) * without).sum(axis=0), (np.minimum(with_rest, rounds) * within).sum(axis=0)
        ),
        np.minimum(in_set, in_rest).sum(axis=0),
    )
    return bool((fewest <= most).all())


@cache
def _sets(size: int) -> tuple[_Floats, _Floats]:
    """All sets without the last of `size` vertices as columns of 0 and 1, and their complements."""
    within = (np.arange(1 << (size - 1)) >> np.arange(size)[:, None] & 1).astype(np.float32)
    return within, 1 - within
