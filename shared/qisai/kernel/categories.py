"""Prizes by category: who belongs to one, and the places of its members among themselves.

A category only chooses rows of the standings; nothing is computed anew for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from qisai.errors import Invalid

_AGE_GROUP = re.compile(r"([us])(\d{1,2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class BirthYears:
    """Years of birth of an age group, both ends included; None: open at this end."""

    earliest: int | None = None
    latest: int | None = None


def birth_years(age_group: str, *, year: int) -> BirthYears:
    """Who belongs to `u12` (not yet 12 on 1 January of the event's `year`) or `s50` (50 in that year, or older).

    Raises `Invalid` for any other word.
    """
    match = _AGE_GROUP.fullmatch(age_group)
    if match is None:
        raise Invalid("bad-age-group", f"{age_group[:20]!r} is no age group; say u12 (under 12) or s50 (50 or older).")
    age = int(match[2])
    return BirthYears(earliest=year - age) if match[1] == "u" else BirthYears(latest=year - age)


def places(ranks: Sequence[int]) -> list[int]:
    """Places among the chosen rows, from their ranks in the whole table, best first: shared where those are shared.

    >>> places([2, 5, 5, 9])
    [1, 2, 2, 4]
    """
    found: list[int] = []
    for at, rank in enumerate(ranks):
        found.append(found[-1] if at and rank == ranks[at - 1] else at + 1)
    return found
