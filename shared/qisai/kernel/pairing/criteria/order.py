"""Stage B: the order inside score groups, clubs in round 1, and the lots of pairs. And the table of a round robin."""

from __future__ import annotations

import numpy as np

from qisai.kernel.model import WithinGroup
from qisai.kernel.pairing.criteria.base import Criterion
from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.view import Settled, View


def order(view: View, i: int, j: int) -> int:
    """Criterion 13: inside a score group, squared distance from the ideal partner; across two, of the floaters' places.

    Inside, over those left in the group (an even number m, renumbered 1 … m in its order): `adjacent` (j − i − 1)²,
    `fold` (i + j − m − 1)², `slide` (j − i − m/2)². Between each two groups, over their cross pairs, the squared
    difference of the two entrants' places among the floaters concerned.
    """
    settled, group = _settled(view), view.field.group
    upper, lower = int(settled.rank[i]), int(settled.rank[j])
    if group[i] != group[j]:
        return (upper - lower) ** 2
    m = int(settled.left[group[i]])
    match view.field.within:
        case WithinGroup.ADJACENT:
            return (lower - upper - 1) ** 2
        case WithinGroup.FOLD:
            return (upper + lower - m - 1) ** 2
        case WithinGroup.SLIDE:
            return (lower - upper - m // 2) ** 2


def order_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`order` over arrays."""
    settled, group = _settled(view), view.arrays.group
    upper, lower = settled.rank[i], settled.rank[j]
    m = settled.left[group[i]]
    match view.field.within:
        case WithinGroup.ADJACENT:
            inside = lower - upper - 1
        case WithinGroup.FOLD:
            inside = upper + lower - m - 1
        case WithinGroup.SLIDE:
            inside = lower - upper - m // 2
    distance: Ints = np.where(group[i] == group[j], inside, upper - lower)
    return distance**2


def _settled(view: View) -> Settled:
    if view.settled is None:
        raise ValueError("`order` is a criterion of stage B: settle who floats where first (View.settle)")
    return view.settled


def club_pairs(view: View, i: int, j: int) -> int:
    """Round 1 with same-club avoidance: pairs of one club (docs/rules.md section 5)."""
    club = view.field.club
    return int(club[i] >= 0 and club[i] == club[j])


def club_pairs_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`club_pairs` over arrays."""
    club = view.arrays.club
    same: Ints = ((club[i] >= 0) & (club[i] == club[j])).astype(np.int64)
    return same


def pair_lots(view: View, i: int, j: int) -> int:
    """Criterion 14: sum of the lots of all pairs."""
    return view.lots.pair(i, j)


def pair_lots_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`pair_lots` over arrays."""
    return view.lots.pairs(i, j)


def table_misses(view: View, i: int, j: int) -> int:
    """Round robin: pairs that are not those of the Berger table in this round (absences make some unavoidable)."""
    return int(view.field.table[i] != j)


def table_misses_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`table_misses` over arrays."""
    missed: Ints = (view.arrays.table[i] != j).astype(np.int64)
    return missed


ORDER = Criterion(name="order", of_pair=order, of_pairs=order_of_pairs, needs_settled=True)
CLUB_PAIRS = Criterion(name="club_pairs", of_pair=club_pairs, of_pairs=club_pairs_of_pairs)
PAIR_LOTS = Criterion(name="pair_lots", of_pair=pair_lots, of_pairs=pair_lots_of_pairs)
TABLE_MISSES = Criterion(name="table_misses", of_pair=table_misses, of_pairs=table_misses_of_pairs)
