"""What stage A costs depend on, so that 12 million pairs need not be looked at one by one.

For two entrants u (upper) and v of the field, every sum criterion of stage A is of one of three kinds:

* by groups: it depends on the two score groups only (`leaders_apart`, `gap_squares`, `cross_pairs`);
* by sides: it depends on each entrant's side limits, wish and surplus only (`side_breaches`, `strong_clashes`,
  `side_clashes`), and on whether both are in the highest group;
* by floats: 0 inside a group; across groups, a part of u alone plus a part of v alone, given the other's group
  (`float_history`, `repeat_floats`, `float_places`, `float_lots`).

So entrants of one group with the same side limits, wish and surplus form a *cell*, and the cost of a pair is

    between the two cells  +  float(u, group of v)  +  float(v, group of u).

A criterion that is not listed here is of unknown structure; fields of its system are solved by `dense`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from qisai.kernel.pairing.criteria import (
    BYE_SCORE,
    BYE_UNPLAYED,
    CROSS_PAIRS,
    FLOAT_HISTORY,
    FLOAT_LOTS,
    FLOAT_PLACES,
    GAP_SQUARES,
    LEADERS_APART,
    MAX_GAP,
    REPEAT_FLOATS,
    SIDE_BREACHES,
    SIDE_CLASHES,
    STRONG_CLASHES,
    Combine,
    Criterion,
)
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.optimal.result import Pair
from qisai.kernel.pairing.view import View

BYE_ONLY: Final = frozenset({BYE_SCORE, BYE_UNPLAYED})
BY_GROUPS: Final = frozenset({LEADERS_APART, MAX_GAP, GAP_SQUARES, CROSS_PAIRS})
BY_SIDES: Final = frozenset({SIDE_BREACHES, STRONG_CLASHES, SIDE_CLASHES})
BY_FLOATS: Final = frozenset({FLOAT_HISTORY, REPEAT_FLOATS, FLOAT_PLACES, FLOAT_LOTS})


def is_structured(criteria: Sequence[Criterion]) -> bool:
    """Whether every criterion is of a known kind (one that only has the name of a known one is not)."""
    known = BYE_ONLY | BY_GROUPS | BY_SIDES | BY_FLOATS
    return all(criterion in known for criterion in criteria)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """Entrants with equal side limits, wish, surplus (zero or not) and standing (highest group or not)."""

    of: tuple[int, ...]
    """Class of each entrant."""
    example: tuple[int, ...]
    """An entrant of each class."""


def classes_of(view: View) -> Classes:
    """Sort the entrants of a field into classes, numbered by first appearance."""
    field = view.field
    numbers: dict[tuple[int, bool, bool, bool, bool], int] = {}
    example: list[int] = []
    of: list[int] = []
    keys = zip(field.wish, field.surplus, field.may_first, field.may_second, field.group, strict=True)
    for index, (wish, surplus, may_first, may_second, group) in enumerate(keys):
        key = (wish, surplus != 0, may_first, may_second, group == 0)
        number = numbers.setdefault(key, len(numbers))
        if number == len(example):
            example.append(index)
        of.append(number)
    return Classes(of=tuple(of), example=tuple(example))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Packed costs of a list of criteria, as Python integers of any size: see the module's text.

    Weights are such that one unit of a criterion outweighs everything that later criteria can add up to in any draw,
    so least total cost is least tuple.
    """

    view: View
    classes: Classes
    weights: dict[str, int]
    """Per criterion, in their order; falling."""
    reach: tuple[tuple[int, ...], ...]
    """Per group, the lower groups within the largest gap that is allowed."""
    groups: dict[tuple[int, int], int]
    """(upper group, lower group) → the part by groups."""
    sides: list[list[int]]
    """[class][class] → the part by sides."""
    floats: dict[tuple[int, int], list[int]]
    """(own group, other group) → per entrant of the own group, in its order, the part by floats."""
    byes: dict[int, int]
    """Entrant who may get the bye → the whole cost of that bye."""
    largest: int
    """No draw costs more than this."""

    def cost(self, u: int, v: int) -> int:
        """Cost of a pair within reach, u the upper entrant."""
        field = self.view.field
        g, h = field.group[u], field.group[v]
        value = self.sides[self.classes.of[u]][self.classes.of[v]]
        if g != h:
            value += self.groups[g, h] + self.floats[g, h][field.place[u]] + self.floats[h, g][field.place[v]]
        return value

    def cost_of(self, pairs: Iterable[Pair], bye: int | None) -> int:
        """Cost of a draw within reach."""
        return sum(self.cost(u, v) for u, v in pairs) + (0 if bye is None else self.byes[bye])

    def tuple_of(self, total: int) -> dict[str, int]:
        """Values of the criteria in a packed total."""
        values = {}
        for name, weight in self.weights.items():
            values[name], total = divmod(total, weight)
        return values


def tables(view: View, criteria: Sequence[Criterion], *, classes: Classes, largest_gap: int | None) -> Tables:
    """Tables of the sum criteria over pairs with a gap up to `largest_gap` half-points (None: any)."""
    field = view.field
    scores = [field.score[start] for start in field.group_start]
    count = len(scores)
    reach = tuple(
        tuple(h for h in range(g + 1, count) if largest_gap is None or scores[g] - scores[h] <= largest_gap)
        for g in range(count)
    )
    crossings = [(g, h) for g in range(count) for h in reach[g]]
    columns = [_column(view, c, crossings, classes) for c in criteria if c.combine is Combine.SUM]
    weights: dict[str, int] = {}
    later = 0
    for column in reversed(columns):
        weights[column.name] = later + 1
        later += weights[column.name] * column.bound(field.size // 2)
    weighted = [(column, weights[column.name]) for column in columns]
    zeros = [0] * len(classes.example)
    byes = [index for index in range(field.size) if field.bye_eligible[index]]
    return Tables(
        view=view,
        classes=classes,
        weights={column.name: weights[column.name] for column in columns},
        reach=reach,
        groups={key: sum(w * c.groups[key] for c, w in weighted if c.groups) for key in crossings},
        sides=[_total([(c.sides[a], w) for c, w in weighted if c.sides], zeros) for a in range(len(zeros))],
        floats=_packed_floats(field, weighted, crossings),
        byes={index: sum(w * c.byes[index] for c, w in weighted) for index in byes},
        largest=later,
    )


def _packed_floats(
    field: Field, weighted: Sequence[tuple[_Column, int]], crossings: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], list[int]]:
    keys = [key for g, h in crossings for key in ((g, h), (h, g))]
    return {
        key: _total([(c.floats[key], w) for c, w in weighted if c.floats], [0] * field.group_size[key[0]])
        for key in keys
    }


def _total(weighted: Sequence[tuple[Sequence[int], int]], zeros: Sequence[int]) -> list[int]:
    total = list(zeros)
    for values, weight in weighted:
        total = [sum_ + weight * value for sum_, value in zip(total, values, strict=True)]
    return total


@dataclass(slots=True, kw_only=True)
class _Column:
    """One criterion taken apart; the parts that its kind does not have are empty."""

    name: str
    groups: dict[tuple[int, int], int]
    sides: list[list[int]]
    floats: dict[tuple[int, int], list[int]]
    byes: dict[int, int]

    def bound(self, boards: int) -> int:
        """The most that this criterion adds up to in any draw."""
        pair = max(self.groups.values(), default=0) + max(map(max, self.sides), default=0)
        pair += max((max(up) + max(self.floats[h, g]) for (g, h), up in self.floats.items() if g < h and up), default=0)
        return boards * pair + max(self.byes.values(), default=0)


def _column(view: View, criterion: Criterion, crossings: Sequence[tuple[int, int]], classes: Classes) -> _Column:
    field = view.field
    return _Column(
        name=criterion.name,
        groups=_by_groups(view, criterion, crossings) if criterion in BY_GROUPS else {},
        sides=_by_sides(view, criterion, classes) if criterion in BY_SIDES else [],
        floats=_by_floats(view, criterion, crossings) if criterion in BY_FLOATS else {},
        byes={index: criterion.of_bye(view, index) for index in range(field.size) if field.bye_eligible[index]},
    )


def _by_groups(view: View, criterion: Criterion, crossings: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    start = np.array(view.field.group_start, dtype=np.int64)
    pairs = np.array(crossings, dtype=np.int64).reshape(-1, 2)
    values = criterion.of_pairs(view, start[pairs[:, 0]], start[pairs[:, 1]])
    return dict(zip(crossings, values.tolist(), strict=True))


def _by_sides(view: View, criterion: Criterion, classes: Classes) -> list[list[int]]:
    example = np.array(classes.example, dtype=np.int64)
    count = len(example)
    square: list[list[int]] = (
        criterion.of_pairs(view, np.repeat(example, count), np.tile(example, count)).reshape(count, count).tolist()
    )
    return square


def _by_floats(
    view: View, criterion: Criterion, crossings: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], list[int]]:
    """Split f(u, v) = a(u) + b(v): a is read off against one fixed v, b against one fixed u, less what both share."""
    field = view.field
    parts: dict[tuple[int, int], list[int]] = {}
    if not crossings:
        return parts
    upper, lower = [], []
    for g, h in crossings:
        first_up, first_low = field.group_start[g], field.group_start[h]
        ups = np.arange(first_up, first_up + field.group_size[g], dtype=np.int64)
        lows = np.arange(first_low, first_low + field.group_size[h], dtype=np.int64)
        upper += [ups, np.full(len(lows), first_up, dtype=np.int64)]
        lower += [np.full(len(ups), first_low, dtype=np.int64), lows]
    values: list[int] = criterion.of_pairs(view, np.concatenate(upper), np.concatenate(lower)).tolist()
    at = 0
    for g, h in crossings:
        middle, end = at + field.group_size[g], at + field.group_size[g] + field.group_size[h]
        shared = values[at]
        parts[g, h] = values[at:middle]
        parts[h, g] = [value - shared for value in values[middle:end]]
        at = end
    return parts
