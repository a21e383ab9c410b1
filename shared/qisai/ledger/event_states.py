"""A change of an event's state, as both services that make one record it; and who changed an event last."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from qisai.db.events import EventState
from qisai.db.records import AuditRow
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


def last_change(session: Session, event_id: int) -> Any:
    """Who changed the event last, and when, from its log: row of actor_name and at; None where nobody did.

    A draw of lots may set the order inside score groups, and publishing round 1 freezes the event.
    """
    a = AuditRow
    frozen = (a.subject == "round:1") & a.action.in_(("draw.publish", "round.unpublish"))
    changed = (a.subject == f"event:{event_id}") & (a.action.startswith("event.") | (a.action == "lots.draw"))
    return audit.last(session, a.event_id == event_id, changed | frozen)
