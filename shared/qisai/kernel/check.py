"""Whether a draw may stand: rules 1 to 4 of docs/rules.md section 3, checked without any of the code that makes draws.

Runs before any draw is saved, on draws of every origin: computed, reused, edited or made by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from qisai.kernel.model import ByeKind, Draw, Result, Tournament
from qisai.kernel.outcomes import is_forfeit_win, is_meeting


class Breach(StrEnum):
    """Which rule is broken; the number is the item of docs/rules.md section 3."""

    WRONG_ROUND = "wrong_round"
    """1: the draw is for another round than the next one."""
    EMPTY_POOL = "empty_pool"
    """1: nobody is present."""
    NOT_PRESENT = "not_present"
    """1: somebody withdrawn, absent, with a requested bye or not in the event appears."""
    MISSING = "missing"
    """1: somebody present appears nowhere."""
    TWICE = "twice"
    """1: somebody appears more than once, or against itself."""
    BOARD_TWICE = "board_twice"
    """1: two boards have one number."""
    REMATCH = "rematch"
    """2: the two have met."""
    FORBIDDEN_PAIR = "forbidden_pair"
    """3: the two must not meet in this round."""
    NO_BYE = "no_bye"
    """4: an odd field without a bye."""
    BYE_IN_EVEN_FIELD = "bye_in_even_field"
    """4: an even field with a bye."""
    BYE_OUT_OF_TURN = "bye_out_of_turn"
    """4: somebody present had fewer byes so far."""
    BYES_OFF = "byes_off"
    """`allow_bye` is off and somebody has the bye."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One broken rule: which, by whom, and what a page needs to put it in words (`context`, JSON-able)."""

    breach: Breach
    entrants: tuple[int, ...] = ()
    board: int | None = None
    detail: str
    context: Mapping[str, Any] = field(default_factory=dict)


def violations(tournament: Tournament, draw: Draw) -> list[Violation]:
    """Everything that is wrong with a draw of the tournament's next round; empty means it may be saved."""
    present = _present(tournament)
    return [
        *_wrong_round(tournament, draw),
        *_places(tournament, draw, present),
        *_rematches(tournament, draw),
        *_forbidden(tournament, draw),
        *_bye(tournament, draw, present),
    ]


def _present(tournament: Tournament) -> set[int]:
    drawing, pool = tournament.next_round, tournament.next
    away = {*pool.absent, *(bye.entrant for bye in pool.byes)} if pool is not None else set()
    return {
        entrant.number
        for entrant in tournament.entrants
        if entrant.number not in away and not (entrant.withdrawn_from is not None and entrant.withdrawn_from <= drawing)
    }


def _wrong_round(tournament: Tournament, draw: Draw) -> Iterator[Violation]:
    if draw.round != tournament.next_round:
        yield Violation(
            breach=Breach.WRONG_ROUND,
            detail=f"the draw is for round {draw.round}, but round {tournament.next_round} is next",
            context={"round": draw.round, "next_round": tournament.next_round},
        )


def _places(tournament: Tournament, draw: Draw, present: set[int]) -> Iterator[Violation]:
    """Every present entrant exactly once, nobody else, every board number once."""
    if not present:
        yield Violation(breach=Breach.EMPTY_POOL, detail="nobody is present in this round")
    placed = Counter([entrant for board in draw.boards for entrant in (board.first, board.second)])
    if draw.bye is not None:
        placed[draw.bye] += 1
    for entrant in sorted(placed.keys() - present):
        yield Violation(
            breach=Breach.NOT_PRESENT, entrants=(entrant,), detail=f"entrant {entrant} {_why_away(tournament, entrant)}"
        )
    for entrant in sorted(present - placed.keys()):
        yield Violation(breach=Breach.MISSING, entrants=(entrant,), detail=f"entrant {entrant} appears nowhere")
    for entrant, count in sorted(placed.items()):
        if count > 1:
            detail = f"entrant {entrant} appears {count} times"
            yield Violation(breach=Breach.TWICE, entrants=(entrant,), detail=detail, context={"count": count})
    for number, count in sorted(Counter(board.board for board in draw.boards).items()):
        if count > 1:
            detail = f"board {number} is given to {count} pairs"
            yield Violation(breach=Breach.BOARD_TWICE, board=number, detail=detail, context={"count": count})


def _why_away(tournament: Tournament, number: int) -> str:
    entrant = next((entrant for entrant in tournament.entrants if entrant.number == number), None)
    if entrant is None:
        return "is not in the event"
    if entrant.withdrawn_from is not None and entrant.withdrawn_from <= tournament.next_round:
        return f"is withdrawn from round {entrant.withdrawn_from} on"
    return "is absent or has a requested bye in this round"


def _rematches(tournament: Tournament, draw: Draw) -> Iterator[Violation]:
    """No two meet twice. A game that was not played is a meeting only where the event lets forfeits count."""
    drawn = {(board.first, board.second): board.board for board in draw.boards}
    drawn |= {(board.second, board.first): board.board for board in draw.boards}
    counts = tournament.regulations.forfeit_counts_as_met
    meetings = {result for result in Result if is_meeting(result, forfeit_counts_as_met=counts)}
    for round_ in tournament.rounds:
        for board in round_.boards:
            if (board.first, board.second) in drawn and board.result in meetings:
                a, b = sorted((board.first, board.second))
                yield Violation(
                    breach=Breach.REMATCH,
                    entrants=(a, b),
                    board=drawn[a, b],
                    detail=f"entrants {a} and {b} met in round {round_.number}",
                    context={"round": round_.number},
                )


def _forbidden(tournament: Tournament, draw: Draw) -> Iterator[Violation]:
    drawing = tournament.next_round
    forbidden = {
        frozenset(pair.entrants)
        for pair in tournament.forbidden_pairs
        if pair.from_round <= drawing and (pair.to_round is None or drawing <= pair.to_round)
    }
    for board in draw.boards:
        if frozenset((board.first, board.second)) in forbidden:
            a, b = sorted((board.first, board.second))
            detail = f"entrants {a} and {b} must not meet in round {drawing}"
            yield Violation(breach=Breach.FORBIDDEN_PAIR, entrants=(a, b), board=board.board, detail=detail)


def _bye(tournament: Tournament, draw: Draw, present: set[int]) -> Iterator[Violation]:
    """With an odd field exactly one bye, to one of those present who had the fewest so far."""
    odd = len(present) % 2 == 1
    if draw.bye is None:
        if odd:
            yield Violation(breach=Breach.NO_BYE, detail="the field is odd and nobody has the bye")
        return
    who = (draw.bye,)
    if not odd:
        detail = "the field is even, so nobody can have the bye"
        yield Violation(breach=Breach.BYE_IN_EVEN_FIELD, entrants=who, detail=detail)
    if not tournament.regulations.allow_bye:
        yield Violation(breach=Breach.BYES_OFF, entrants=who, detail="this event gives no byes; seat a house player")
    counts = _byes_so_far(tournament)
    fewest = min((counts[entrant] for entrant in present), default=0)
    if odd and draw.bye in present and counts[draw.bye] > fewest:
        yield Violation(
            breach=Breach.BYE_OUT_OF_TURN,
            entrants=who,
            detail=f"entrant {draw.bye} had {counts[draw.bye]} byes or forfeit wins, others only {fewest}",
            context={"had": counts[draw.bye], "fewest": fewest},
        )


def _byes_so_far(tournament: Tournament) -> Counter[int]:
    """Pairing byes, full-point byes and wins by forfeit, alike."""
    counts: Counter[int] = Counter()
    first_free = {result for result in Result if is_forfeit_win(result, first=True)}
    second_free = {result for result in Result if is_forfeit_win(result, first=False)}
    for round_ in tournament.rounds:
        counts.update([bye.entrant for bye in round_.byes if bye.kind in (ByeKind.PAIRING, ByeKind.FULL)])
        counts.update([board.first for board in round_.boards if board.result in first_free])
        counts.update([board.second for board in round_.boards if board.result in second_free])
    return counts
