"""Closing, reopening and taking back a round."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.events import EventRow, EventState
from qisai.db.rounds import BoardRow, DrawRow, DrawState, RoundState, SeatRow
from qisai.db.session import compare_and_set
from qisai.errors import Blocker, Conflict, FieldError, Invalid
from qisai.ledger import audit, event_states, feed
from qisai.ledger.actor import Actor
from services.results.answers import moment
from services.results.operations.rounds_held import NO_CLOCK, change_round, hold_existing, later_published_round
from services.results.queries.boards import boards_of_round


def close_round(
    session: Session,
    actor: Actor,
    *,
    event_id: int,
    number: int,
    seen_version: int,
    force: bool = False,
    reason: str = "",
) -> None:
    """No result is taken in the round any more, and its clock is gone.

    Raises `Conflict` `results-missing` with a blocker for every board without a result; with `force` they stay open,
    which needs a reason (`Invalid` `reason-needed`). Open boards still stop pairing and the end of the event.
    """
    round_ = hold_existing(session, event_id, number=number, seen_version=seen_version)
    if round_.state is RoundState.CLOSED:
        raise Conflict(
            "round-closed",
            f"Round {number} was closed already by {round_.closed_by}.",
            round=number,
            closed_by=round_.closed_by,
            closed_at=moment(round_.closed_at),
        )
    blockers = [missing_result(row) for row in boards_of_round(session, event_id, round_no=number) if not row.result]
    if blockers and not force:
        detail = f"Round {number} has boards without a result."
        raise Conflict("results-missing", detail, blockers=blockers, round=number)
    if blockers and not reason:
        faults = [FieldError("/reason", "is missing", "reason-needed")]
        raise Invalid("reason-needed", "Closing a round with open boards needs a reason.", errors=faults)
    values = {"closed_at": sa.func.clock_timestamp(), "closed_by": actor.name, **NO_CLOCK}
    change_round(session, round_, to=RoundState.CLOSED, values=values)
    new = {"open_boards": [blocker.context["board"] for blocker in blockers]} if blockers else None
    _record(session, actor, "round.close", event_id=event_id, number=number, reason=reason, new=new)
    feed.publish(session, event_id, "round.closed", data={"round": number})


def reopen_round(session: Session, actor: Actor, *, event_id: int, number: int, seen_version: int, reason: str) -> None:
    """Results may be written in a closed round again. Raises `Conflict` if it is not closed or the event is over."""
    round_ = hold_existing(session, event_id, number=number, seen_version=seen_version)
    if round_.state is not RoundState.CLOSED:
        raise Conflict("round-not-closed", f"Round {number} is not closed.", round=number)
    change_round(session, round_, to=RoundState.PUBLISHED, values={"closed_at": None, "closed_by": None})
    _record(session, actor, "round.reopen", event_id=event_id, number=number, reason=reason)
    feed.publish(session, event_id, "round.reopened", data={"round": number})
    require_running(session, event_id)


def unpublish_round(
    session: Session, actor: Actor, *, event_id: int, number: int, seen_version: int, reason: str
) -> None:
    """Takes a published round back as if it had not been drawn (docs/rules.md section 8).

    Only the last published round, and only while it has no result. Its boards answer as gone, its seats are free, the
    draw is marked; with round 1 the event thaws. Raises `Conflict`.
    """
    round_ = hold_existing(session, event_id, number=number, seen_version=seen_version)
    if round_.state is not RoundState.PUBLISHED:
        raise Conflict("round-closed", f"Round {number} is closed; reopen it first.", round=number)
    reported = [row for row in boards_of_round(session, event_id, round_no=number) if row.result]
    if reported:
        blockers = [
            Blocker("has-result", f"Board {row.number} has a result: take it back first.", {"board": row.number})
            for row in reported
        ]
        raise Conflict("round-has-results", f"Round {number} has results and stays as it is.", blockers=blockers)
    boards = (BoardRow.round_id == round_.id, BoardRow.unpublished_at.is_(None))
    session.execute(_update(BoardRow, *boards).values(unpublished_at=sa.func.clock_timestamp()))
    session.execute(sa.delete(SeatRow).where(SeatRow.round_id == round_.id))
    if round_.draw_id is not None:
        draw = _update(DrawRow, DrawRow.id == round_.draw_id)
        session.execute(draw.values(state=DrawState.UNPUBLISHED, version=DrawRow.version + 1))
    values = {"draw_id": None, "published_at": None, "published_by": None, **NO_CLOCK}
    change_round(session, round_, to=RoundState.PENDING, values=values)
    _record(session, actor, "round.unpublish", event_id=event_id, number=number, reason=reason)
    if number == 1:
        _thaw_event(session, event_id)
    feed.publish(session, event_id, "round.unpublished", data={"round": number}, pairing=True)
    # Under the feed's lock: the round behind it is locked by its own row, so only now is it certain that there is none.
    later = later_published_round(session, event_id, number)
    if later is not None:
        raise Conflict("later-round-published", f"Round {later} is published; take that one back first.", round=later)
    if number == 1:
        states = {"source": EventState.RUNNING, "target": EventState.CLOSED}
        event_states.moved(session, actor, event_id, **states, reason=reason)
    else:
        require_running(session, event_id)


def _thaw_event(session: Session, event_id: int) -> None:
    """Without round 1 the event is as before it was published."""
    values = {"state": EventState.CLOSED, "frozen_at": None, "algorithm": None, "version": EventRow.version + 1}
    where = [EventRow.id == event_id, EventRow.state == EventState.RUNNING]
    if not compare_and_set(session, EventRow, where=where, values=values):
        require_running(session, event_id)


def missing_result(row: Any) -> Blocker:
    """What stands in the way, in words: which board, who plays there, what to do."""
    return Blocker(
        "result-missing",
        f"Round {row.round_no}, board {row.number}: {row.first_name} – {row.second_name} has no result:"
        " enter it, or enter a forfeit, an adjournment or void.",
        {
            "round": row.round_no,
            "board": row.number,
            "board_id": row.id,
            "first": row.first_name,
            "second": row.second_name,
        },
    )


def require_running(session: Session, event_id: int) -> None:
    """Raises `Conflict` unless the event is running. Ask under the feed's lock, or it may change meanwhile."""
    state = session.execute(sa.select(EventRow.state).where(EventRow.id == event_id)).scalar_one()
    if state is not EventState.RUNNING:
        raise Conflict("event-not-running", f"The event is {state.value}; this needs a running one.", state=state.value)


def _update(table: type[Any], *where: Any) -> Any:
    return sa.update(table).where(*where).execution_options(synchronize_session=False)


def _record(
    session: Session,
    actor: Actor,
    action: str,
    *,
    event_id: int,
    number: int,
    reason: str = "",
    new: dict[str, Any] | None = None,
) -> None:
    subject = f"round:{number}"
    audit.record(session, actor, action=action, subject=subject, event_id=event_id, reason=reason, new=new)
