"""Who may be paired with whom under rules 2 to 4 of docs/rules.md section 3, as bits for exact matching."""

from __future__ import annotations

from qisai.kernel.pairing.field import Field


def legal_graph(field: Field, *, rematches: bool = False, forbidden: bool = False, any_bye: bool = False) -> list[int]:
    """Neighbours of each index as bits; in an odd field index `field.size` is the bye, the neighbour of who may get it.

    `rematches`, `forbidden`, `any_bye` lift one rule each, to see which one stands in the way.
    """
    size = field.size
    everybody = (1 << size) - 1
    graph = []
    for index, barred in enumerate(field.barred):
        met = field.met[index]
        kept = [other for other in barred if not (rematches if other in met else forbidden)]
        mask = 1 << index
        for other in kept:
            mask |= 1 << other
        graph.append(everybody & ~mask)
    if field.odd:
        takers = [index for index in range(size) if any_bye or field.bye_eligible[index]]
        for index in takers:
            graph[index] |= 1 << size
        graph.append(sum(1 << index for index in takers))
    return graph
