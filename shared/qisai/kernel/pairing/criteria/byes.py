"""Criteria 1 and 2: who gets the bye of an odd field."""

from __future__ import annotations

import numpy as np

from qisai.kernel.pairing.criteria.base import Criterion
from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.view import View


def _no_pair_part(_view: View, _i: int, _j: int) -> int:
    return 0


def _no_pairs_part(_view: View, i: Ints, _j: Ints) -> Ints:
    return np.zeros(i.shape, dtype=np.int64)


def bye_score(view: View, index: int) -> int:
    """Criterion 1: score of the entrant who gets the bye (odd field)."""
    return view.field.score[index]


def bye_unplayed(view: View, index: int) -> int:
    """Criterion 2: earlier rounds that entrant did not play over the board."""
    return view.field.unplayed[index]


BYE_SCORE = Criterion(name="bye_score", of_pair=_no_pair_part, of_pairs=_no_pairs_part, of_bye=bye_score)
BYE_UNPLAYED = Criterion(name="bye_unplayed", of_pair=_no_pair_part, of_pairs=_no_pairs_part, of_bye=bye_unplayed)
