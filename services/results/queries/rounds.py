"""Rounds with their counts and byes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow
from qisai.db.events import EventRow
from qisai.db.rounds import BoardRow, RoundRow, RoundState, SeatRow
from qisai.errors import NotFound

PENDING: Final = RoundState.PENDING


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundView:
    """One round as everybody may see it. `version` 0: nothing was ever written for it."""

    id: int | None = None
    number: int
    state: RoundState = PENDING
    version: int = 0
    published_at: Any = None
    published_by: str | None = None
    closed_at: Any = None
    closed_by: str | None = None
    clock_ends_at: datetime | None = None
    clock_left_ms: int | None = None
    now: datetime | None = None
    """The server's time when this was read: what the clock is told from."""
    boards: int = 0
    reported: int = 0
    byes: Sequence[Any] = ()
    """Rows of entrant_id, number, name, club, place."""


def rounds(session: Session, event_id: int) -> list[RoundView]:
    """All rounds that have a row, in order: two queries."""
    return _views(session, RoundRow.event_id == event_id)


def round_or_pending(session: Session, event_id: int, *, number: int) -> RoundView:
    """One round. A round that nothing was written for is pending; one beyond the event's last is `NotFound`."""
    found = _views(session, RoundRow.event_id == event_id, RoundRow.number == number)
    if found:
        return found[0]
    planned = session.execute(
        sa.select(EventRow.regulations["rounds"].as_integer()).where(EventRow.id == event_id)
    ).scalar_one_or_none()
    if planned is not None and number > planned:
        raise NotFound("round-not-found", f"This event has {planned} rounds.", rounds=planned)
    return RoundView(number=number)


def published_rounds(session: Session, event_id: int) -> int:
    """How many rounds are published or closed."""
    query = sa.select(sa.func.count()).where(RoundRow.event_id == event_id, RoundRow.state != PENDING)
    return session.execute(query).scalar_one()


def _views(session: Session, *where: sa.ColumnElement[bool]) -> list[RoundView]:
    r, b = RoundRow, BoardRow
    counts = (
        sa.select(sa.func.count().label("boards"), sa.func.count(b.result).label("reported"))
        .where(b.round_id == r.id, b.unpublished_at.is_(None))
        .lateral()
    )
    states = (r.id, r.number, r.state, r.version, r.published_at, r.published_by, r.closed_at, r.closed_by)
    clock = (r.clock_ends_at, r.clock_left_ms, sa.func.clock_timestamp().label("now"))
    query = sa.select(*states, *clock, counts.c.boards, counts.c.reported).select_from(r).join(counts, sa.true())
    rows = session.execute(query.where(*where).order_by(r.number)).all()
    byes = byes_of(session, [row.id for row in rows])
    return [RoundView(**row._mapping, byes=byes.get(row.id, ())) for row in rows]


def byes_of(session: Session, round_ids: Sequence[int]) -> dict[int, list[Any]]:
    """Byes by round id: rows of round_id, entrant_id, number, name, club, place, by number."""
    s, e = SeatRow, EntrantRow
    query = (
        sa.select(s.round_id, s.entrant_id, e.number, e.name, e.club, s.place)
        .join(e, e.id == s.entrant_id)
        .where(s.round_id.in_(round_ids), s.board_id.is_(None))
        .order_by(e.number)
    )
    found: dict[int, list[Any]] = {}
    for row in session.execute(query):
        found.setdefault(row.round_id, []).append(row)
    return found
