"""A change of an event's state, as both services that make one record it."""

from __future__ import annotations

from sqlalchemy.orm import Session

from qisai.db.events import EventState
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor


def moved(
    session: Session, actor: Actor, event_id: int, *, source: EventState, target: EventState, reason: str = ""
) -> None:
    """Writes the audit row and the feed's entry, in the transaction of the change; the feed last."""
    new = {"state": target.value}
    audit.record(
        session,
        actor,
        action=f"event.{target.value}",
        subject=f"event:{event_id}",
        event_id=event_id,
        old={"state": source.value},
        new=new,
        reason=reason,
    )
    feed.publish(session, event_id, "event.state", data=new)
