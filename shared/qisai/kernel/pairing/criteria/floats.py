"""Criteria 10 to 12: who leaves the score group. Each is a sum over the cross pairs; 11 and 12 look at the bye too."""

from __future__ import annotations

import numpy as np

from qisai.kernel.pairing.criteria.base import Criterion
from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.view import View


def _crosses(view: View, i: int, j: int) -> bool:
    return view.field.group[i] != view.field.group[j]


def _crosses_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    group = view.arrays.group
    crosses: Ints = (group[i] != group[j]).astype(np.int64)
    return crosses


def float_history(view: View, i: int, j: int) -> int:
    """Criterion 10: over the cross pairs, the upper entrant's earlier down-floats and the lower one's up-floats.

    At 8 (last round), 4 (the round before), 2 (older) each; floats in the other direction at 1 each.
    """
    if not _crosses(view, i, j):
        return 0
    field = view.field
    return field.down_weight[i] + field.up_count[i] + field.up_weight[j] + field.down_count[j]


def float_history_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`float_history` over arrays."""
    return _crosses_of_pairs(view, i, j) * (view.arrays.as_upper[i] + view.arrays.as_lower[j])


def repeat_floats(view: View, i: int, j: int) -> int:
    """Criterion 10': over the cross pairs, how often its two entrants had floated before, summed."""
    if not _crosses(view, i, j):
        return 0
    field = view.field
    return field.down_count[i] + field.up_count[i] + field.down_count[j] + field.up_count[j]


def repeat_floats_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`repeat_floats` over arrays."""
    return _crosses_of_pairs(view, i, j) * (view.arrays.floats[i] + view.arrays.floats[j])


def places_above_bottom(view: View, index: int) -> int:
    """Places above the bottom of the own group: 0 for its last entrant."""
    field = view.field
    return field.group_size[field.group[index]] - 1 - field.place[index]


def float_places(view: View, i: int, j: int) -> int:
    """Criterion 11: over the cross pairs, (places above the bottom of the upper group)² + (places below the top of the
    lower group)²."""
    return places_above_bottom(view, i) ** 2 + view.field.place[j] ** 2 if _crosses(view, i, j) else 0


def float_places_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`float_places` over arrays."""
    return _crosses_of_pairs(view, i, j) * (view.arrays.from_bottom[i] ** 2 + view.arrays.place[j] ** 2)


def float_places_of_bye(view: View, index: int) -> int:
    """Criterion 11, for the bye: (places above the bottom of its group)²."""
    return places_above_bottom(view, index) ** 2


def float_lots(view: View, i: int, j: int) -> int:
    """Criterion 12: sum of the lots of all who float, each with the score of the group it meets."""
    if not _crosses(view, i, j):
        return 0
    score = view.field.score
    return view.lots.floater(i, score[j]) + view.lots.floater(j, score[i])


def float_lots_of_pairs(view: View, i: Ints, j: Ints) -> Ints:
    """`float_lots` over arrays."""
    lots = np.zeros(i.shape, dtype=np.int64)
    cross = _crosses_of_pairs(view, i, j) == 1
    score, upper, lower = view.arrays.score, i[cross], j[cross]
    lots[cross] = view.lots.floaters(upper, score[lower]) + view.lots.floaters(lower, score[upper])
    return lots


def float_lots_of_bye(view: View, index: int) -> int:
    """Criterion 12: and of who gets the bye."""
    return view.lots.bye(index)


FLOAT_HISTORY = Criterion(name="float_history", of_pair=float_history, of_pairs=float_history_of_pairs)
REPEAT_FLOATS = Criterion(name="repeat_floats", of_pair=repeat_floats, of_pairs=repeat_floats_of_pairs)
FLOAT_PLACES = Criterion(
    name="float_places", of_pair=float_places, of_pairs=float_places_of_pairs, of_bye=float_places_of_bye
)
FLOAT_LOTS = Criterion(name="float_lots", of_pair=float_lots, of_pairs=float_lots_of_pairs, of_bye=float_lots_of_bye)
