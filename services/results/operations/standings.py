"""Keeping standings that were just computed, at a read and never inside a write of results."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from qisai.db.records import FeedRow
from qisai.db.rounds import StandingsCacheRow, StandingsKind
from services.results.queries.standings import Point

_NO_WAITING: Final = sa.text("SET LOCAL lock_timeout = '250ms'")
"""A reader does not wait for whoever keeps the same table just now."""


def keep(session: Session, at: Point, kind: StandingsKind, document: str) -> None:
    """Keeps a document in the place of an older one.

    One of a later point stays, unless that point is still to come: such a row was never written by us.
    """
    session.execute(_NO_WAITING)
    c = StandingsCacheRow
    values = {"feed_no": at.feed_no, "document": document, "digest": at.digest(kind, document)}
    statement = insert(c).values(event_id=at.event_id, after_round=at.after, kind=kind, **values)
    today = sa.select(FeedRow.feed_no).where(FeedRow.event_id == at.event_id).scalar_subquery()
    session.execute(
        statement.on_conflict_do_update(
            index_elements=[c.event_id, c.after_round, c.kind],
            set_={**values, "made_at": sa.func.now()},
            where=sa.or_(c.feed_no <= at.feed_no, c.feed_no > today),
        )
    )
