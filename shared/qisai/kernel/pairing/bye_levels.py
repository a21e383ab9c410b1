"""Levels of byes: how many whoever has the bye of a round to come had before, by rule 4 (docs/rules.md section 3).

Rule 4 gives the bye to one of those with the fewest. While everybody stays, that fixes the level of each round; where
somebody will withdraw, it hangs on whether leavers had byes, and there are a few courses that the levels can take.
"""

from __future__ import annotations

from collections.abc import Sequence

Levels = tuple[int, ...]
"""Per round; −1 where an even number plays."""


def courses_of_levels(present: Sequence[int], byes: Sequence[int]) -> list[Levels]:
    """All courses the levels may take; some of them may turn out impossible.

    `present[r]`: who plays in round r, as bits; `byes`: had so far.
    """
    courses: list[Levels] = [()]
    for r, here in enumerate(present):
        if here.bit_count() % 2 == 0:
            courses = [(*course, -1) for course in courses]
            continue
        least, most = _bounds(present, byes, r)
        # Whoever stays had no fewer than the level of an earlier round, and counts only grow.
        passed = [q for q in range(r) if present[q] & here == here]
        courses = [
            (*course, level)
            for course in courses
            for level in range(max([least, *(course[q] for q in passed)]), most + 1)
        ]
    return courses


def _bounds(present: Sequence[int], byes: Sequence[int], round_: int) -> tuple[int, int]:
    """The lowest and the highest level of an odd round."""
    here = present[round_]
    counts = sorted(count for v, count in enumerate(byes) if here >> v & 1)
    least = counts[0]
    odd_before = [before for before in present[:round_] if before.bit_count() % 2]
    for _ in odd_before:
        counts[0] += 1
        counts.sort()
    # The highest where all byes before it go to entrants of this round, which is so as long as nobody else plays.
    return (counts[0] if all(before == here for before in odd_before) else least), counts[0]


def levels_due(v: int, byes: int, present: Sequence[int], levels: Levels) -> int:
    """How many byes v must have had in the end: where somebody has one at a level, nobody present is below it."""
    return max([byes, *(level for here, level in zip(present, levels, strict=True) if here >> v & 1)])
