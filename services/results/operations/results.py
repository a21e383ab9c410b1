"""Writing a result on a board. A write says which version it saw; nothing is ever overwritten unseen.

Order of locks: the round (shared, so that it cannot be closed or taken back meanwhile), the board, the event's feed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.rounds import BoardRow, ResultConflictRow, ResultLogRow, RoundRow, RoundState
from qisai.errors import Conflict, Forbidden, Gone, NotFound, Stale
from qisai.kernel.model import Result
from qisai.ledger import feed
from qisai.ledger.actor import Actor
from services.results.answers import board_value, moment, value_of


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


def record_result(
    session: Session, actor: Actor, *, board_id: int, seen_version: int, wanted: Wanted, rights: Rights
) -> None:
    """Writes a result, or takes it back, with its log row and feed entry.

    The same write again by the same person and device, when its answer got lost, changes and logs nothing.

    Raises `NotFound`, `Gone` (the draw was taken back), `Conflict` `round-closed`, `StaleResult`, `Forbidden`
    (`not-your-board`, `needs-chief-referee`).
    """
    round_ = _hold_round(session, board_id)
    before = _board(session, board_id)
    if not rights.may_enter(before.number):
        raise Forbidden("not-your-board", f"Board {before.number} is not one of yours.", board=before.number)
    new = board_value(
        result=wanted.result,
        swapped=before.swapped if wanted.swapped is None else wanted.swapped,
        note=before.note if wanted.note is None else wanted.note,
    )
    was_seen = before.version == seen_version
    if not was_seen or not _write(session, actor, board_id=board_id, seen_version=seen_version, new=new):
        _explain_refusal(session, actor, board_id=board_id, seen_version=seen_version, new=new, round_no=round_.number)
        return
    session.execute(
        sa.insert(ResultLogRow).values(
            event_id=before.event_id,
            board_id=board_id,
            round_no=round_.number,
            version=seen_version + 1,
            old=value_of(before),
            new=new,
            actor_account_id=actor.account_id,
            actor_name=actor.name,
            device=actor.device,
            reason=wanted.reason,
            request_id=actor.request_id,
        )
    )
    data = {"round": round_.number, "board_id": board_id, "board": before.number, **new, "version": seen_version + 1}
    del data["note"]  # the feed is shown to everybody
    feed.publish(session, before.event_id, "result.recorded", data=data, pairing=True)
    # Under the feed's lock: a later round may have been published since this began.
    if not rights.is_chief and _later_round_published(session, before.event_id, round_.number):
        raise Forbidden(
            "needs-chief-referee",
            f"Round {round_.number + 1} is published already: only the chief referee corrects round {round_.number}.",
            round=round_.number,
        )


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


def _hold_round(session: Session, board_id: int) -> Any:
    """The board's round, held so that its state cannot change. Raises where no result may be written in it."""
    r = RoundRow
    of_board = sa.select(BoardRow.round_id).where(BoardRow.id == board_id).scalar_subquery()
    query = sa.select(r.number, r.state, r.closed_by, r.closed_at).where(r.id == of_board)
    round_ = session.execute(query.with_for_update(read=True)).one_or_none()
    if round_ is None:
        raise NotFound("board-not-found", f"There is no board {board_id}.")
    if round_.state is RoundState.CLOSED:
        raise Conflict(
            "round-closed",
            f"Round {round_.number} was closed by {round_.closed_by} at {moment(round_.closed_at)};"
            " the chief referee can reopen it.",
            round=round_.number,
            closed_by=round_.closed_by,
            closed_at=moment(round_.closed_at),
        )
    if round_.state is not RoundState.PUBLISHED:
        raise Gone("board-unpublished", f"Round {round_.number} was taken back; look at it again.", round=round_.number)
    return round_


def _board(session: Session, board_id: int) -> Any:
    b = BoardRow
    columns = (b.event_id, b.number, b.result, b.swapped, b.note, b.version, b.updated_at, b.updated_by)
    more = (b.updated_account_id, b.updated_device, b.unpublished_at)
    return session.execute(sa.select(*columns, *more).where(b.id == board_id)).one()


def _write(session: Session, actor: Actor, *, board_id: int, seen_version: int, new: dict[str, Any]) -> bool:
    """The compare-and-set on the version: whether this write was the one."""
    statement = (
        sa.update(BoardRow)
        .where(BoardRow.id == board_id, BoardRow.version == seen_version, BoardRow.unpublished_at.is_(None))
        .values(
            **new,
            version=seen_version + 1,
            updated_at=sa.func.now(),
            updated_by=actor.name,
            updated_account_id=actor.account_id,
            updated_device=actor.device,
        )
        .execution_options(synchronize_session=False)
    )
    return bool(session.execute(statement).rowcount == 1)  # type: ignore[attr-defined]


def _explain_refusal(
    session: Session, actor: Actor, *, board_id: int, seen_version: int, new: dict[str, Any], round_no: int
) -> None:
    """Returns where the same write stands there already; raises what stands in its way otherwise."""
    present = _board(session, board_id)
    if present.unpublished_at is not None:
        raise Gone("board-unpublished", f"Board {present.number} was taken back; look at the round again.")
    same_hand = (present.updated_account_id, present.updated_device) == (actor.account_id, actor.device)
    if present.version == seen_version + 1 and value_of(present) == new and same_hand:
        return
    refused = RefusedWrite(
        event_id=present.event_id,
        board_id=board_id,
        round_no=round_no,
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


def _later_round_published(session: Session, event_id: int, number: int) -> bool:
    later = sa.exists().where(
        RoundRow.event_id == event_id, RoundRow.number > number, RoundRow.state != RoundState.PENDING
    )
    return bool(session.execute(sa.select(later)).scalar_one())
