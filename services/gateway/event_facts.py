"""The little that the gateway reads of events, alone here: whose they are, and what an invitation calls them.

Everything else about events is asked of the services. The database role may read these columns and no other.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.events import EventRow


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFacts:
    """Name, zone, and the account that made the event."""

    name: str
    time_zone: str
    created_by: int | None


def event_facts(session: Session, event_id: int | None) -> EventFacts | None:
    """Of one event; None where there is none."""
    e = EventRow
    row = session.execute(sa.select(e.name, e.time_zone, e.created_by).where(e.id == event_id)).one_or_none()
    return None if row is None else EventFacts(name=row.name, time_zone=row.time_zone, created_by=row.created_by)
