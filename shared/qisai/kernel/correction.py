"""What a corrected result moves: places in the table, and what later rounds would have been (docs/rules.md section 8).

Published pairings stay as they were; this only says what another history would have given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from qisai.errors import Invalid
from qisai.kernel.check import Violation, violations
from qisai.kernel.model import Board, Bye, ByeKind, Draw, DrawnBoard, NextRound, Round, Tournament
from qisai.kernel.pairing import NoLegalDraw, improve
from qisai.kernel.standings import Standings, StandingsRow

Pair = frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """An entrant whose rank, points or tie-breaks are not what they were."""

    before: StandingsRow
    after: StandingsRow


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterRound:
    """What a published round of the corrected history would have been."""

    number: int
    paired_again: bool
    """False: not paired again, since it would cost too much or the history has a board without a result."""
    agreed_before: bool | None = None
    """Whether pairing the history as it stands gives the published opponents; not so where they were changed by hand,
    degraded, or a result was corrected before. None where it was not paired again."""
    differs: tuple[Board, ...] = ()
    """Published boards whose two the corrected history would not have paired."""
    differed_before: frozenset[int] = frozenset()
    """Numbers of those of them whose two today's history does not pair either."""
    bye: tuple[int | None, int | None] | None = None
    """Who has the pairing bye as published and who would have had it, where that is not the same."""
    bye_differed_before: bool = False
    """Whether today's history gives that bye to somebody else, too."""
    breaks: tuple[Violation, ...] = ()
    """Rules that the published round breaks under the corrected history and did not before."""
    no_legal_draw: bool = False
    """The corrected history allows no draw of this round at all."""


def corrected(tournament: Tournament, *, round_no: int, board: Board) -> Tournament:
    """The tournament with another board of that number. Raises `Invalid` where the round or the board is not there."""
    if not 1 <= round_no <= len(tournament.rounds):
        raise Invalid("no-such-round", f"Round {round_no} is not given.")
    round_ = tournament.rounds[round_no - 1]
    if not any(one.board == board.board for one in round_.boards):
        raise Invalid("no-such-board", f"Round {round_no} has no board {board.board}.")
    boards = tuple(board if one.board == board.board else one for one in round_.boards)
    rounds = list(tournament.rounds)
    rounds[round_no - 1] = replace(round_, boards=boards)
    return replace(tournament, rounds=tuple(rounds))


def moves(before: Standings, after: Standings) -> list[Move]:
    """Everybody whose line changed, in the order of the new table."""
    old = {row.number: row for row in before.rows}
    return [Move(before=old[row.number], after=row) for row in after.rows if row != old[row.number]]


def later_round(before: Tournament, after: Tournament, number: int, *, budget: int | None) -> LaterRound:
    """Round `number`, which is published, compared between two histories that differ in an earlier result.

    `budget`: steps of the optimal stage for each of the two; 0 pairs nothing again and only looks at the rules.
    """
    published = before.rounds[number - 1]
    then, now = before_round(before, number), before_round(after, number)
    draw = _as_draw(published)
    old_breaks = {(one.breach, one.entrants) for one in violations(then, draw)}
    breaks = tuple(one for one in violations(now, draw) if (one.breach, one.entrants) not in old_breaks)
    if budget == 0:
        return LaterRound(number=number, paired_again=False, breaks=breaks)
    try:
        as_it_stands = _opponents(then, budget)
        as_corrected = _opponents(now, budget)
    except Invalid:  # a board without a result: this history cannot be paired
        return LaterRound(number=number, paired_again=False, breaks=breaks)
    is_published = _Opponents(pairs=frozenset(_pair(board) for board in published.boards), bye=draw.bye)
    agreed = as_it_stands == is_published
    if as_corrected is None:
        return LaterRound(number=number, paired_again=True, agreed_before=agreed, breaks=breaks, no_legal_draw=True)
    today = as_it_stands or _Opponents(pairs=frozenset(), bye=None)
    differs = sorted(
        (board for board in published.boards if _pair(board) not in as_corrected.pairs), key=lambda board: board.board
    )
    changes_bye = draw.bye != as_corrected.bye
    return LaterRound(
        number=number,
        paired_again=True,
        agreed_before=agreed,
        differs=tuple(differs),
        differed_before=frozenset(board.board for board in differs if _pair(board) not in today.pairs),
        bye=(draw.bye, as_corrected.bye) if changes_bye else None,
        bye_differed_before=changes_bye and draw.bye != today.bye,
        breaks=breaks,
    )


def before_round(tournament: Tournament, number: int) -> Tournament:
    """The tournament as it was to be paired for a round that is published: earlier rounds, and who was there."""
    published = tournament.rounds[number - 1]
    placed = {entrant for board in published.boards for entrant in (board.first, board.second)}
    placed.update(bye.entrant for bye in published.byes if bye.kind is ByeKind.PAIRING)
    asked = tuple(bye for bye in published.byes if bye.kind not in (ByeKind.PAIRING, ByeKind.ABSENT))
    elsewhere = placed | {bye.entrant for bye in asked}
    entrants = tuple(
        replace(entrant, withdrawn_from=None) if entrant.number in placed else entrant
        for entrant in tournament.entrants
    )
    absent = tuple(entrant.number for entrant in entrants if entrant.number not in elsewhere)
    return replace(
        tournament,
        entrants=entrants,
        rounds=tournament.rounds[: number - 1],
        next=NextRound(round=number, absent=absent, byes=asked),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opponents:
    pairs: frozenset[Pair]
    bye: int | None


def _opponents(tournament: Tournament, budget: int | None) -> _Opponents | None:
    """Who meets whom in the draw of this history; None where no draw is legal."""
    try:
        *_, draw = improve(tournament, budget)
    except NoLegalDraw:
        return None
    return _Opponents(pairs=frozenset(_pair(board) for board in draw.boards), bye=draw.bye)


def _pair(board: Board | DrawnBoard) -> Pair:
    return frozenset((board.first, board.second))


def _as_draw(published: Round) -> Draw:
    bye: Bye | None = next((bye for bye in published.byes if bye.kind is ByeKind.PAIRING), None)
    cost: Mapping[str, int] = MappingProxyType({})
    boards = tuple(DrawnBoard(board=board.board, first=board.first, second=board.second) for board in published.boards)
    return Draw(
        round=published.number,
        boards=boards,
        bye=None if bye is None else bye.entrant,
        cost=cost,
        cross_cap=0,
        optimal=False,
        proven=(),
    )
