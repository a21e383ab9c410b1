"""Holding an event for a write of this service: its row is the first lock of all of them.

So capacity, numbers and the event's own settings are of one moment. It is the weaker lock that lets results refer to
the event meanwhile: no referee ever waits for the desk.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow
from qisai.db.events import EventRow, EventState
from qisai.errors import Conflict, FieldError, Invalid, NotFound
from services.registration.queries.rounds import next_round


def hold_event(session: Session, event_id: int) -> EventRow:
    """The event, held until the transaction ends. Raises `NotFound`."""
    query = sa.select(EventRow).where(EventRow.id == event_id).with_for_update(key_share=True)
    event = session.scalars(query.execution_options(populate_existing=True)).one_or_none()
    if event is None:
        raise NotFound("event-not-found", f"There is no event {event_id}.")
    return event


def hold_for_entries(session: Session, event_id: int) -> EventRow:
    """The event, held, for a change of its field. Raises `NotFound`, `Conflict` `event-over`."""
    event = hold_event(session, event_id)
    if event.state in (EventState.FINISHED, EventState.ARCHIVED):
        raise Conflict(
            "event-over", f"The event is {event.state.value}; its field does not change.", state=event.state.value
        )
    return event


def entrant_of(session: Session, event_id: int, entrant_id: int) -> Any:
    """Id, number, state, version of an entrant. Raises `NotFound`."""
    e = EntrantRow
    row = session.execute(
        sa.select(e.id, e.name, e.number, e.state, e.version).where(e.event_id == event_id, e.id == entrant_id)
    ).one_or_none()
    if row is None:
        raise NotFound("entrant-not-found", f"There is no entrant {entrant_id} in this event.")
    return row


def require_planned(event: EventRow, round_no: int, *, pointer: str = "/round_no") -> None:
    """Raises `Invalid` `round-beyond` for a round beyond the last that the event plans."""
    planned = event.regulations["rounds"]
    if planned is not None and round_no > planned:
        detail = f"is {round_no}, but this event has {planned} rounds"
        fault = FieldError(pointer, detail, "range", {"variant": "round", "value": round_no, "rounds": planned})
        raise Invalid("round-beyond", f"The round {detail}.", errors=[fault])


def require_before_round_1(session: Session, event_id: int, *, what: str) -> None:
    """Raises `Conflict` `frozen` once round 1 is published. Ask after the feed was bumped."""
    if next_round(session, event_id) > 1:
        raise Conflict("frozen", f"Round 1 is published: {what}.")


def require_round_ahead(session: Session, event_id: int, round_no: int) -> None:
    """Raises `Conflict` `round-published` for a round that is drawn already. Ask after the feed was bumped."""
    upcoming = next_round(session, event_id)
    if round_no < upcoming:
        detail = f"Round {round_no} is published; the next one that can still be changed is {upcoming}."
        raise Conflict("round-published", detail, round=round_no, next_round=upcoming)
