"""What each result and each bye means: points, played over the board, meeting, side (docs/rules.md sections 1, 3, 9).

One table for results and one for byes. Nothing else in the product decides what a forfeit or a void game is worth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

from qisai.kernel.model import ByeKind, LateEntry, Points, Result


class Award(Enum):
    """What one entrant gets out of a round, before the event's points give it a size."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"
    """Lost over the board: the points of a loss, which need not be 0."""
    BYE = "bye"
    """The pairing bye: the event's own value."""
    NOTHING = "nothing"
    """Always 0: forfeit losses, void games, zero and absent byes, and whatever is not decided yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Meaning of one result for the two sides of a board."""

    first: Award
    second: Award
    over_the_board: bool
    """The two sat down and played: it is a meeting, gives both a side, and is a played round."""
    decided: bool = True
    """False while points are still to come (adjourned)."""
    forfeit: bool = False
    """Not played because a side failed to; `forfeit_counts_as_met` may make it a meeting."""


OUTCOMES: Final[Mapping[Result, Outcome]] = MappingProxyType(
    {
        Result.FIRST_WIN: Outcome(first=Award.WIN, second=Award.LOSS, over_the_board=True),
        Result.SECOND_WIN: Outcome(first=Award.LOSS, second=Award.WIN, over_the_board=True),
        Result.DRAW: Outcome(first=Award.DRAW, second=Award.DRAW, over_the_board=True),
        Result.FIRST_FORFEIT: Outcome(first=Award.NOTHING, second=Award.WIN, over_the_board=False, forfeit=True),
        Result.SECOND_FORFEIT: Outcome(first=Award.WIN, second=Award.NOTHING, over_the_board=False, forfeit=True),
        Result.DOUBLE_FORFEIT: Outcome(first=Award.NOTHING, second=Award.NOTHING, over_the_board=False, forfeit=True),
        Result.ADJOURNED: Outcome(first=Award.NOTHING, second=Award.NOTHING, over_the_board=True, decided=False),
        Result.VOID: Outcome(first=Award.NOTHING, second=Award.NOTHING, over_the_board=False),
    }
)

BYE_AWARDS: Final[Mapping[ByeKind, Award]] = MappingProxyType(
    {
        ByeKind.PAIRING: Award.BYE,
        ByeKind.HALF: Award.DRAW,
        ByeKind.FULL: Award.WIN,
        ByeKind.ZERO: Award.NOTHING,
        ByeKind.ABSENT: Award.NOTHING,
    }
)

LATE_ENTRY_BYES: Final[Mapping[LateEntry, ByeKind]] = MappingProxyType(
    {LateEntry.ZERO: ByeKind.ZERO, LateEntry.HALF: ByeKind.HALF}
)
"""The bye a late entrant is given for each round before entering (docs/rules.md section 8)."""


def award_half_points(award: Award, points: Points) -> int:
    """Half-points of an award under the event's points."""
    match award:
        case Award.WIN:
            return points.win
        case Award.DRAW:
            return points.draw
        case Award.LOSS:
            return points.loss
        case Award.BYE:
            return points.bye
        case Award.NOTHING:
            return 0


def standing_half_points(result: Result | None, points: Points) -> tuple[int, int]:
    """Half-points (first, second) for standings: adjourned and not reported score nothing (docs/rules.md section 9)."""
    if result is None:
        return 0, 0
    outcome = OUTCOMES[result]
    return award_half_points(outcome.first, points), award_half_points(outcome.second, points)


def pairing_half_points(result: Result | None, points: Points) -> tuple[int, int]:
    """Half-points (first, second) for pairing: an adjourned game is a draw (docs/rules.md section 9)."""
    if result is Result.ADJOURNED:
        return points.draw, points.draw
    return standing_half_points(result, points)


def bye_half_points(kind: ByeKind, points: Points) -> int:
    """Half-points of a bye; the same for pairing and for standings."""
    return award_half_points(BYE_AWARDS[kind], points)


def over_the_board(result: Result | None) -> bool:
    """Whether the two sat down and played: won, drawn, lost or adjourned. Not reported yet is not known, so False."""
    return result is not None and OUTCOMES[result].over_the_board


def gives_side(result: Result | None) -> bool:
    """Whether the board counts for sides: games over the board only, forfeits give none (docs/rules.md section 6)."""
    return over_the_board(result)


def is_meeting(result: Result | None, *, forfeit_counts_as_met: bool) -> bool:
    """Whether the two count as having met (docs/rules.md section 3, rule 2).

    A game over the board always does; a single or double forfeit only where the event says so; a void one never.
    """
    if result is None:
        return False
    outcome = OUTCOMES[result]
    return outcome.over_the_board or (forfeit_counts_as_met and outcome.forfeit)


def is_forfeit_win(result: Result | None, *, first: bool) -> bool:
    """Whether the given side won because the other failed to play; such a win counts like a bye in rule 4."""
    return result is (Result.SECOND_FORFEIT if first else Result.FIRST_FORFEIT)
