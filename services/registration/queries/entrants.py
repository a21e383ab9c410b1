"""Entrants as they are listed, searched and looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from qisai.db.entrants import (
    AbsenceRow,
    ContactRow,
    EntrantRow,
    EntrantState,
    MemberRow,
    RequestedByeRow,
    TransitionRow,
)
from qisai.db.records import AuditRow
from qisai.errors import NotFound
from qisai.formats.typed_text import name_key, tidy_name
from services.registration.states import GONE, PUBLIC_STATES

LINKED: Final = "entrant.link"
"""Action of the audit row of a further link to an entry; the entry itself stays as it is."""
UNNUMBERED: Final = 1_000_000
"""Sorts behind every number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a list goes on: the sort key of the last row shown."""

    number: int
    sort_key: str
    name: str
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
    by_name: bool = False
    """By Pinyin, not by number."""


def entrants(session: Session, event_id: int, wanted: EntrantFilter) -> Sequence[Any]:
    """Rows of an event's entrants by number, those without one behind, by Pinyin; equal sounds by characters."""
    e = EntrantRow
    number = sa.literal(0) if wanted.by_name else sa.func.coalesce(e.number, UNNUMBERED)
    place = (number, e.sort_key, e.name.collate("C"), e.id)
    query = _query(event_id).where(e.event_id == event_id).order_by(*place).limit(wanted.limit)
    if not wanted.staff:
        query = query.where(e.state.in_(PUBLIC_STATES))
    if wanted.state is not None:
        query = query.where(e.state == wanted.state)
    typed = tidy_name(wanted.q or "")
    if typed:
        query = query.where(_matches(typed.lower()))
    if wanted.after is not None:
        after = wanted.after
        last = (sa.literal(after.number), sa.literal(after.sort_key), sa.literal(after.name), sa.literal(after.id))
        query = query.where(sa.tuple_(*place) > sa.tuple_(*last))
    return session.execute(query).all()


def entrant(session: Session, event_id: int, entrant_id: int, *, staff: bool = True) -> Any:
    """One entrant's row. Raises `NotFound`, also for one that the public may not see."""
    query = _query(event_id).where(EntrantRow.event_id == event_id, EntrantRow.id == entrant_id)
    row = session.execute(query).one_or_none()
    if row is None or (not staff and row.state not in PUBLIC_STATES):
        raise NotFound("entrant-not-found", f"There is no entrant {entrant_id} in this event.")
    return row


def transitions(session: Session, entrant_id: int) -> Sequence[TransitionRow]:
    """Every change of an entrant's state, oldest first."""
    query = sa.select(TransitionRow).where(TransitionRow.entrant_id == entrant_id)
    return session.scalars(query.order_by(TransitionRow.at, TransitionRow.id)).all()


def last_step(session: Session, entrant_id: int) -> TransitionRow | None:
    """The latest change of an entrant's state."""
    query = sa.select(TransitionRow).where(TransitionRow.entrant_id == entrant_id)
    return session.scalars(query.order_by(TransitionRow.id.desc()).limit(1)).one_or_none()


def last_change(session: Session, event_id: int, entrant_id: int) -> Any:
    """Who changed the entrant last, and when: row of at, actor_name, account_id; None where nobody did."""
    t, a = TransitionRow, AuditRow
    steps = sa.select(t.at, t.actor_name, t.actor_account_id.label("account_id")).where(t.entrant_id == entrant_id)
    edits = sa.select(a.at, a.actor_name, a.actor_account_id.label("account_id")).where(
        a.event_id == event_id, a.subject == f"entrant:{entrant_id}", a.action != LINKED
    )
    both = sa.union_all(steps, edits).subquery()
    return session.execute(sa.select(both).order_by(both.c.at.desc()).limit(1)).one_or_none()


@dataclass(frozen=True, slots=True, kw_only=True)
class Namesakes:
    """Other entrants of one name: `likely` the same person entered twice, or rather `others`."""

    likely: tuple[int, ...] = ()
    others: tuple[int, ...] = ()


def namesakes(session: Session, event_id: int, entrant: Any, *, but: int) -> Namesakes:
    """Who has the name of `entrant` (name, club, birth_year) in the event, and may be the same person.

    Names and clubs are compared however they are spaced (`name_key`). Different people with one name are normal: other
    birth years make another person and are not named at all; the same club, or the same year, makes a double entry
    likely.
    """
    e = EntrantRow
    same = sa.func.replace(sa.func.lower(e.name), " ", "") == entrant.name.lower().replace(" ", "")
    query = sa.select(e.id, e.name, e.club, e.birth_year).where(e.event_id == event_id, same, e.id != but)
    likely: list[int] = []
    others: list[int] = []
    for row in session.execute(query.where(e.state.not_in(GONE)).order_by(e.id)):
        years = {row.birth_year, entrant.birth_year} - {None}
        if len(years) == 2 or name_key(row.name).lower() != name_key(entrant.name).lower():
            continue
        is_likely = bool(years) and row.birth_year == entrant.birth_year
        is_likely |= name_key(row.club).casefold() == name_key(entrant.club).casefold()
        (likely if is_likely else others).append(row.id)
    return Namesakes(likely=tuple(likely), others=tuple(others))


def _queue(event_id: int) -> Any:
    """The waiting list of an event: id and place, from 1; those who wait longer are in front."""
    e, t = EntrantRow, TransitionRow
    since = sa.func.max(t.id)
    return (
        sa.select(e.id, sa.func.row_number().over(order_by=(since, e.id)).label("place"))
        .join(t, (t.entrant_id == e.id) & (t.to_state == EntrantState.WAITING))
        .where(e.event_id == event_id, e.state == EntrantState.WAITING)
        .group_by(e.id)
        .subquery("queue")
    )


def _query(event_id: int) -> Any:
    e, a, b = EntrantRow, AbsenceRow, RequestedByeRow
    queue = _queue(event_id)
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
    c = ContactRow
    columns = (e.id, e.event_id, e.number, e.name, e.sort_key, e.club, e.seed, e.state, e.entered_round)
    more = (e.withdrawn_from, e.fixed_board, e.external_id, e.version, e.seed_source, e.seed_date)
    private = (e.sex, e.birth_year, c.phone, c.email, c.notes)
    parts = (people_of_entrant().label("people"), absences.label("absences"), byes.label("byes"))
    query = sa.select(*columns, *more, *private, *parts, queue.c.place.label("waiting_place"))
    return query.outerjoin(c, c.entrant_id == e.id).outerjoin(queue, queue.c.id == e.id)


def people_of_entrant() -> Any:
    """The members of the entrant in a query, in order, as `Team.rows` writes them; NULL where there are none."""
    m = MemberRow
    person = sa.func.jsonb_build_object(
        "name", m.name, "substitute", m.is_substitute, "birth_year", m.birth_year, "external_id", m.external_id
    )
    return (
        sa.select(sa.func.jsonb_agg(aggregate_order_by(person, m.position)))
        .where(m.entrant_id == EntrantRow.id)
        .scalar_subquery()
    )


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
