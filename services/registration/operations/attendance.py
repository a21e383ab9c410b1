"""Check-in for a single round: who came, and until when that is noted (docs/rules.md section 10).

Once the deadline has passed, whoever has no attendance is absent from that round; without a deadline nobody is.
The desk may still note somebody who comes late, until the round is published: who, and when, stays in the log.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from qisai.db.entrants import AttendanceDeadlineRow, AttendanceRow, EntrantRow, EntrantState
from qisai.errors import Conflict
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from qisai.web.shapes import moment
from services.registration.operations.held import entrant_of, hold_for_entries, require_planned, require_round_ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class Attendance:
    """One round's check-in: until when (None: there is none), who came, who of the seated did not."""

    until: datetime | None
    present: Sequence[int]
    missing: Sequence[int]


def attendance(session: Session, event_id: int, round_no: int) -> Attendance:
    """The check-in of a round as it stands; ids of seated entrants, in the order of their numbers."""
    until = session.execute(_deadline(event_id, round_no)).scalar_one_or_none()
    e, a = EntrantRow, AttendanceRow
    came = sa.select(sa.literal(1)).where(a.entrant_id == e.id, a.round_no == round_no).exists()
    query = sa.select(e.id, came.label("came")).where(e.event_id == event_id, e.state == EntrantState.SEATED)
    rows = session.execute(query.order_by(e.number.nulls_last(), e.id)).all()
    return Attendance(
        until=until,
        present=[row.id for row in rows if row.came],
        missing=[row.id for row in rows if not row.came],
    )


def _deadline(event_id: int, round_no: int) -> Any:
    d = AttendanceDeadlineRow
    return sa.select(d.until).where(d.event_id == event_id, d.round_no == round_no)


def set_deadline(session: Session, actor: Actor, *, event_id: int, round_no: int, until: datetime | None) -> None:
    """From when on those without attendance are absent; None: no check-in. The same again changes nothing.

    Raises `NotFound`, `Invalid` for a round beyond the last, `Conflict`: `round-published`, `event-over`.
    """
    event = hold_for_entries(session, event_id)
    require_planned(event, round_no)
    before = session.execute(_deadline(event_id, round_no)).scalar_one_or_none()
    if before == until:
        return
    d = AttendanceDeadlineRow
    if until is None:
        where = (d.event_id == event_id, d.round_no == round_no)
        session.execute(sa.delete(d).where(*where).execution_options(synchronize_session=False))
    else:
        statement = insert(d).values(event_id=event_id, round_no=round_no, until=until)
        statement = statement.on_conflict_do_update(index_elements=["event_id", "round_no"], set_={"until": until})
        session.execute(statement.execution_options(synchronize_session=False))
    old, new = ({"round": round_no, "until": moment(value)} for value in (before, until))
    _publish(
        session, actor, event_id, round_no, subject=f"event:{event_id}", what="attendance.deadline", old=old, new=new
    )


def set_present(
    session: Session, actor: Actor, *, event_id: int, entrant_id: int, round_no: int, present: bool
) -> None:
    """Notes that a seated entrant came, or takes it back; saying it twice changes nothing.

    Raises `NotFound`, `Invalid`, `Conflict`: `not-seated`, `round-published`, `event-over`.
    """
    event = hold_for_entries(session, event_id)
    row = entrant_of(session, event_id, entrant_id)
    require_planned(event, round_no)
    if present and row.state is not EntrantState.SEATED:
        detail = f"{row.name} is {row.state.slug}; only seated entrants check in for a round."
        raise Conflict("not-seated", detail, name=row.name, state=row.state.slug)
    changed = _write(session, [entrant_id], round_no, present=present)
    if changed:
        was, now = {"round": round_no, "present": not present}, {"round": round_no, "present": present}
        subject = f"entrant:{entrant_id}"
        _publish(session, actor, event_id, round_no, subject=subject, what="entrant.attendance", old=was, new=now)


def set_all_present(
    session: Session, actor: Actor, *, event_id: int, round_no: int, ids: Collection[int] | None, present: bool
) -> Mapping[str, Sequence[int]]:
    """The same for many (`ids` None: all who are seated) in one transaction: `changed`, and `refused`, who is not.

    Raises as `set_present`, but for `not-seated`.
    """
    event = hold_for_entries(session, event_id)
    require_planned(event, round_no)
    e = EntrantRow
    query = sa.select(e.id).where(e.event_id == event_id, e.state == EntrantState.SEATED)
    seated = session.scalars((query if ids is None else query.where(e.id.in_(ids))).order_by(e.id)).all()
    changed = _write(session, seated, round_no, present=present)
    if changed:
        new = {"round": round_no, "present": present, "entrants": changed}
        subject = f"event:{event_id}"
        _publish(session, actor, event_id, round_no, subject=subject, what="entrant.attendance", old={}, new=new)
    return {"changed": changed, "refused": sorted(set(ids or ()) - set(seated))}


def _write(session: Session, ids: Sequence[int], round_no: int, *, present: bool) -> list[int]:
    """Ids of those for whom it was otherwise before."""
    if not ids:
        return []
    a = AttendanceRow
    if present:
        rows = [{"entrant_id": one, "round_no": round_no} for one in ids]
        added = insert(a).values(rows).on_conflict_do_nothing().returning(a.entrant_id)
        return sorted(session.scalars(added))
    gone = sa.delete(a).where(a.round_no == round_no, a.entrant_id.in_(ids)).returning(a.entrant_id)
    return sorted(session.scalars(gone.execution_options(synchronize_session=False)))


def _publish(
    session: Session,
    actor: Actor,
    event_id: int,
    round_no: int,
    *,
    subject: str,
    what: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
) -> None:
    audit.record(session, actor, action=what, subject=subject, event_id=event_id, old=old, new=new)
    feed.publish(session, event_id, what, data={"round": round_no}, pairing=True)
    require_round_ahead(session, event_id, round_no)
