"""What each entrant has behind it when a round is drawn: opponents met, sides, floats, byes, rounds not played.

Recomputed from boards and byes each time, with results as they now stand (docs/rules.md sections 1, 3, 4). A withdrawn
opponent is an opponent like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from qisai.errors import FieldError, Invalid
from qisai.kernel.model import Board, ByeKind, Result, Round, Tournament
from qisai.kernel.outcomes import gives_side, is_forfeit_win, is_meeting, over_the_board
from qisai.kernel.scoring import running_pairing_scores

BYES_THAT_COUNT: Final = frozenset({ByeKind.PAIRING, ByeKind.FULL})
"""Bye kinds that count towards rule 4 of docs/rules.md section 3; wins by forfeit count alike."""

FIRST: Final = 1
SECOND: Final = -1


@dataclass(slots=True, kw_only=True)
class Record:
    """The history of one entrant; sides are +1 first, −1 second."""

    met: set[int] = field(default_factory=set)
    """Numbers of the opponents met."""
    sides: list[int] = field(default_factory=list)
    """Sides of games with a side, in round order."""
    down_weight: int = 0
    """Boards against somebody with a lower score, weighted by age (`float_weight`)."""
    down_count: int = 0
    up_weight: int = 0
    """Boards against somebody with a higher score, weighted likewise."""
    up_count: int = 0
    played: int = 0
    """Rounds played over the board."""
    left: int = 0
    """Boards played on the left (first) seat."""
    byes: int = 0
    """Pairing byes, full-point byes and wins by forfeit."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a result means for history, looked up once per board."""

    played: bool
    side: bool
    met: bool
    first_free: bool
    second_free: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All records and the pairing scores before the round to draw, by entrant number."""

    records: Mapping[int, Record]
    scores: Mapping[int, int]


def compile_history(tournament: Tournament) -> History:
    """Read all past rounds once.

    Raises `Invalid` naming round and board where a past board has no result, names somebody who is not in the event,
    or seats an entrant against itself: such a round is mended, never skipped.
    """
    check_rounds(tournament)
    running = running_pairing_scores(tournament)
    records = {entrant.number: Record() for entrant in tournament.entrants}
    meanings = _meanings(forfeit_counts_as_met=tournament.regulations.forfeit_counts_as_met)
    for round_, scores in zip(tournament.rounds, running, strict=False):
        weight = float_weight(tournament.next_round - round_.number)
        for board in round_.boards:
            assert board.result is not None
            first, second = records[board.first], records[board.second]
            _note_board(board, meanings[board.result], first, second)
            lead = scores[board.first] - scores[board.second]
            if lead:
                _note_float(weight, *((first, second) if lead > 0 else (second, first)))
        for bye in round_.byes:
            if bye.kind in BYES_THAT_COUNT:
                records[bye.entrant].byes += 1
    return History(records=records, scores=running[-1])


def check_rounds(tournament: Tournament) -> None:
    """Refuse a history that cannot be read, naming every place (docs/rules.md section 9: "stops pairing, by name")."""
    known = {entrant.number for entrant in tournament.entrants}
    errors: list[FieldError] = []
    for position, round_ in enumerate(tournament.rounds):
        if not _is_sound(round_, known):
            errors.extend(_faults(round_, f"/rounds/{position}", known))
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise Invalid("past-rounds-incomplete", errors[0].detail + more, errors=errors)


def _is_sound(round_: Round, known: set[int]) -> bool:
    """Whether all boards have a result and everybody named is in the event and has one place."""
    named = [board.first for board in round_.boards]
    named += [board.second for board in round_.boards]
    named += [bye.entrant for bye in round_.byes]
    distinct = set(named)
    unreported = None in [board.result for board in round_.boards]
    return len(distinct) == len(named) and distinct <= known and not unreported


def _faults(round_: Round, where: str, known: set[int]) -> Iterator[FieldError]:
    seen: set[int] = set()
    for index, board in enumerate(round_.boards):
        pair = {board.first, board.second}
        if board.result is None or len(pair) < 2 or pair & seen or pair - known:
            yield _board_fault(f"{where}/boards/{index}", round_.number, board, seen=seen, known=known)
        seen |= pair
    for index, bye in enumerate(round_.byes):
        if bye.entrant in seen or bye.entrant not in known:
            slug, what = _PLACE_TAKEN if bye.entrant in known else _UNKNOWN
            detail = f"round {round_.number}: entrant {bye.entrant} {what}"
            said = {"variant": "bye", "round": round_.number, "value": bye.entrant}
            yield FieldError(f"{where}/byes/{index}", detail, slug, said)
        seen.add(bye.entrant)


_UNKNOWN: Final = ("unknown-entrant", "is not in the event")
_PLACE_TAKEN: Final = ("duplicate", "already has a place in this round")


def _board_fault(where: str, number: int, board: Board, *, seen: set[int], known: set[int]) -> FieldError:
    def fault(slug: str, what: str, entrant: int | None = None) -> FieldError:
        detail = f"round {number}, board {board.board} ({board.first}–{board.second}): {what}"
        said = {"variant": "seat", "round": number, "board": board.board, "value": entrant}
        return FieldError(where, detail, slug, said)

    if board.first == board.second:
        return fault("self-pairing", f"entrant {board.first} sits against itself", board.first)
    for entrant in (board.first, board.second):
        if entrant not in known or entrant in seen:
            slug, what = _UNKNOWN if entrant not in known else _PLACE_TAKEN
            return fault(slug, f"entrant {entrant} {what}", entrant)
    return fault("result-missing", "no result yet; enter it before the next round is drawn")


def _meanings(*, forfeit_counts_as_met: bool) -> dict[Result, _Meaning]:
    return {
        result: _Meaning(
            played=over_the_board(result),
            side=gives_side(result),
            met=is_meeting(result, forfeit_counts_as_met=forfeit_counts_as_met),
            first_free=is_forfeit_win(result, first=True),
            second_free=is_forfeit_win(result, first=False),
        )
        for result in Result
    }


def _note_board(board: Board, meaning: _Meaning, first: Record, second: Record) -> None:
    if meaning.met:
        first.met.add(board.second)
        second.met.add(board.first)
    if meaning.side:
        first.sides.append(FIRST)
        second.sides.append(SECOND)
    if meaning.played:
        first.played += 1
        second.played += 1
        first.left += 1
    if meaning.first_free:
        first.byes += 1
    if meaning.second_free:
        second.byes += 1


def _note_float(weight: int, upper: Record, lower: Record) -> None:
    """A float is an earlier board, forfeits and void games included, with unequal scores before that round."""
    upper.down_weight += weight
    upper.down_count += 1
    lower.up_weight += weight
    lower.up_count += 1


def float_weight(age: int) -> int:
    """Weight of a float in criterion 10: 8 in the round just before (age 1), 4 in the one before that, 2 if older."""
    return 8 if age == 1 else 4 if age == 2 else 2
