"""Who moves first, or sits left, once opponents are fixed (docs/rules.md section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # pairing imports this module
    from qisai.kernel.pairing.field import Field


class SideRule(StrEnum):
    """The rule that decided, in the order they are asked."""

    TABLE = "table"
    """Round robin: the Berger table gives the sides of its own pairs."""
    LIMITS = "limits"
    """6.1: exactly one assignment keeps both inside the limits, or has fewer entrants outside."""
    WISHES = "wishes"
    """6.2: wishes that do not clash are granted."""
    SURPLUS = "surplus"
    """6.3: the smaller surplus moves first."""
    ALTERNATE = "alternate"
    """6.4: at the latest game in which the two had different sides, they alternate."""
    NUMBER = "number"
    """6.4: the smaller number moves first if it is odd, the larger if it is even."""
    LEFT_SEATS = "left_seats"
    """No first move, `seat_balance`: who sat left more often sits right."""
    SMALLER_LEFT = "smaller_left"
    """No first move: the smaller number sits left."""
    BY_HAND = "by_hand"
    """The draw has the other assignment than the rules give: a person set it."""


@dataclass(frozen=True, slots=True)
class Seating:
    """Indexes of the field: `first` moves first (sits left), and the rule that said so."""

    first: int
    second: int
    rule: SideRule


def seat_pair(field: Field, i: int, j: int) -> Seating:
    """Sides of one pair of indexes, whichever is named first."""
    if not field.regulations.first_move:
        return _seats(field, i, j)
    if field.table_first and field.table[i] == j:
        return _seating(i, j, i_first=field.table_first[i], rule=SideRule.TABLE)
    if field.balances_sides:
        outside = _outside(field, i, j) - _outside(field, j, i)
        if outside:
            return _seating(i, j, i_first=outside < 0, rule=SideRule.LIMITS)
        wish_i, wish_j = field.wish[i], field.wish[j]
        if wish_i != wish_j:
            return _seating(i, j, i_first=wish_i > wish_j, rule=SideRule.WISHES)
        if field.surplus[i] != field.surplus[j]:
            return _seating(i, j, i_first=field.surplus[i] < field.surplus[j], rule=SideRule.SURPLUS)
    return _alternate(field, i, j)


def _outside(field: Field, first: int, second: int) -> int:
    """How many of the two this assignment puts outside the limits of criterion 3."""
    return (not field.may_first[first]) + (not field.may_second[second])


def _alternate(field: Field, i: int, j: int) -> Seating:
    """6.4: the two lists of sides, from the latest game back, game by game, as far as both go."""
    for side_i, side_j in zip(reversed(field.sides[i]), reversed(field.sides[j]), strict=False):
        if side_i != side_j:
            return _seating(i, j, i_first=side_i < side_j, rule=SideRule.ALTERNATE)
    smaller = min(field.number[i], field.number[j])
    smaller_is_i = field.number[i] == smaller
    return _seating(i, j, i_first=smaller_is_i == (smaller % 2 == 1), rule=SideRule.NUMBER)


def _seats(field: Field, i: int, j: int) -> Seating:
    """Seats of a game without a first move: `first` is the left seat."""
    left_i, left_j = field.left_seats[i], field.left_seats[j]
    if field.regulations.seat_balance and left_i != left_j:
        return _seating(i, j, i_first=left_i < left_j, rule=SideRule.LEFT_SEATS)
    return _seating(i, j, i_first=field.number[i] < field.number[j], rule=SideRule.SMALLER_LEFT)


def _seating(i: int, j: int, *, i_first: bool, rule: SideRule) -> Seating:
    return Seating(i, j, rule) if i_first else Seating(j, i, rule)
