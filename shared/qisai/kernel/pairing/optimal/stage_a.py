"""Stage A: who leaves the score group, who gets the bye; exact in the tuple of its criteria.

All criteria but `max_gap` are sums, and sums are solved at once (`sums`). The largest gap is a bound on pairs instead:
the smallest one under which the criteria before it still reach their optimum. In ordinary fields it is the one that the
parity of the groups forces, and then simple bounds prove it; otherwise it is found by bisection and proven by prices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qisai.kernel.pairing.criteria import Combine, Criterion
from qisai.kernel.pairing.optimal.certificate_gap import least_gap, least_values
from qisai.kernel.pairing.optimal.result import InfeasibleField
from qisai.kernel.pairing.optimal.structure import Classes, classes_of, tables
from qisai.kernel.pairing.optimal.sums import Priced, solve_sums
from qisai.kernel.pairing.view import View


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
        try:
            found = self._within(sums, classes, least_gap(self.view.field))
            if found.values(before) == least_values(self.view.field, before):
                return found
        except InfeasibleField:
            pass
        return self._within(sums, classes, self._smallest_gap(before, classes))

    def _within(self, criteria: Sequence[Criterion], classes: Classes, gap: int | None) -> Priced:
        packed = tables(self.view, criteria, classes=classes, largest_gap=gap)
        limit = None if self.limit is None else self.limit - self.steps
        found, steps = solve_sums(packed, limit=limit)
        self.steps += steps
        return found

    def _smallest_gap(self, before: Sequence[Criterion], classes: Classes) -> int:
        """The smallest bound on gaps under which the criteria before `max_gap` reach their optimum, by bisection."""
        scores = sorted(set(self.view.field.score))
        gaps = sorted({high - low for low in scores for high in scores if high >= low})
        best = self._within(before, classes, None).values(before)
        low, high = 0, len(gaps) - 1
        while low < high:
            middle = (low + high) // 2
            try:
                enough = self._within(before, classes, gaps[middle]).values(before) == best
            except InfeasibleField:
                enough = False
            low, high = (low, middle) if enough else (middle + 1, high)
        return gaps[low]
