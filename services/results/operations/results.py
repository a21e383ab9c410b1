"""Writing a result on a board. A write says which version it saw; nothing is ever overwritten unseen.

Order of locks: the round (shared, so that it cannot be closed or taken back meanwhile), the board, the event's feed.
One result takes three statements: round and board read under the round's lock; board and log written together; feed.
They go past the session to its connection: nothing here is an object of the session's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

import sqlalchemy as sa
from psycopg.types.json import Jsonb
from sqlalchemy.orm import Session

from qisai.db.rounds import ResultConflictRow, RoundState
from qisai.db.statements import Statement
from qisai.errors import Conflict, FieldError, Forbidden, Gone, Invalid, NotFound, Stale
from qisai.kernel.model import Result
from qisai.ledger import feed
from qisai.ledger.actor import Actor
from services.results.answers import board_value, moment, value_of
from services.results.operations.rounds import require_running
from services.results.queries import boards as queries


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a referee wants on the board. None for `swapped` and `note`: as it is."""

    result: Result | None
    swapped: bool | None = None
    note: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedWrite:
    """A write that saw an older version, for the log of conflicts."""

    event_id: int
    board_id: int
    round_no: int
    seen_version: int
    present_version: int
    present: dict[str, Any]
    wanted: dict[str, Any]


class StaleResult(Stale):
    """As `Stale`, with what the log of conflicts needs."""

    def __init__(self, refused: RefusedWrite, current: dict[str, Any]) -> None:
        super().__init__(
            "stale",
            f"Board {current['number']} was changed by {current['updated_by']} at {current['updated_at']}:"
            f" it is version {refused.present_version} now, you saw {refused.seen_version}.",
            current=current,
            board=current["number"],
            updated_by=current["updated_by"],
        )
        self.refused = refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What the writer may do in the board's event."""

    is_chief: bool
    """May correct a round after a later one is published."""
    may_enter: Callable[[int], bool]
    """Whether a board of this number may be written: a limited referee has a range of boards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOf:
    """A round by its event and number."""

    event_id: int
    number: int


WRITE: Final = Statement(
    sa.text(
        """
    WITH written AS (
      UPDATE board SET result = :result, swapped = :swapped, note = :note, version = version + 1,
                       updated_at = clock_timestamp(), updated_by = :actor, updated_account_id = :account_id,
                       updated_device = :device
      WHERE id = :board_id AND version = :seen_version AND unpublished_at IS NULL
      RETURNING id, event_id, version, updated_at
    ), logged AS (
      INSERT INTO result_log (event_id, board_id, round_no, version, old, new, at,
                              actor_account_id, actor_name, device, reason, request_id)
      SELECT event_id, id, :round_no, version, :old, :new, updated_at,
             :account_id, :actor, :device, :reason, :request_id
      FROM written
    )
    SELECT version, updated_at FROM written
    """
    )
)
"""The compare-and-set on a board's version together with its log row; no row where another version is there.

Its time is that of the write: the transaction may have begun before the round was opened again, and waited."""
LATER: Final = Statement(
    sa.text(
        "SELECT EXISTS (SELECT FROM round WHERE event_id = :event_id AND number > :number AND state <> 'pending')"
        " AS is_there"
    )
)
"""Whether a round behind this one is published."""


def record_result(
    session: Session,
    actor: Actor,
    *,
    board_id: int,
    seen_version: int,
    wanted: Wanted,
    rights: Rights,
    within: RoundOf | None = None,
    correcting: bool = False,
) -> Any:
    """Writes a result, or takes it back, with its log row and feed entry; the board as it is then, with names.

    The same write again by the same person and device, when its answer got lost, changes and logs nothing, also where
    the round was closed meanwhile. `within`: the round that the board must be of. `correcting`: the chief referee's,
    with a reason, also in a closed round, which stays closed; only while the event is running (`Conflict`
    `event-not-running`).

    Raises `NotFound`, `Gone` (the draw was taken back), `Conflict` `round-closed`, `StaleResult`, `Forbidden`
    (`not-your-board`, `needs-chief-referee`), `Invalid` `reason-needed` for a correction of an earlier round.
    """
    before = _hold_round(session, board_id, within)
    if not rights.may_enter(before.number):
        raise Forbidden("not-your-board", f"Board {before.number} is not one of yours.", board=before.number)
    new = board_value(
        result=wanted.result,
        swapped=before.swapped if wanted.swapped is None else wanted.swapped,
        note=before.note if wanted.note is None else wanted.note,
    )
    if before.round_state is RoundState.CLOSED and not (correcting and rights.is_chief):
        present = queries.present_board(session, board_id)  # read anew: `before` may be of before a wait for the round
        if _stands_there(session, actor, present, seen_version=seen_version, new=new, reason=wanted.reason):
            return present
        raise _closed(present)
    written = None
    if before.version == seen_version:
        written = _write(session, actor, before, new=new, reason=wanted.reason)
    if written is None:
        return _lost_answer(session, actor, board_id=board_id, seen_version=seen_version, new=new, reason=wanted.reason)
    data = {"round": before.round_no, "board_id": board_id, "board": before.number, **new, "version": written.version}
    del data["note"]  # the feed is shown to everybody
    feed.publish(session, before.event_id, "result.recorded", data=data, pairing=True)
    if not (rights.is_chief and wanted.reason):
        _refuse_correction(session, before, rights)
    if before.round_state is RoundState.CLOSED:
        require_running(session, before.event_id)
    changes = {"result": wanted.result, "swapped": new["swapped"], "note": new["note"], "updated_by": actor.name}
    return SimpleNamespace(**{**vars(before), **changes, **written._asdict()})


def log_refused_write(session: Session, actor: Actor, refused: RefusedWrite) -> None:
    """Keeps a refused write, in a transaction of its own after the one that failed."""
    session.execute(
        sa.insert(ResultConflictRow).values(
            event_id=refused.event_id,
            board_id=refused.board_id,
            round_no=refused.round_no,
            seen_version=refused.seen_version,
            present_version=refused.present_version,
            present=refused.present,
            wanted=refused.wanted,
            actor_account_id=actor.account_id,
            actor_name=actor.name,
            device=actor.device,
            request_id=actor.request_id,
        )
    )


def _hold_round(session: Session, board_id: int, within: RoundOf | None) -> Any:
    """The board with its round, which is held so that its state cannot change.

    The board itself is not held: its version decides when it is written. Raises where it is not there, or not any more.
    """
    row = queries.held_board(session, board_id)
    if row is None or (within is not None and (row.event_id, row.round_no) != (within.event_id, within.number)):
        raise NotFound("board-not-found", f"There is no board {board_id}.")
    if row.unpublished_at is not None or row.round_state is RoundState.PENDING:
        raise _gone(row)
    return row


def _closed(row: Any) -> Conflict:
    return Conflict(
        "round-closed",
        f"Round {row.round_no} was closed by {row.closed_by} at {moment(row.closed_at)};"
        " the chief referee can reopen it.",
        round=row.round_no,
        closed_by=row.closed_by,
        closed_at=moment(row.closed_at),
    )


def _gone(row: Any) -> Gone:
    detail = f"Board {row.number} of round {row.round_no} was taken back; look at the round again."
    return Gone("board-unpublished", detail, round=row.round_no)


def _write(session: Session, actor: Actor, before: Any, *, new: dict[str, Any], reason: str) -> Any:
    """The compare-and-set on the version with its log row; None where somebody else was first."""
    values = {
        **new,
        "board_id": before.id,
        "seen_version": before.version,
        "round_no": before.round_no,
        "old": Jsonb(value_of(before)),
        "new": Jsonb(new),
        "actor": actor.name,
        "account_id": actor.account_id,
        "device": actor.device,
        "reason": reason,
        "request_id": actor.request_id,
    }
    return WRITE.first(session.connection(), values)


def _lost_answer(
    session: Session, actor: Actor, *, board_id: int, seen_version: int, new: dict[str, Any], reason: str
) -> Any:
    """The board, where the same write stands there already; raises what stands in its way otherwise."""
    present = queries.present_board(session, board_id)
    if present.unpublished_at is not None:
        raise _gone(present)
    if _stands_there(session, actor, present, seen_version=seen_version, new=new, reason=reason):
        return present
    refused = RefusedWrite(
        event_id=present.event_id,
        board_id=board_id,
        round_no=present.round_no,
        seen_version=seen_version,
        present_version=present.version,
        present=value_of(present),
        wanted=new,
    )
    current = {
        "id": board_id,
        "number": present.number,
        **value_of(present),
        "version": present.version,
        "updated_by": present.updated_by,
        "updated_at": moment(present.updated_at),
    }
    raise StaleResult(refused, current)


def _stands_there(
    session: Session, actor: Actor, present: Any, *, seen_version: int, new: dict[str, Any], reason: str
) -> bool:
    """Whether the same write, by the same person and device with the same reason, made the board what it is."""
    same_hand = (present.updated_account_id, present.updated_device) == (actor.account_id, actor.device)
    same_value = present.version == seen_version + 1 and value_of(present) == new
    return same_value and same_hand and queries.reason_of(session, present.id, version=present.version) == reason


def _refuse_correction(session: Session, board: Any, rights: Rights) -> None:
    """Once the next round is published, a result is a correction: the chief referee's, with a reason.

    Asked under the feed's lock: a later round may have been published since this began.
    """
    if not _later_round_published(session, board.event_id, board.round_no):
        return
    if not rights.is_chief:
        raise Forbidden(
            "needs-chief-referee",
            f"Round {board.round_no + 1} is published already: only the chief referee corrects round {board.round_no}.",
            round=board.round_no,
        )
    detail = f"Round {board.round_no + 1} is published already: a correction of round {board.round_no} needs a reason."
    raise Invalid("reason-needed", detail, errors=[FieldError("/reason", "is missing", "reason-needed")])


def _later_round_published(session: Session, event_id: int, number: int) -> bool:
    found = LATER.first(session.connection(), {"event_id": event_id, "number": number})
    return bool(found is not None and found.is_there)
