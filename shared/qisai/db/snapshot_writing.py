"""Kernel → rows: a whole tournament written into a new event, for imports (the way back is `snapshot`).

`read_tournament` gives an equal tournament back. Nothing is judged here: the kernel's parser has done that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import AbsenceRow, EntrantRow, EntrantState, ForbiddenPairRow, MemberRow, RequestedByeRow
from qisai.db.name_keys import sort_key
from qisai.db.rounds import AdjustmentRow, BoardRow, RoundRow, RoundState, SeatPlace, SeatRow
from qisai.db.session import now
from qisai.kernel.model import Entrant, Result, Round, Tournament

REPORTED_VERSION = 2
"""Version of a board that comes with a result: as if it had been published (1) and then reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBoard:
    """A board that was written with its result."""

    board_id: int
    round_no: int
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of it: entrants by number, and the boards whose result needs a row in the log."""

    entrant_ids: Mapping[int, int]
    reported: Sequence[WrittenBoard]


def write_tournament(
    session: Session, tournament: Tournament, *, event_id: int, by: str, account_id: int | None = None
) -> Written:
    """Writes entrants, members, forbidden pairs, rounds with boards and byes, adjustments, who misses the next round.

    The event and its feed exist already and have none of these. Rounds with all results are closed, others published;
    boards with a result have version 2. Number of statements constant; `by` and `account_id` say who wrote the results.
    """
    ids = _write_entrants(session, tournament, event_id=event_id)
    _insert(
        session,
        ForbiddenPairRow,
        [
            {
                "event_id": event_id,
                "a_entrant_id": min(ids[pair.entrants[0]], ids[pair.entrants[1]]),
                "b_entrant_id": max(ids[pair.entrants[0]], ids[pair.entrants[1]]),
                "from_round": pair.from_round,
                "to_round": pair.to_round,
            }
            for pair in tournament.forbidden_pairs
        ],
    )
    reported = _write_rounds(session, tournament.rounds, ids, event_id=event_id, by=by, account_id=account_id)
    _insert(
        session,
        AdjustmentRow,
        [
            {
                "event_id": event_id,
                "entrant_id": ids[one.entrant],
                "half_points": one.half_points,
                "after_round": one.after_round,
                "reason": one.reason,
                "made_by": by,
                "account_id": account_id,
            }
            for one in tournament.adjustments
        ],
    )
    upcoming = tournament.next
    if upcoming is not None:
        away = {"round_no": upcoming.round}
        _insert(session, AbsenceRow, [{"entrant_id": ids[number], **away} for number in upcoming.absent])
        _insert(
            session,
            RequestedByeRow,
            [{"entrant_id": ids[bye.entrant], "kind": bye.kind, **away} for bye in upcoming.byes],
        )
    return Written(entrant_ids=ids, reported=reported)


def state_of(entrant: Entrant) -> EntrantState:
    """The state an imported entrant is in."""
    return EntrantState.SEATED if entrant.withdrawn_from is None else EntrantState.WITHDRAWN


def _write_entrants(session: Session, tournament: Tournament, *, event_id: int) -> dict[int, int]:
    rows = [
        {
            "event_id": event_id,
            "number": entrant.number,
            "name": entrant.name,
            "sort_key": sort_key(entrant.name),
            "club": entrant.club,
            "seed": entrant.seed,
            "state": state_of(entrant),
            "withdrawn_from": entrant.withdrawn_from,
            "fixed_board": entrant.fixed_board,
            "lot": tournament.lots.get(entrant.number),
        }
        for entrant in tournament.entrants
    ]
    made = _insert(session, EntrantRow, rows, EntrantRow.number, EntrantRow.id)
    ids = {row.number: row.id for row in made}
    members = [
        {"entrant_id": ids[entrant.number], "position": position, "name": name}
        for entrant in tournament.entrants
        for position, name in enumerate(entrant.members, start=1)
    ]
    _insert(session, MemberRow, members)
    return ids


def _write_rounds(
    session: Session,
    rounds: Sequence[Round],
    ids: Mapping[int, int],
    *,
    event_id: int,
    by: str,
    account_id: int | None,
) -> list[WrittenBoard]:
    at = now(session)
    rows = [{"event_id": event_id, **_round(round_, by=by, at=at)} for round_ in rounds]
    made = _insert(session, RoundRow, rows, RoundRow.number, RoundRow.id)
    round_ids = {row.number: row.id for row in made}
    boards = [
        {
            "event_id": event_id,
            "round_id": round_ids[round_.number],
            "number": board.board,
            "first_entrant_id": ids[board.first],
            "second_entrant_id": ids[board.second],
            "result": board.result,
            "version": 1 if board.result is None else REPORTED_VERSION,
            "updated_by": by,
            "updated_account_id": account_id,
        }
        for round_ in rounds
        for board in round_.boards
    ]
    written = _insert(session, BoardRow, boards, BoardRow.round_id, BoardRow.number, BoardRow.id)
    board_ids = {(row.round_id, row.number): row.id for row in written}
    seats: list[dict[str, Any]] = []
    reported = []
    for round_ in rounds:
        round_id = round_ids[round_.number]
        for board in round_.boards:
            board_id = board_ids[round_id, board.board]
            for number, place in ((board.first, SeatPlace.FIRST), (board.second, SeatPlace.SECOND)):
                seats.append({"entrant_id": ids[number], "board_id": board_id, "place": place, "round_id": round_id})
            if board.result is not None:
                reported.append(WrittenBoard(board_id=board_id, round_no=round_.number, result=board.result))
        for bye in round_.byes:
            place = SeatPlace(bye.kind.value)
            seats.append({"entrant_id": ids[bye.entrant], "board_id": None, "place": place, "round_id": round_id})
    _insert(session, SeatRow, seats)
    return reported


def _round(round_: Round, *, by: str, at: datetime) -> dict[str, Any]:
    done = all(board.result is not None for board in round_.boards)
    return {
        "number": round_.number,
        "state": RoundState.CLOSED if done else RoundState.PUBLISHED,
        "published_at": at,
        "published_by": by,
        "closed_at": at if done else None,
        "closed_by": by if done else None,
        "version": 3 if done else 2,
    }


def _insert(session: Session, table: type[Any], rows: list[dict[str, Any]], *returning: Any) -> Sequence[Any]:
    """Inserts many rows in as few statements as the driver needs; `returning` columns of each."""
    if not rows:
        return []
    statement = sa.insert(table)
    if not returning:
        session.execute(statement, rows)
        return []
    return session.execute(statement.returning(*returning), rows).all()
