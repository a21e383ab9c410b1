"""Stage A: who leaves the score group, who gets the bye; exact in the tuple of its criteria.

All criteria but `max_gap` are sums, and sums are solved at once (`sums`). The largest gap is a bound on pairs instead:
the smallest one under which the criteria before it still reach their optimum. In ordinary fields it is the one that the
parity of the groups forces, and then simple bounds prove it; otherwise it is found by bisection and proven by prices.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qisai.kernel.pairing.criteria import Combine, Criterion
from qisai.kernel.pairing.optimal.certificate_gap import least_gap, least_values
from qisai.kernel.pairing.optimal.result import InfeasibleField
from qisai.kernel.pairing.optimal.structure import Classes, classes_of, tables
from qisai.kernel.pairing.optimal.sums import Priced, solve_sums
from qisai.kernel.pairing.view import View

TRIES: Final = 3
"""Gaps tried from the least one upwards before bisection looks for the right one."""


@dataclass(slots=True, kw_only=True)
class StageA:
    """One run of stage A. `steps` grows as it goes on; `limit` bounds it (None: no bound)."""

    view: View
    criteria: Sequence[Criterion]
    limit: int | None = None
    steps: int = 0

    def solve(self) -> Priced:
        """The best draw by the criteria of stage A, with proof.

        :raises InfeasibleField: no draw is legal.
        :raises OutOfSteps: the limit was reached first.
        """
        classes = classes_of(self.view)
        at = next((at for at, c in enumerate(self.criteria) if c.combine is Combine.MAX), None)
        if at is None:
            return self._within(self.criteria, classes, None)
        before = self.criteria[:at]
        sums = [c for c in self.criteria if c.combine is Combine.SUM]
        gap = least_gap(self.view.field)
        found = self._attempt(sums, classes, gap)
        if found is not None and found.values(before) == least_values(self.view.field, before):
            return found
        return self._with_smallest_gap(sums, before, {gap: found}, classes)

    def _with_smallest_gap(
        self,
        sums: Sequence[Criterion],
        before: Sequence[Criterion],
        tried: dict[int, Priced | None],
        classes: Classes,
    ) -> Priced:
        """The best draw under the smallest bound on gaps that lets the criteria before `max_gap` be at their best."""
        best = self._within(before, classes, None).values(before)

        def reaches(found: Priced | None) -> bool:
            return found is not None and found.values(before) == best

        def enough(gap: int) -> bool:
            return reaches(tried[gap] if gap in tried else self._attempt(before, classes, gap))

        scores = set(self.view.field.score)
        gaps = sorted({high - low for low in scores for high in scores if high >= low})
        # Usually the next larger gap will do; it is tried in full, so that the draw is there at once.
        for gap in [gap for gap in gaps if gap >= min(tried)][:TRIES]:
            if gap not in tried:
                tried[gap] = self._attempt(sums, classes, gap)
            if reaches(tried[gap]):
                break
        low = max((gap for gap in tried if not enough(gap)), default=-1)
        high = min((gap for gap in tried if enough(gap)), default=gaps[-1])
        open_gaps = [gap for gap in gaps if low < gap <= high]
        smallest = open_gaps[bisect_left(open_gaps, True, key=enough)]
        return tried.get(smallest) or self._within(sums, classes, smallest)

    def _within(self, criteria: Sequence[Criterion], classes: Classes, gap: int | None) -> Priced:
        packed = tables(self.view, criteria, classes=classes, largest_gap=gap)
        limit = None if self.limit is None else self.limit - self.steps
        found, steps = solve_sums(packed, limit=limit)
        self.steps += steps
        return found

    def _attempt(self, criteria: Sequence[Criterion], classes: Classes, gap: int) -> Priced | None:
        try:
            return self._within(criteria, classes, gap)
        except InfeasibleField:
            return None
