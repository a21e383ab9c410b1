"""A start close to the end: a matching from the matching library, and prices read off it by shortest paths.

Neither need be right: the matcher lowers prices that are too high and matches anew where that breaks a pair. In the end
the matching is proven by the matcher's own prices, so nothing hangs on the library's habits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import rustworkx
from numpy.typing import NDArray

from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.optimal.result import Pair

LEAST_ROUNDS: Final = 40
"""Rounds of price propagation, and one more for every pair: prices travel along paths of pairs. Where odd cycles keep
them falling, more would not help."""
LIBRARY_BITS: Final = 120
"""The library computes in 128 bits with sign, and doubles weights."""


def library_matching(size: int, edges: Sequence[tuple[int, int, int]]) -> list[Pair] | None:
    """A perfect matching of small cost by the library; None where there is none or its integers do not suffice."""
    most = max(cost for _, _, cost in edges) + 1
    if (most * size).bit_length() > LIBRARY_BITS:
        return None
    graph: rustworkx.PyGraph[int, int] = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(size))
    graph.add_edges_from([(u, v, most - cost) for u, v, cost in edges])
    matching = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((min(u, v), max(u, v)) for u, v in matching) if 2 * len(matching) == size else None


def prices_from(
    pairs: Sequence[Pair], a: Ints, b: Ints, *, packed: NDArray[Any], lots: Ints, lot_factor: int
) -> list[int]:
    """Prices (doubled, as the matcher keeps them) under which `pairs` are tight and few edges too cheap.

    `a`, `b` are the edges, the pairs among them, with their packed costs and lots. Prices for the packed costs come
    first; among the edges that these leave tight, lots have prices of their own.
    """
    price = _propagated(pairs, a, b, packed)
    tight = 2 * packed - price[a] - price[b] <= 0
    lot_price = _propagated(pairs, a[tight], b[tight], lots[tight])
    return [coarse * lot_factor + fine for coarse, fine in zip(price.tolist(), lot_price.tolist(), strict=True)]


def _propagated(pairs: Sequence[Pair], a: Ints, b: Ints, cost: NDArray[Any]) -> NDArray[Any]:
    """Each vertex is told, along matched edges and others in turn, how high its price may be.

    The mean of that and of what its partner leaves it is the price.
    """
    size = 2 * len(pairs)
    mate = np.empty(size, dtype=np.int64)
    for u, v in pairs:
        mate[u], mate[v] = v, u
    source, target = np.concatenate([a, b]), np.concatenate([b, a])
    doubled = 2 * np.concatenate([cost, cost])
    by_source = np.argsort(source, kind="stable")
    source, target, doubled = source[by_source], target[by_source], doubled[by_source]
    first = np.searchsorted(source, np.arange(size))
    matched = np.empty(size, dtype=cost.dtype)
    own = mate[source] == target
    matched[source[own]] = doubled[own]
    # All even, so that the mean below is whole and the two of a pair together pay its cost.
    price = matched // 4 * 2
    # Each round can change a price by the dearest edge; 64 bits must hold it all.
    most = (1 << 61) // max(1, int(doubled.max()))
    for _ in range(min(LEAST_ROUNDS + len(pairs), most)):
        left = (matched - price[mate])[target]
        lower = np.minimum.reduceat(doubled - left, first)
        if np.array_equal(lower, price):
            break
        price = lower
    prices: NDArray[Any] = (price + matched - price[mate]) // 2
    return prices
