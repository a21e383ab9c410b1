"""Events and game profiles as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.accounts import Role
from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.events import EventRow, EventState, ProfileRow
from qisai.db.records import AuditRow
from qisai.errors import NotFound
from qisai.web.identity import Caller

MOST_HISTORY: Final = 500
"""Changes of a game that its history shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events a list shows: `q` is part of the name or venue; `before` the last id already shown."""

    state: EventState | None = None
    q: str | None = None
    before: int | None = None
    limit: int = 200


def profiles(session: Session) -> Sequence[ProfileRow]:
    """All games in their order."""
    return session.scalars(sa.select(ProfileRow).order_by(ProfileRow.position, ProfileRow.code)).all()


def profile(session: Session, code: str) -> ProfileRow:
    """One game as stored now. Raises `NotFound`."""
    found = session.get(ProfileRow, code, populate_existing=True)
    if found is None:
        raise NotFound("profile-not-found", f"There is no game {code!r}.")
    return found


def profile_history(session: Session, code: str) -> Sequence[AuditRow]:
    """Changes of a game by people, newest first."""
    query = sa.select(AuditRow).where(AuditRow.action == "profile.change", AuditRow.subject == f"profile:{code}")
    return session.scalars(query.order_by(AuditRow.id.desc()).limit(MOST_HISTORY)).all()


def event(session: Session, event_id: int) -> EventRow:
    """The event as stored now. Raises `NotFound`."""
    found = session.get(EventRow, event_id, populate_existing=True)
    if found is None:
        raise NotFound("event-not-found", f"There is no event {event_id}.")
    return found


def events(session: Session, caller: Caller, wanted: EventFilter) -> Sequence[EventRow]:
    """Events that the caller may know of, newest first."""
    e = EventRow
    query = sa.select(e).where(_visible_to(caller)).order_by(e.id.desc()).limit(wanted.limit)
    if wanted.state is not None:
        query = query.where(e.state == wanted.state)
    if wanted.q:
        part = wanted.q.strip().lower()
        query = query.where((sa.func.strpos(sa.func.lower(e.name), part) > 0) | (sa.func.strpos(e.venue, part) > 0))
    if wanted.before is not None:
        query = query.where(e.id < wanted.before)
    return session.scalars(query).all()


def _visible_to(caller: Caller) -> sa.ColumnElement[bool]:
    """The rule of `identity.authorise` for READ_EVENT as a condition."""
    everywhere = any(grant.event_id is None and grant.role is not Role.ORGANISER for grant in caller.grants)
    if everywhere:
        return sa.true()
    conditions: list[sa.ColumnElement[bool]] = [EventRow.is_public & (EventRow.state != EventState.DRAFT)]
    granted = [grant.event_id for grant in caller.grants if grant.event_id is not None]
    if granted:
        conditions.append(EventRow.id.in_(granted))
    if caller.signed_in and any(grant.role is Role.ORGANISER for grant in caller.grants):
        conditions.append(EventRow.created_by == caller.actor.account_id)
    return sa.or_(*conditions)


def counts(session: Session, event_id: int) -> Mapping[EntrantState, int]:
    """Entrants by state."""
    query = sa.select(EntrantRow.state, sa.func.count()).where(EntrantRow.event_id == event_id)
    return {state: count for state, count in session.execute(query.group_by(EntrantRow.state))}  # noqa: C416 - typed
