"""Whether all rounds to come can be filled, and what the first of them may look like then: how look-ahead is decided.

Attempts begin anew in another order, each with more steps than the last, because a search that has gone astray early
seldom comes back; what was found to lead nowhere is remembered. The last attempt is complete, so the answer is exact.
For fields that look ahead only: at most 12 entrants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qisai.kernel.pairing.bye_levels import courses_of_levels
from qisai.kernel.pairing.timetable_search import Astray, Place, TimetableSearch

FIRST_STEPS: Final = 60
"""Steps of the first attempt; each further one has a third more."""


class Timetable:
    """Rounds of entrants 0 … size − 1, under rules 1 to 4 of docs/rules.md section 3."""

    def __init__(self, present: Sequence[int], partners: Sequence[Sequence[int]], byes: Sequence[int]) -> None:
        """`present[r]`: who plays in round r, `partners[r][v]`: whom v may meet in it, as bits; `byes`: had so far."""
        courses = courses_of_levels(present, byes) if all(present) else []
        self._courses = [TimetableSearch(present, partners, byes, levels) for levels in courses]

    @property
    def steps(self) -> int:
        """Steps taken for all questions so far."""
        return sum(course.steps for course in self._courses)

    def filled(self, fixed: frozenset[Place] = frozenset()) -> frozenset[Place] | None:
        """What the first round may look like with these places in it, if all rounds can be filled; else None."""
        open_ = self._courses
        attempt, steps = 0, FIRST_STEPS
        while open_:
            astray = []
            for course in open_:
                try:
                    taken = course.fill(fixed, attempt=attempt, steps=steps)
                except Astray:
                    astray.append(course)
                    continue
                if taken is not None:
                    return frozenset((*fixed, *taken))
            open_ = astray
            attempt += 1
            steps += steps // 3
        return None

    def is_counted_out(self, fixed: frozenset[Place]) -> bool:
        """Whether the first look at these places in the first round shows already that the rounds cannot be filled."""
        return all(course.is_counted_out(fixed) for course in self._courses)
