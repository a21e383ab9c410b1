"""Criteria 3, 8 and 9: limits and wishes for a side. All 0 without a first move or where sides are not balanced."""

from __future__ import annotations

import numpy as np

from qisai.kernel.pairing.criteria.base import Criterion
from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.view import View


def side_breaches(view: View, i: int, j: int) -> int:
    """Criterion 3: pairs in which no assignment of sides keeps both inside the limits.

    No third same side in a row, surplus after this game within ±2. In the last round a pair of two who share the
    highest score present is never a breach.
    """
    field = view.field
    if field.last_round and field.group[i] == 0 and field.group[j] == 0:
        return 0
    possible = (field.may_first[i] and field.may_second[j]) or (field.may_second[i] and field.may_first[j])
    return int(not possible)


def side_breaches_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`side_breaches` over arrays."""
    first, second = view.arrays.may_first, view.arrays.may_second
    breach = ~((first[i] & second[j]) | (second[i] & first[j]))
    if view.field.last_round:
        group = view.arrays.group
        breach &= (group[i] != 0) | (group[j] != 0)
    breaches: Ints = breach.astype(np.int64)
    return breaches


def side_clashes(view: View, i: int, j: int) -> int:
    """Criterion 9: pairs in which both want the same side."""
    wish = view.field.wish
    return int(wish[i] != 0 and wish[i] == wish[j])


def side_clashes_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`side_clashes` over arrays."""
    wish = view.arrays.wish
    clashes: Ints = ((wish[i] != 0) & (wish[i] == wish[j])).astype(np.int64)
    return clashes


def strong_clashes(view: View, i: int, j: int) -> int:
    """Criterion 8: pairs in which both want the same side and neither surplus is 0."""
    surplus = view.field.surplus
    return int(surplus[i] != 0 and surplus[j] != 0 and side_clashes(view, i, j))


def strong_clashes_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`strong_clashes` over arrays."""
    surplus = view.arrays.surplus
    strong: Ints = side_clashes_of_pairs(view, i, j) * ((surplus[i] != 0) & (surplus[j] != 0))
    return strong


SIDE_BREACHES = Criterion(name="side_breaches", of_pair=side_breaches, of_pairs=side_breaches_of_pairs)
STRONG_CLASHES = Criterion(name="strong_clashes", of_pair=strong_clashes, of_pairs=strong_clashes_of_pairs)
SIDE_CLASHES = Criterion(name="side_clashes", of_pair=side_clashes, of_pairs=side_clashes_of_pairs)
