"""Criteria 4 to 7: leaders meet, then equal scores."""

from __future__ import annotations

import numpy as np

from qisai.kernel.pairing.criteria.base import Combine, Criterion
from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.view import View


def leaders_apart(view: View, i: int, j: int) -> int:
    """Criterion 4: pairs across groups whose upper entrant is in the highest score group present."""
    group = view.field.group
    return int(group[i] == 0 and group[j] != 0)


def leaders_apart_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`leaders_apart` over arrays."""
    group = view.arrays.group
    apart: Ints = ((group[i] == 0) & (group[j] != 0)).astype(np.int64)
    return apart


def gap(view: View, i: int, j: int) -> int:
    """Score gap of a pair in half-points; criterion 5 is the largest of any pair."""
    return view.field.score[i] - view.field.score[j]


def gap_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`gap` over arrays."""
    score = view.arrays.score
    return score[i] - score[j]


def gap_squares(view: View, i: int, j: int) -> int:
    """Criterion 6: sum of squared score gaps."""
    return gap(view, i, j) ** 2


def gap_squares_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`gap_squares` over arrays."""
    return gap_of_pairs(view, i, j) ** 2


def cross_pairs(view: View, i: int, j: int) -> int:
    """Criterion 7: number of pairs across score groups."""
    return int(view.field.group[i] != view.field.group[j])


def cross_pairs_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`cross_pairs` over arrays."""
    group = view.arrays.group
    crosses: Ints = (group[i] != group[j]).astype(np.int64)
    return crosses


LEADERS_APART = Criterion(name="leaders_apart", of_pair=leaders_apart, of_pairs=leaders_apart_of_pairs)
MAX_GAP = Criterion(name="max_gap", of_pair=gap, of_pairs=gap_of_pairs, combine=Combine.MAX)
GAP_SQUARES = Criterion(name="gap_squares", of_pair=gap_squares, of_pairs=gap_squares_of_pairs)
CROSS_PAIRS = Criterion(name="cross_pairs", of_pair=cross_pairs, of_pairs=cross_pairs_of_pairs)
