"""The event feed: every change of an event, numbered without gaps in the order of commits.

Call `publish` as the last statement of a write: it takes the event's feed row, so writers of one event queue for the
commit only. Guards that hang on another service's rows are tested after it, while the row is held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from psycopg.types.json import Json
from sqlalchemy.orm import Session

from qisai.db.records import FeedEntryRow, FeedRow
from qisai.db.statements import Statement
from qisai.errors import NotFound


@dataclass(frozen=True, slots=True)
class FeedNumbers:
    """The event's numbers: `feed_no` of the last change, `pairing_no` of the last change that pairing reads."""

    feed_no: int
    pairing_no: int


PUBLISH = Statement(
    sa.text(
        """
    WITH bump AS (
      UPDATE event_feed SET feed_no = feed_no + 1, pairing_no = pairing_no + :pairing
      WHERE event_id = :event_id RETURNING event_id, feed_no, pairing_no
    ), entry AS (
      INSERT INTO feed_entry (event_id, feed_no, kind, data) SELECT event_id, feed_no, :kind, :data FROM bump
    )
    SELECT feed_no, pairing_no FROM bump
    """
    )
)
"""Takes the event's next number and writes its entry: `event_id`, `kind`, `data`, `pairing` (1: pairing reads it)."""


def open_feed(session: Session, event_id: int) -> None:
    """Starts the feed of a new event at 0."""
    session.execute(sa.insert(FeedRow).values(event_id=event_id))


def publish(
    session: Session, event_id: int, kind: str, *, data: Mapping[str, Any] | None = None, pairing: bool = False
) -> FeedNumbers:
    """Writes one feed entry and returns the new numbers. `pairing`: this changes what pairing reads.

    `kind` is a static name (`result.recorded`, `round.published`); `data` holds ids and public values only, since the
    live stream shows it. Raises `NotFound` for an event without a feed.
    """
    session.flush()
    values = {"event_id": event_id, "kind": kind, "data": Json(dict(data or {})), "pairing": int(pairing)}
    row = PUBLISH.first(session.connection(), values)
    if row is None:
        raise NotFound("event-not-found", f"There is no event {event_id}.")
    return FeedNumbers(row.feed_no, row.pairing_no)


def numbers(session: Session, event_id: int) -> FeedNumbers:
    """Present numbers of an event. Raises `NotFound`."""
    row = session.execute(
        sa.select(FeedRow.feed_no, FeedRow.pairing_no).where(FeedRow.event_id == event_id)
    ).one_or_none()
    if row is None:
        raise NotFound("event-not-found", f"There is no event {event_id}.")
    return FeedNumbers(row.feed_no, row.pairing_no)


def entries_after(session: Session, event_id: int, *, feed_no: int, limit: int = 500) -> list[FeedEntryRow]:
    """Entries behind `feed_no`, oldest first, at most `limit`."""
    query = sa.select(FeedEntryRow).where(FeedEntryRow.event_id == event_id, FeedEntryRow.feed_no > feed_no)
    return list(session.scalars(query.order_by(FeedEntryRow.feed_no).limit(limit)))
