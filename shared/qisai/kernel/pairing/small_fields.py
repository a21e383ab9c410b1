"""Every legal draw of a small field, the best first: what look-ahead chooses from when the best draw leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from qisai.kernel.pairing.cost import cost_of
from qisai.kernel.pairing.criteria import Combine
from qisai.kernel.pairing.look_ahead import pairings
from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.systems import PairingSystem
from qisai.kernel.pairing.view import Pair, View

Drawn = tuple[tuple[Pair, ...], int | None]
"""Pairs of indexes, sorted, and the index of who has the bye."""


def draws_best_first(view: View, system: PairingSystem) -> Iterator[Drawn]:
    """All legal draws in the order of their whole tuples. For fields that look ahead only: 12 have 10,395 draws."""
    draws = legal_draws(view)
    if not draws:
        return
    columns = _stage_a(view, system, draws)
    order = np.lexsort(columns[::-1]).tolist()
    for _, equal in groupby(order, key=lambda at: tuple(column[at] for column in columns)):
        tied = [draws[at] for at in equal]
        if len(tied) > 1:
            tied.sort(key=lambda drawn: tuple(cost_of(view.field, *drawn, system=system, view=view).values()))
        yield from tied


def legal_draws(view: View) -> list[Drawn]:
    """All draws that rules 1 to 4 of docs/rules.md section 3 allow."""
    field = view.field
    everybody = (1 << field.size) - 1
    partners = [everybody & ~(1 << i) & ~sum(1 << j for j in field.barred[i]) for i in range(field.size)]
    takers = [i for i, eligible in enumerate(field.bye_eligible) if eligible] if field.odd else [None]
    return [
        (tuple(sorted(pairs)), taker)
        for taker in takers
        for pairs in pairings(everybody if taker is None else everybody ^ 1 << taker, partners)
    ]


def _stage_a(view: View, system: PairingSystem, draws: list[Drawn]) -> list[Ints]:
    """Per criterion of stage A, its value for each draw."""
    size = view.field.size
    i = np.array([[pair[0] for pair in pairs] for pairs, _ in draws], dtype=np.int64)
    j = np.array([[pair[1] for pair in pairs] for pairs, _ in draws], dtype=np.int64)
    upper, lower = np.triu_indices(size, 1)
    columns: list[Ints] = []
    for criterion in system.stage_a:
        table = np.zeros((size, size), dtype=np.int64)
        table[upper, lower] = criterion.of_pairs(view, upper.astype(np.int64), lower.astype(np.int64))
        values = table[i, j]
        byes = np.array([0 if bye is None else criterion.of_bye(view, bye) for _, bye in draws], dtype=np.int64)
        if criterion.combine is Combine.MAX:
            columns.append(np.maximum(values.max(axis=1, initial=0), byes))
        else:
            columns.append(values.sum(axis=1) + byes)
    return columns
