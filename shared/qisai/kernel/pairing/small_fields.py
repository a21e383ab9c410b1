"""Every legal draw of a small field, the best first: what look-ahead chooses from when the best draw leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from qisai.kernel.pairing.criteria import Combine, Criterion
from qisai.kernel.pairing.look_ahead import Drawn
from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.systems import PairingSystem
from qisai.kernel.pairing.view import Pair, View


def draws_best_first(view: View, system: PairingSystem) -> Iterator[Drawn]:
    """All legal draws in the order of their whole tuples. For fields that look ahead only: 12 have 10,395 draws."""
    draws = legal_draws(view)
    if not draws:
        return
    columns = _values(view, system.stage_a, draws)
    order = np.lexsort(columns[::-1]).tolist()
    for _, equal in groupby(order, key=lambda at: tuple(column[at] for column in columns)):
        tied = [draws[at] for at in equal]
        yield from tied if len(tied) == 1 else _by_stage_b(view, system, tied)


def legal_draws(view: View) -> list[Drawn]:
    """All draws that rules 1 to 4 of docs/rules.md section 3 allow."""
    field = view.field
    everybody = (1 << field.size) - 1
    partners = [everybody & ~(1 << i) & ~sum(1 << j for j in field.barred[i]) for i in range(field.size)]
    takers = [i for i, eligible in enumerate(field.bye_eligible) if eligible] if field.odd else [None]
    known: dict[int, list[tuple[Pair, ...]]] = {}
    return [
        (tuple(sorted(pairs)), taker)
        for taker in takers
        for pairs in pairings(everybody if taker is None else everybody ^ 1 << taker, partners, known)
    ]


def pairings(
    free: int, partners: Sequence[int], known: dict[int, list[tuple[Pair, ...]]] | None = None
) -> list[tuple[Pair, ...]]:
    """All ways to pair the entrants whose bits are set in `free`, whoever has the fewest partners left going first.

    `partners[v]` holds whom v may meet, as bits; `known` what was found for the same partners. At most 6 calls deep.
    """
    known = {} if known is None else known
    if free in known:
        return known[free]
    ways: list[tuple[Pair, ...]] = [] if free else [()]
    known[free] = ways
    here = [v for v in range(free.bit_length()) if free >> v & 1]
    tightest = min(here, key=lambda v: (partners[v] & free).bit_count(), default=0)
    for other in here:
        if partners[tightest] >> other & 1:
            pair = (min(tightest, other), max(tightest, other))
            ways.extend((pair, *rest) for rest in pairings(free & ~(1 << tightest | 1 << other), partners, known))
    return ways


def _by_stage_b(view: View, system: PairingSystem, draws: list[Drawn]) -> list[Drawn]:
    """Draws that stage A leaves equal, in the order of stage B. Who floats where is seldom different in them."""
    columns = [np.zeros(len(draws), dtype=np.int64) for _ in system.stage_b]
    group = view.field.group
    alike: dict[tuple[object, ...], list[int]] = {}
    for at, (pairs, bye) in enumerate(draws):
        floats = [pair for pair in pairs if group[pair[0]] != group[pair[1]]]
        who = sorted((a, group[b]) for pair in floats for a, b in (pair, pair[::-1]))
        alike.setdefault((bye, *who), []).append(at)
    for members in alike.values():
        same = [draws[at] for at in members]
        settled = view.settle(same[0][0])
        for column, values in zip(columns, _values(settled, system.stage_b, same), strict=True):
            column[members] = values
    return [draws[at] for at in np.lexsort(columns[::-1]).tolist()]


def _values(view: View, criteria: Sequence[Criterion], draws: list[Drawn]) -> list[Ints]:
    """Per criterion, its value for each draw."""
    size = view.field.size
    i = np.array([[pair[0] for pair in pairs] for pairs, _ in draws], dtype=np.int64)
    j = np.array([[pair[1] for pair in pairs] for pairs, _ in draws], dtype=np.int64)
    upper, lower = np.triu_indices(size, 1)
    columns: list[Ints] = []
    for criterion in criteria:
        table = np.zeros((size, size), dtype=np.int64)
        table[upper, lower] = criterion.of_pairs(view, upper.astype(np.int64), lower.astype(np.int64))
        values = table[i, j]
        byes = np.array([0 if bye is None else criterion.of_bye(view, bye) for _, bye in draws], dtype=np.int64)
        if criterion.combine is Combine.MAX:
            columns.append(np.maximum(values.max(axis=1, initial=0), byes))
        else:
            columns.append(values.sum(axis=1) + byes)
    return columns
