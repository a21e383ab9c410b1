"""What each entrant did in each round, compiled once: the only thing tie-breaks read.

Entrants are *indexes* here (0 … n − 1, by number ascending). Rounds after the last one counted do not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeVar

from qisai.kernel.model import Adjustment, ByeKind, Points, Regulations, Result, Tournament
from qisai.kernel.outcomes import (
    BYE_AWARDS,
    OUTCOMES,
    Award,
    bye_half_points,
    is_meeting,
    over_the_board,
    standing_half_points,
)

T = TypeVar("T")

NOT_REPORTED: Final = "not_reported"
"""Code of a round whose board has no result."""

REQUESTED_BYES = frozenset({ByeKind.HALF, ByeKind.FULL, ByeKind.ZERO, ByeKind.ABSENT})
"""Byes an entrant chose or caused, unlike the pairing bye of an odd field (docs/rules.md section 9)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What one round was for one entrant, whoever the opponent and whichever the round."""

    code: str
    """The result or bye kind as files write it; `not_reported` for a board without a result."""
    award: Award
    points: int
    """Half-points for standings."""
    over_the_board: bool
    decided: bool
    met: bool
    """Counts as a meeting with the opponent, by the event's rule on forfeits."""
    forfeit: bool = False
    requested: bool = False
    voluntary: bool = False
    """Voluntarily unplayed in the sense of FIDE C.07: requested byes, absences, own forfeits."""
    second: bool = False
    """Sat on the second side."""

    @property
    def pending(self) -> bool:
        """The round is being played: nothing about it is known yet."""
        return self.code == NOT_REPORTED

    @property
    def unplayed(self) -> bool:
        """Known not to have been played over the board."""
        return not self.over_the_board and not self.pending


class Cell(NamedTuple):
    """One entrant's round: number of the round, index of the opponent (None: no board), and what it meant."""

    round: int
    opponent: int | None
    meaning: Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """All rounds up to the last one counted."""

    tournament: Tournament
    rounds: int
    """Number of rounds counted."""
    numbers: tuple[int, ...]
    """Number of each entrant; ascending."""
    cells: tuple[tuple[Cell, ...], ...]
    """Per entrant, one cell a round, in round order."""
    scores: tuple[int, ...]
    """Half-points from boards and byes after the last round counted: what every tie-break reads."""
    adjustments: tuple[tuple[Adjustment, ...], ...]
    """Per entrant, the chief referee's adjustments that count after that round."""
    memo: dict[Callable[[Record], Any], Any]
    """What `once` has computed; the record itself never changes."""

    @property
    def totals(self) -> tuple[int, ...]:
        """Half-points that rank: scores with adjustments (docs/rules.md section 9)."""
        if not any(self.adjustments):
            return self.scores
        return tuple(
            score + sum(one.half_points for one in given)
            for score, given in zip(self.scores, self.adjustments, strict=True)
        )

    @property
    def regulations(self) -> Regulations:
        """The event's regulations."""
        return self.tournament.regulations

    def once(self, compute: Callable[[Record], T]) -> T:
        """`compute(self)`, computed at the first call only: for values of all entrants that several entrants need."""
        if compute not in self.memo:
            self.memo[compute] = compute(self)
        value: T = self.memo[compute]
        return value


def compile_record(tournament: Tournament, *, rounds: int) -> Record:
    """The record of the first `rounds` rounds; nothing later is looked at."""
    numbers = tuple(sorted(entrant.number for entrant in tournament.entrants))
    index = {number: i for i, number in enumerate(numbers)}
    regulations = tournament.regulations
    on_board = {result: _board_meanings(result, regulations) for result in (None, *Result)}
    on_bye = {kind: _bye_meaning(kind, regulations.points) for kind in ByeKind}
    columns: list[list[Cell]] = []
    for round_ in tournament.rounds[:rounds]:
        column = [Cell(round_.number, None, on_bye[ByeKind.ABSENT])] * len(numbers)
        for board in round_.boards:
            i, j = index[board.first], index[board.second]
            first, second = on_board[board.result]
            column[i] = Cell(round_.number, j, first)
            column[j] = Cell(round_.number, i, second)
        for bye in round_.byes:
            column[index[bye.entrant]] = Cell(round_.number, None, on_bye[bye.kind])
        columns.append(column)
    cells = tuple(zip(*columns, strict=True)) if columns else ((),) * len(numbers)
    return Record(
        tournament=tournament,
        rounds=rounds,
        numbers=numbers,
        cells=cells,
        scores=tuple(sum(cell.meaning.points for cell in row) for row in cells),
        adjustments=_adjustments(tournament, index, rounds=rounds),
        memo={},
    )


def _adjustments(tournament: Tournament, index: dict[int, int], *, rounds: int) -> tuple[tuple[Adjustment, ...], ...]:
    given: list[list[Adjustment]] = [[] for _ in index]
    for adjustment in tournament.adjustments:
        if adjustment.after_round <= rounds:
            given[index[adjustment.entrant]].append(adjustment)
    return tuple(tuple(row) for row in given)


def _board_meanings(result: Result | None, regulations: Regulations) -> tuple[Meaning, Meaning]:
    if result is None:
        first = Meaning(
            code=NOT_REPORTED, award=Award.NOTHING, points=0, over_the_board=False, decided=False, met=False
        )
        return first, replace(first, second=True)
    outcome = OUTCOMES[result]
    met = is_meeting(result, forfeit_counts_as_met=regulations.forfeit_counts_as_met)

    def side(award: Award, points: int, *, second: bool) -> Meaning:
        return Meaning(
            code=result.value,
            award=award,
            points=points,
            over_the_board=over_the_board(result),
            decided=outcome.decided,
            met=met,
            forfeit=outcome.forfeit,
            voluntary=outcome.forfeit and award is not Award.WIN,
            second=second,
        )

    first_points, second_points = standing_half_points(result, regulations.points)
    return side(outcome.first, first_points, second=False), side(outcome.second, second_points, second=True)


def _bye_meaning(kind: ByeKind, points: Points) -> Meaning:
    return Meaning(
        code=kind.value,
        award=BYE_AWARDS[kind],
        points=bye_half_points(kind, points),
        over_the_board=False,
        decided=True,
        met=False,
        requested=kind in REQUESTED_BYES,
        voluntary=kind in REQUESTED_BYES,
    )
