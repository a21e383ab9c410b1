"""Starting, finishing and reopening an event: the only things this service changes in it besides freezing."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.events import EventRow, EventState
from qisai.db.rounds import BoardRow, RoundRow, RoundState
from qisai.db.session import compare_and_set
from qisai.errors import Blocker, Conflict, NotFound, Stale
from qisai.kernel.model import Result
from qisai.ledger import event_states
from qisai.ledger.actor import Actor
from services.results.answers import moment
from services.results.operations.rounds import missing_result
from services.results.operations.rounds_held import later_published_round
from services.results.queries.boards import open_boards

FEWEST_SEATED: Final = 2
"""Entrants in the pairing pool with whom an event starts: fewer have nobody to play."""


def start_event(session: Session, actor: Actor, *, event_id: int, seen_version: int) -> EventRow:
    """closed → running, ahead of round 1.

    Raises `NotFound`, `Stale`, `Conflict` `event-state`, or `too-few-seated` where no two could be paired.
    """
    event = _move(session, actor, event_id, seen_version, source=EventState.CLOSED, target=EventState.RUNNING)
    seated = _seated(session, event_id)  # under the feed's lock
    if seated < FEWEST_SEATED:
        detail = f"{seated} entrants are seated; an event starts with two or more: seat entrants first."
        raise Conflict("too-few-seated", detail, seated=seated)
    return event


def take_start_back(session: Session, actor: Actor, *, event_id: int, seen_version: int, reason: str) -> EventRow:
    """running → closed, as before the start: only while no round is published.

    Raises `NotFound`, `Stale`, `Conflict` `event-state`, or `later-round-published`.
    """
    states = {"source": EventState.RUNNING, "target": EventState.CLOSED}
    event = _move(session, actor, event_id, seen_version, **states, reason=reason)
    published = later_published_round(session, event_id, 0)  # under the feed's lock
    if published is not None:
        detail = f"Round {published} is published; take that one back first."
        raise Conflict("later-round-published", detail, round=published)
    return event


def finish_event(session: Session, actor: Actor, *, event_id: int, seen_version: int) -> EventRow:
    """running → finished, once a round was played, all are closed, and no board is open or adjourned. Never by itself.

    Raises `NotFound`, `Stale`, `Conflict` `event-state`, or `event-not-over` with what is still open.
    """
    event = _move(session, actor, event_id, seen_version, source=EventState.RUNNING, target=EventState.FINISHED)
    blockers = _open_ends(session, event_id)  # under the feed's lock
    if blockers:
        raise Conflict("event-not-over", "The event is not over yet.", blockers=blockers)
    return event


def reopen_event(session: Session, actor: Actor, *, event_id: int, seen_version: int, reason: str) -> EventRow:
    """finished → running. Raises `NotFound`, `Stale`, `Conflict` `event-state`."""
    states = {"source": EventState.FINISHED, "target": EventState.RUNNING}
    return _move(session, actor, event_id, seen_version, **states, reason=reason)


def event_row(session: Session, event_id: int) -> EventRow:
    """The event as stored now. Raises `NotFound`."""
    event = session.get(EventRow, event_id, populate_existing=True)
    if event is None:
        raise NotFound("event-not-found", f"There is no event {event_id}.")
    return event


def _move(
    session: Session,
    actor: Actor,
    event_id: int,
    seen_version: int,
    *,
    source: EventState,
    target: EventState,
    reason: str = "",
) -> EventRow:
    event = event_row(session, event_id)
    where = [EventRow.id == event_id, EventRow.version == seen_version, EventRow.state == source]
    values = {"state": target, "version": seen_version + 1}
    if not compare_and_set(session, EventRow, where=where, values=values):
        event = event_row(session, event_id)
        if event.version != seen_version:
            raise Stale("stale", "The event was changed meanwhile.", current=_current(session, event))
        detail = f"The event is {event.state.value}; only a {source.value} one becomes {target.value}."
        raise Conflict("event-state", detail, state=event.state.value)
    event_states.moved(session, actor, event_id, source=source, target=target, reason=reason)
    return event_row(session, event_id)


def _current(session: Session, event: EventRow) -> dict[str, Any]:
    last = event_states.last_change(session, event.id)
    return {
        "id": event.id,
        "state": event.state.value,
        "version": event.version,
        "updated_by": None if last is None else last.actor_name,
        "updated_at": None if last is None else moment(last.at),
    }


def _seated(session: Session, event_id: int) -> int:
    e = EntrantRow
    query = sa.select(sa.func.count()).where(e.event_id == event_id, e.state == EntrantState.SEATED)
    count: int = session.execute(query).scalar_one()
    return count


def _open_ends(session: Session, event_id: int) -> list[Blocker]:
    r, b = RoundRow, BoardRow
    rounds = session.execute(
        sa.select(r.number, r.state).where(r.event_id == event_id, r.state != RoundState.PENDING).order_by(r.number)
    ).all()
    if not rounds:
        return [Blocker("no-round", "No round was played yet.")]
    blockers = [
        Blocker("round-open", f"Round {row.number} is not closed: close it first.", {"round": row.number})
        for row in rounds
        if row.state is not RoundState.CLOSED
    ]
    closed = {row.number for row in rounds if row.state is RoundState.CLOSED}
    missing = open_boards(session, event_id, before=max(row.number for row in rounds) + 1)
    blockers += [missing_result(row) for row in missing if row.round_no in closed]
    adjourned = session.execute(
        sa.select(b.id, b.number, r.number.label("round_no"))
        .join(r, r.id == b.round_id)
        .where(b.event_id == event_id, b.unpublished_at.is_(None), b.result == Result.ADJOURNED)
        .order_by(r.number, b.number)
    )
    blockers += [
        Blocker(
            "adjourned",
            f"Round {row.round_no}, board {row.number} is adjourned: reopen the round and enter its result.",
            {"round": row.round_no, "board": row.number, "board_id": row.id},
        )
        for row in adjourned
    ]
    return blockers
