"""The field as criteria read it: plain tuples and numpy arrays side by side, lots, and who floats where once known.

Stage A criteria need the field alone. Stage B starts when stage A has settled who floats where and who has the bye;
`View.settle` adds that, and only `order` asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.lots import Ints, Lots

Flags = NDArray[np.bool_]
Pair = tuple[int, int]
"""Two indexes of the field, the smaller one (the upper entrant) first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settled:
    """Who floats where and who has the bye, as stage A left it. Arrays over indexes, int64."""

    meets: Ints
    """The score group each entrant meets: the own one for who stays, −1 for who has the bye."""
    rank: Ints
    """Who stays: 1 … m among those left in the group, in its order. A floater: 0, 1, … among the floaters concerned,
    those of its group who meet the same group, in the group's order. −1 for who has the bye."""
    left: Ints
    """Per group: m, how many stay in it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arrays:
    """Columns of the field as int64 arrays (flags as booleans), for criteria over many pairs at once."""

    score: Ints
    group: Ints
    place: Ints
    from_bottom: Ints
    """Places above the bottom of the own group: 0 for its last entrant."""
    wish: Ints
    surplus: Ints
    may_first: Flags
    may_second: Flags
    as_upper: Ints
    """What the entrant adds to `float_history` as the upper one of a cross pair."""
    as_lower: Ints
    """What it adds as the lower one."""
    floats: Ints
    """Earlier floats in either direction."""
    club: Ints
    table: Ints
    """Round robin: index of the opponent in the table, −1 for none; empty otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """What criteria read. Make one with `view_of(field)`."""

    field: Field
    arrays: Arrays
    lots: Lots
    settled: Settled | None = None

    def settle(self, pairs: Sequence[Pair]) -> View:
        """The same view with who floats where taken from a complete draw's pairs (whoever is in none has the bye)."""
        return replace(self, settled=settle(self.field, self.arrays, pairs))


def view_of(field: Field) -> View:
    """Columns and lots of a field, made once and used for every criterion."""
    return View(
        field=field,
        arrays=_arrays(field),
        lots=Lots(lot_seed=field.regulations.lot_seed, round_number=field.round, number=field.number),
    )


def settle(field: Field, arrays: Arrays, pairs: Sequence[Pair]) -> Settled:
    """Who floats where in a complete draw given as pairs of indexes."""
    meets = np.full(field.size, -1, dtype=np.int64)
    if pairs:
        i, j = index_arrays(pairs)
        meets[i], meets[j] = arrays.group[j], arrays.group[i]
    rank = np.full(field.size, -1, dtype=np.int64)
    left = np.zeros(len(field.group_size), dtype=np.int64)
    counts: dict[tuple[int, int], int] = {}
    for index, (own, met) in enumerate(zip(field.group, meets.tolist(), strict=True)):
        if met < 0:
            continue
        count = counts.get((own, met), 0)
        counts[own, met] = count + 1
        rank[index] = count + 1 if own == met else count
    for (own, met), count in counts.items():
        if own == met:
            left[own] = count
    return Settled(meets=meets, rank=rank, left=left)


def index_arrays(pairs: Sequence[Pair]) -> tuple[Ints, Ints]:
    """Pairs of indexes as two int64 arrays (upper, lower), each of shape (len(pairs),)."""
    flat = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return flat[:, 0], flat[:, 1]


def _arrays(field: Field) -> Arrays:
    down, up = _ints(field.down_count), _ints(field.up_count)
    group, place = _ints(field.group), _ints(field.place)
    return Arrays(
        score=_ints(field.score),
        group=group,
        place=place,
        from_bottom=_ints(field.group_size)[group] - 1 - place,
        wish=_ints(field.wish),
        surplus=_ints(field.surplus),
        may_first=np.array(field.may_first, dtype=np.bool_),
        may_second=np.array(field.may_second, dtype=np.bool_),
        as_upper=_ints(field.down_weight) + up,
        as_lower=_ints(field.up_weight) + down,
        floats=down + up,
        club=_ints(field.club),
        table=_ints(field.table),
    )


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)
