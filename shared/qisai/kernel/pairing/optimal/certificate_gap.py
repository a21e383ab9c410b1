"""Simple lower bounds for what stage A settles first: the bye, side limits, leaders apart, and the largest gap.

In most fields the best draw reaches them all, and no further proof is needed that nothing better exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from qisai.kernel.pairing.criteria import Criterion
from qisai.kernel.pairing.field import Field


def least_values(field: Field, criteria: Sequence[Criterion]) -> dict[str, int] | None:
    """A lower bound for each criterion, given that those before it are at their bounds. None: no bound is known.

    The bye cannot go lower than the lowest score of those who may get it. A highest group that is odd without the bye
    has to give one of its members away.
    """
    names = [criterion.name for criterion in criteria]
    if not set(names) <= {"bye_score", "bye_unplayed", "side_breaches", "leaders_apart"}:
        return None
    if field.odd and names[:1] != ["bye_score"]:
        return None
    bye_group = _bye_group(field)
    unplayed = (field.unplayed[i] for i in range(field.size) if field.bye_eligible[i] and field.group[i] == bye_group)
    bounds = {
        "bye_score": field.score[field.group_start[bye_group]] if bye_group >= 0 else 0,
        "bye_unplayed": min(unplayed, default=0),
        "side_breaches": 0,
        "leaders_apart": int(_above(field, bye_group)[0]) if len(field.group_size) > 1 else 0,
    }
    return {name: bounds[name] for name in names}


def least_gap(field: Field) -> int:
    """A lower bound for the largest gap, in half-points, given the bye goes to the lowest score group that may get it.

    Where an odd number of entrants has more than some score, one of them meets somebody who has not.
    """
    starts = field.group_start
    gaps = (
        field.score[starts[group]] - field.score[starts[group + 1]]
        for group, odd in enumerate(_above(field, _bye_group(field))[:-1])
        if odd
    )
    return max(gaps, default=0)


def _bye_group(field: Field) -> int:
    """The lowest group with somebody who may get the bye; −1 in an even field."""
    return max((field.group[i] for i in range(field.size) if field.bye_eligible[i]), default=-1)


def _above(field: Field, bye_group: int) -> list[bool]:
    """Per group, whether the number of entrants down to it, without the bye, is odd."""
    sizes = [size - (group == bye_group) for group, size in enumerate(field.group_size)]
    return [total % 2 == 1 for total in accumulate(sizes)]
