"""Whom an entrant would meet first, were it alone to choose: nearest score, then nearest to the ideal place.

This orders candidates for the search and for an explanation; which draw is best is for the criteria to say.
"""

from __future__ import annotations

from typing import NamedTuple

from qisai.kernel.model import WithinGroup
from qisai.kernel.pairing.field import Field


class Candidate(NamedTuple):
    """A possible partner, smaller is better: `gap` in half-points, `distance` in squared places, `at` its index."""

    gap: int
    distance: int
    at: int


def better_candidates(field: Field, at: int, against: int | None) -> list[Candidate]:
    """All whom the entrant at `at` would prefer to its opponent (None: the bye, to which everybody is preferred)."""
    candidates = sorted(candidate(field, at, other) for other in range(field.size) if other != at)
    if against is None:
        return candidates
    taken = candidate(field, at, against)
    return [other for other in candidates if other < taken]


def candidate(field: Field, at: int, other: int) -> Candidate:
    """The other entrant as a candidate for `at`."""
    gap = abs(field.score[at] - field.score[other])
    if field.group[at] == field.group[other]:
        return Candidate(gap, _distance_inside(field, at, other), other)
    if at < other:
        return Candidate(gap, field.place[other] ** 2, other)
    from_bottom = field.group_size[field.group[other]] - 1 - field.place[other]
    return Candidate(gap, from_bottom**2, other)


def ideal_partner(field: Field, at: int) -> int | None:
    """The partner the order of the whole group wishes for; None for the last of an odd group, who is over."""
    group = field.group[at]
    size, start = field.group_size[group], field.group_start[group]
    even, place = size - size % 2, field.place[at]
    if field.table:
        return field.table[at] if field.table[at] >= 0 else None
    if place == even:
        return None
    match field.within:
        case WithinGroup.ADJACENT:
            return start + (place ^ 1)
        case WithinGroup.FOLD:
            return start + even - 1 - place
        case WithinGroup.SLIDE:
            return start + (place + even // 2) % even


def _distance_inside(field: Field, at: int, other: int) -> int:
    ideal = ideal_partner(field, at)
    if ideal is None:
        return (field.place[at] - field.place[other]) ** 2
    return (ideal - other) ** 2
