"""The plain exact solver: every legal pair is offered, every criterion evaluated for each.

It is what small fields are solved with, what systems with criteria of unknown structure fall back on, and the reference
against which the sparse solver is tested. Work grows with the square of the field: 200 entrants take a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from qisai.kernel.pairing.criteria import Combine, Criterion
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.optimal.alternating_tree import Unmatchable
from qisai.kernel.pairing.optimal.matcher import Matcher
from qisai.kernel.pairing.optimal.result import InfeasibleField, OptimalResult, Pair
from qisai.kernel.pairing.systems import PairingSystem
from qisai.kernel.pairing.view import View, view_of


class Offer:
    """Pairs and byes on offer, with the value of each criterion asked for. The bye is an edge to vertex `size`."""

    def __init__(self, view: View, pairs: Sequence[Pair], byes: Sequence[int]) -> None:
        self.view = view
        self.byes = list(byes)
        flat = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self.upper: Ints = flat[:, 0]
        self.lower: Ints = flat[:, 1]

    def values(self, criterion: Criterion) -> list[int]:
        """Per edge: the pairs in their order, then the byes in theirs."""
        of_pairs: list[int] = criterion.of_pairs(self.view, self.upper, self.lower).tolist() if len(self.upper) else []
        return of_pairs + [criterion.of_bye(self.view, index) for index in self.byes]

    def keep(self, flags: Sequence[bool]) -> Offer:
        """The edges whose flag is set."""
        count = len(self.upper)
        chosen = np.array(flags[:count], dtype=np.bool_)
        kept = Offer(self.view, (), [bye for bye, flag in zip(self.byes, flags[count:], strict=True) if flag])
        kept.upper, kept.lower = self.upper[chosen], self.lower[chosen]
        return kept

    def edges(self, costs: Sequence[int]) -> list[tuple[int, int, int]]:
        """Edges for the matcher."""
        nobody = self.view.field.size
        lower = self.lower.tolist() + self.byes
        upper = self.upper.tolist() + [nobody] * len(self.byes)
        return list(zip(upper, lower, costs, strict=True))


def legal_offer(view: View) -> Offer:
    """All pairs that docs/rules.md section 3 allows, and all byes."""
    field = view.field
    pairs = [(i, j) for i in range(field.size) for j in range(i + 1, field.size) if j not in field.barred[i]]
    return Offer(view, pairs, [i for i in range(field.size) if field.bye_eligible[i]])


def improve_dense(field: Field, system: PairingSystem, *, budget: int | None = None) -> Iterator[OptimalResult]:
    """First the draw of stage A, then the best draw in the tuple order of the system.

    :raises InfeasibleField: no legal draw.
    :raises OutOfSteps: `budget` steps of the matcher did not suffice.
    """
    view = view_of(field)
    work = _Work(field.size + field.size % 2, budget)
    offer = legal_offer(view)
    pairs, bye = work.stage(offer, system.stage_a)
    proven = tuple(c.name for c in system.stage_a)
    yield OptimalResult(pairs=pairs, bye=bye, optimal=False, proven=proven, steps=work.steps)
    offer.view = view.settle(pairs)
    kept = tuple(c for c in system.stage_a if c.name in system.kept)
    pairs, bye = work.stage(_as_settled(offer, bye), kept + system.stage_b)
    proven = tuple(c.name for c in system.criteria)
    yield OptimalResult(pairs=pairs, bye=bye, optimal=True, proven=proven, steps=work.steps)


def _as_settled(offer: Offer, bye: int | None) -> Offer:
    """Pairs that keep who floats where, and the one bye."""
    view = offer.view
    assert view.settled is not None
    meets, group = view.settled.meets, view.arrays.group
    fits = (meets[offer.upper] == group[offer.lower]) & (meets[offer.lower] == group[offer.upper])
    return offer.keep(fits.tolist() + [index == bye for index in offer.byes])


class _Work:
    """Matchings over one field, with one budget."""

    def __init__(self, size: int, budget: int | None) -> None:
        self.size = size
        self.budget = budget
        self.steps = 0

    def stage(self, offer: Offer, criteria: Sequence[Criterion]) -> tuple[tuple[Pair, ...], int | None]:
        """Best matching by the tuple of the criteria, in their order."""
        for at, criterion in enumerate(criteria):
            if criterion.combine is Combine.MAX:
                offer = self._within_least_maximum(offer, criteria[:at], criterion)
        sums = [criterion for criterion in criteria if criterion.combine is Combine.SUM]
        return self._match(offer, self._packed(offer, [offer.values(criterion) for criterion in sums]))

    def _within_least_maximum(self, offer: Offer, before: Sequence[Criterion], criterion: Criterion) -> Offer:
        """Drop the edges above the least possible maximum of `criterion`, given the criteria before it.

        A pair at the k-th smallest value costs more than all pairs at smaller values together, so the matching of
        least cost has the least maximum.
        """
        values = offer.values(criterion)
        level = {value: at for at, value in enumerate(sorted(set(values)))}
        columns = [offer.values(c) for c in before if c.combine is Combine.SUM]
        base = self.size
        columns.append([base ** level[value] for value in values])
        pairs, bye = self._match(offer, self._packed(offer, columns))
        chosen = set(pairs)
        edges = zip(offer.upper.tolist(), offer.lower.tolist(), strict=True)
        flags = [edge in chosen for edge in edges] + [index == bye for index in offer.byes]
        least = max(value for value, flag in zip(values, flags, strict=True) if flag)
        return offer.keep([value <= least for value in values])

    def _packed(self, offer: Offer, columns: Sequence[Sequence[int]]) -> list[int]:
        """One integer per edge in which a difference in an earlier column outweighs everything later."""
        count = len(offer.upper) + len(offer.byes)
        packed = [0] * count
        for column in columns:
            factor = max(column, default=0) * (self.size // 2) + 1
            packed = [whole * factor + value for whole, value in zip(packed, column, strict=True)]
        return packed

    def _match(self, offer: Offer, costs: Sequence[int]) -> tuple[tuple[Pair, ...], int | None]:
        size = offer.view.field.size
        matcher = Matcher(self.size)
        matcher.offer(offer.edges(costs))
        cheapest = [min(edges.values(), default=0) // 2 for edges in matcher.neighbours]
        matcher.start(cheapest)
        try:
            matcher.solve(limit=None if self.budget is None else self.budget - self.steps)
        except Unmatchable:
            raise InfeasibleField from None
        finally:
            self.steps += matcher.steps
        mate = matcher.mate
        pairs = tuple((i, mate[i]) for i in range(size) if i < mate[i] < size)
        return pairs, mate[size] if self.size > size else None
