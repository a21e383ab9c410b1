"""What the caller is in an event, with its owner counted."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from qisai.db.accounts import Role
from qisai.db.events import EventRow
from qisai.web.identity import Caller, current_caller
from services.registration.answers import Sight
from services.registration.operations.judging import Mover
from services.registration.queries import events as queries

_SEES_PRIVATE: Final = frozenset({Role.ASSOCIATION_ADMIN, Role.ORGANISER, Role.CHIEF_REFEREE, Role.DESK})


def roles_in(event: EventRow, caller: Caller) -> frozenset[Role]:
    """The caller's roles in the event."""
    return caller.roles_in(event.id, owner_id=event.created_by)


def sight(session: Session, event_id: int) -> Sight:
    """How much of an event's entrants the caller may see. Raises `NotFound`."""
    roles = roles_in(queries.event(session, event_id), current_caller())
    if roles & _SEES_PRIVATE:
        return Sight.DESK
    return Sight.STAFF if roles else Sight.PUBLIC


def mover(session: Session, event_id: int) -> Mover:
    """The caller as one who moves entrants. Raises `NotFound`."""
    caller = current_caller()
    return Mover(actor=caller.actor, roles=roles_in(queries.event(session, event_id), caller))
