"""One's own entry, found by the secret of its link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState, LinkRow
from qisai.db.events import EventRow, EventState
from qisai.db.secrets import hash_secret
from qisai.errors import NotFound
from services.registration.queries import entrants, events

S = EntrantState
CANCELLABLE: Final = frozenset({S.WAITING, S.REGISTERED, S.APPROVED, S.CHECKED_IN})
"""States from which people cancel on their own; once they are seated it is for the desk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEntry:
    """What a link opens: the event and the entrant's row."""

    event: EventRow
    entrant: Any

    @property
    def can_cancel(self) -> bool:
        """Whether the link may cancel the entry now."""
        over = self.event.state in (EventState.FINISHED, EventState.ARCHIVED)
        return self.entrant.state in CANCELLABLE and not over


def own_entry(session: Session, token: str) -> OwnEntry:
    """What the link opens. Raises `NotFound` `no-such-link`."""
    event_id, entrant_id = behind_link(session, token)
    row = entrants.entrant(session, event_id, entrant_id)
    return OwnEntry(event=events.event(session, event_id), entrant=row)


def behind_link(session: Session, token: str) -> tuple[int, int]:
    """Ids of the event and the entrant. Raises `NotFound` `no-such-link`."""
    query = sa.select(EntrantRow.event_id, EntrantRow.id).join(LinkRow, LinkRow.entrant_id == EntrantRow.id)
    row = session.execute(query.where(LinkRow.secret_hash == hash_secret(token))).one_or_none()
    if row is None:
        raise NotFound("no-such-link", "This link opens nothing; it may have been copied in part.")
    return row.event_id, row.id
