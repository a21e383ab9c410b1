"""Entrants as they are listed, searched and looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from qisai.db.entrants import AbsenceRow, EntrantRow, EntrantState, MemberRow, RequestedByeRow, TransitionRow
from qisai.db.records import AuditRow
from qisai.errors import NotFound
from qisai.formats.typed_text import tidy
from services.registration.states import PUBLIC_STATES

UNNUMBERED: Final = 1_000_000
"""Sorts behind every number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a list goes on: the sort key of the last row shown."""

    number: int
    sort_key: str
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantFilter:
    """Which entrants a list shows."""

    q: str | None = None
    state: EntrantState | None = None
    after: Place | None = None
    limit: int = 500
    staff: bool = False
    """Everybody; else only whom the public may see."""


def entrants(session: Session, event_id: int, wanted: EntrantFilter) -> Sequence[Any]:
    """Rows of an event's entrants by number, those without one behind, by Pinyin."""
    e = EntrantRow
    place = (sa.func.coalesce(e.number, UNNUMBERED), e.sort_key, e.id)
    query = _query().where(e.event_id == event_id).order_by(*place).limit(wanted.limit)
    if not wanted.staff:
        query = query.where(e.state.in_(PUBLIC_STATES))
    if wanted.state is not None:
        query = query.where(e.state == wanted.state)
    if wanted.q and tidy(wanted.q):
        query = query.where(_matches(tidy(wanted.q).lower()))
    if wanted.after is not None:
        last = (sa.literal(wanted.after.number), sa.literal(wanted.after.sort_key), sa.literal(wanted.after.id))
        query = query.where(sa.tuple_(*place) > sa.tuple_(*last))
    return session.execute(query).all()


def entrant(session: Session, event_id: int, entrant_id: int, *, staff: bool = True) -> Any:
    """One entrant's row. Raises `NotFound`, also for one that the public may not see."""
    row = session.execute(_query().where(EntrantRow.event_id == event_id, EntrantRow.id == entrant_id)).one_or_none()
    if row is None or (not staff and row.state not in PUBLIC_STATES):
        raise NotFound("entrant-not-found", f"There is no entrant {entrant_id} in this event.")
    return row


def transitions(session: Session, entrant_id: int) -> Sequence[TransitionRow]:
    """Every change of an entrant's state, oldest first."""
    query = sa.select(TransitionRow).where(TransitionRow.entrant_id == entrant_id)
    return session.scalars(query.order_by(TransitionRow.at, TransitionRow.id)).all()


def last_change(session: Session, event_id: int, entrant_id: int) -> Any:
    """Who changed the entrant last, and when: row of at, actor_name, account_id; None where nobody did."""
    t, a = TransitionRow, AuditRow
    steps = sa.select(t.at, t.actor_name, t.actor_account_id.label("account_id")).where(t.entrant_id == entrant_id)
    edits = sa.select(a.at, a.actor_name, a.actor_account_id.label("account_id")).where(
        a.event_id == event_id, a.subject == f"entrant:{entrant_id}"
    )
    both = sa.union_all(steps, edits).subquery()
    return session.execute(sa.select(both).order_by(both.c.at.desc()).limit(1)).one_or_none()


def namesakes(session: Session, event_id: int, name: str, *, but: int) -> Sequence[int]:
    """Ids of other entrants of the event with the same name: often a double entry, sometimes another person."""
    e = EntrantRow
    gone = (EntrantState.CANCELLED, EntrantState.REJECTED)
    same = sa.func.lower(e.name) == name.lower()
    query = sa.select(e.id).where(e.event_id == event_id, same, e.id != but, e.state.not_in(gone))
    return session.scalars(query.order_by(e.id)).all()


def _query() -> Any:
    e, a, b = EntrantRow, AbsenceRow, RequestedByeRow
    members = (
        sa.select(sa.func.array_agg(aggregate_order_by(MemberRow.name, MemberRow.position)))
        .where(MemberRow.entrant_id == e.id)
        .scalar_subquery()
    )
    absences = (
        sa.select(sa.func.array_agg(aggregate_order_by(a.round_no, a.round_no)))
        .where(a.entrant_id == e.id)
        .scalar_subquery()
    )
    byes = (
        sa.select(sa.func.jsonb_object_agg(sa.cast(b.round_no, sa.Text), b.kind))
        .where(b.entrant_id == e.id)
        .scalar_subquery()
    )
    columns = (e.id, e.event_id, e.number, e.name, e.sort_key, e.club, e.seed, e.state, e.entered_round)
    more = (e.withdrawn_from, e.fixed_board, e.external_id, e.version)
    return sa.select(*columns, *more, members.label("members"), absences.label("absences"), byes.label("byes"))


def _matches(part: str) -> sa.ColumnElement[bool]:
    """Characters of the name, whole Pinyin with or without spaces, initials (`cy` for 陈一), or the number."""
    e = EntrantRow
    together = sa.func.replace(e.sort_key, " ", "")
    initials = sa.func.regexp_replace(e.sort_key, "([^ ])[^ ]* ?", "\\1", "g")
    letters = part.replace(" ", "")
    conditions = [
        sa.func.strpos(sa.func.lower(e.name), part) > 0,
        sa.func.strpos(together, letters) == 1,
        sa.func.strpos(e.sort_key, part) > 0,
        sa.func.strpos(initials, letters) == 1,
    ]
    if part.isdecimal() and len(part) <= 6:
        conditions.append(e.number == int(part))
    return sa.or_(*conditions)
