"""What a criterion is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.view import View


class Combine(Enum):
    """How the values of single pairs and of the bye become the value of a draw."""

    SUM = "sum"
    MAX = "max"


def _no_bye_part(_view: View, _index: int) -> int:
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One criterion: integers, lower is better, never below 0.

    `of_pair(view, i, j)` with i < j: i is the upper entrant, with the higher score or the earlier place.
    `of_pairs(view, i, j)` is the same over int64 index arrays, i < j element by element. They have one shape, or, in
    stage B, shapes that broadcast (rows against columns), which numpy's operators and indexing deal with by themselves.
    `of_bye(view, i)` is what the bye for i adds. `needs_settled`: reads who floats where, so belongs in stage B.
    """

    name: str
    of_pair: Callable[[View, int, int], int]
    of_pairs: Callable[[View, Ints, Ints], Ints]
    of_bye: Callable[[View, int], int] = _no_bye_part
    combine: Combine = Combine.SUM
    needs_settled: bool = False
