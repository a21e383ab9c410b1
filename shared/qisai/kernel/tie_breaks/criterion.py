"""What a tie-break is: terms that add up to a value, or an order among entrants who are equal so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple

from qisai.kernel.names import Names
from qisai.kernel.tie_breaks.record import Cell, Record


class Scale(IntEnum):
    """Units of a value per point, so that every value is an exact integer."""

    UNIT = 1
    """Counts, ratings, lots."""
    HALF = 2
    """Half-points."""
    QUARTER = 4
    """Quarter-points: products of two scores in half-points."""


class Reason(StrEnum):
    """Why a term has its value; pages and the command line put it in words."""

    POINTS = "points"
    """The entrant's own points of the round."""
    ADJUSTMENT = "adjustment"
    """Points that the chief referee gave or took after a round."""
    OPPONENT_SCORE = "opponent_score"
    """The opponent's score (for FIDE's sums: adjusted for the opponent's own unplayed rounds)."""
    OPPONENT_SUM = "opponent_sum"
    """The opponent's own `opponents`."""
    COMPENSATION = "compensation"
    """No opponent met: the event's compensation."""
    DUMMY = "dummy"
    """Unplayed: a dummy opponent with one's own score, capped."""
    DUMMY_VOLUNTARY = "dummy_voluntary"
    """The same for a voluntarily unplayed round; a cut takes such a one first."""
    RUNNING_TOTAL = "running_total"
    COUNTED = "counted"
    """One game or one win."""
    RATING = "rating"
    LOT = "lot"
    MINI_TABLE = "mini_table"
    """A game among entrants equal so far."""
    MINI_TABLE_AGAIN = "mini_table_again"
    """The same among those still equal after the first mini-table."""
    NOT_MET = "not_met"
    """No decided game over the board against this equal entrant: the mini-table is incomplete."""


class Term(NamedTuple):
    """One line of the arithmetic behind a value, in the criterion's scale."""

    value: int
    reason: Reason
    round: int | None = None
    opponent: int | None = None
    """Number of the opponent."""
    code: str = ""
    """Result or bye kind of the round, where there is one."""
    counted: bool = True
    """False: shown, but not part of the value (cut, or for information)."""


Terms = Sequence[Term]


def total(terms: Terms) -> int | None:
    """The sum of the terms that count."""
    return sum(term.value for term in terms if term.counted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """A tie-break whose value comes from terms, for each entrant by itself: higher is better unless said otherwise."""

    code: str
    names: Names
    scale: Scale
    terms: Callable[[Record, int], Terms]
    """The terms of the entrant with the given index."""
    value: Callable[[Terms], int | None] = total
    """The value out of the terms; None where the entrant has none, which ranks last."""
    lower_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a tie-break among equals made of one group of them; all entrants are indexes."""

    order: Sequence[Sequence[int]]
    """The group split into groups that are still equal, best first."""
    terms: Mapping[int, Terms]
    """The arithmetic of each entrant; one with none, or absent here, has no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmongEqual:
    """A tie-break that looks only at entrants equal on everything before it."""

    code: str
    names: Names
    scale: Scale
    settle: Callable[[Record, Sequence[int]], Settlement]
    """Settles one group of at least two equal entrants."""


Criterion = Sum | AmongEqual


def term(record: Record, cell: Cell, value: int, reason: Reason) -> Term:
    """A counted term for one round of an entrant."""
    opponent = None if cell.opponent is None else record.numbers[cell.opponent]
    return Term(value, reason, cell.round, opponent, cell.meaning.code)
