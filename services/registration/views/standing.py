"""What the caller is in an event, with its owner counted."""

from __future__ import annotations

from sqlalchemy.orm import Session

from qisai.db.accounts import Role
from qisai.db.events import EventRow
from qisai.web.identity import Caller, current_caller
from services.registration.operations.steps import Mover
from services.registration.queries import events as queries


def roles_in(event: EventRow, caller: Caller) -> frozenset[Role]:
    """The caller's roles in the event."""
    return caller.roles_in(event.id, owner_id=event.created_by)


def is_staff(session: Session, event_id: int) -> bool:
    """Whether the caller works at the event in any role. Raises `NotFound`."""
    return bool(roles_in(queries.event(session, event_id), current_caller()))


def mover(session: Session, event_id: int) -> Mover:
    """The caller as one who moves entrants. Raises `NotFound`."""
    caller = current_caller()
    return Mover(actor=caller.actor, roles=roles_in(queries.event(session, event_id), caller))
