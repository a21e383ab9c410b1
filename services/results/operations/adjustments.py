"""Points that the chief referee gives or takes: decisions with a reason, taken back but never changed."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow
from qisai.db.rounds import AdjustmentRow
from qisai.db.session import compare_and_set
from qisai.errors import Conflict, NotFound, Stale
from qisai.kernel.regulations_file import points_number
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from services.results.answers import moment
from services.results.operations.rounds import require_running
from services.results.queries.rounds import published_rounds


def adjust_points(
    session: Session, actor: Actor, *, event_id: int, entrant_id: int, half_points: int, after_round: int, reason: str
) -> int:
    """The id of the new adjustment, which counts in standings after `after_round` and later (docs/rules.md section 9).

    Raises `NotFound` `entrant-not-found`, `Conflict` `round-not-published` or `event-not-running`.
    """
    here = (EntrantRow.id == entrant_id, EntrantRow.event_id == event_id, EntrantRow.number.is_not(None))
    number = session.execute(sa.select(EntrantRow.number).where(*here)).scalar_one_or_none()
    if number is None:
        raise NotFound("entrant-not-found", f"The event has no entrant {entrant_id} with a number.")
    row = AdjustmentRow(
        event_id=event_id,
        entrant_id=entrant_id,
        half_points=half_points,
        after_round=after_round,
        reason=reason,
        made_by=actor.name,
        account_id=actor.account_id,
    )
    session.add(row)
    session.flush()
    new = {"adjustment": row.id, "points": points_number(half_points), "round": after_round}
    subject = f"entrant:{entrant_id}"
    audit.record(session, actor, action="points.adjust", subject=subject, event_id=event_id, new=new, reason=reason)
    feed.publish(session, event_id, "points.adjusted", data={"entrant": number, **new})
    if published_rounds(session, event_id) < after_round:  # under the feed's lock, as the event's state
        raise Conflict("round-not-published", f"Round {after_round} is not published.", round=after_round)
    require_running(session, event_id)
    return row.id


def take_back(
    session: Session, actor: Actor, *, event_id: int, adjustment_id: int, seen_version: int, reason: str
) -> None:
    """The adjustment counts no more; the decision stays on record.

    Raises `NotFound`, `Stale`, `Conflict` `adjustment-taken-back` or `event-not-running`.
    """
    row = adjustment(session, event_id, adjustment_id)
    where = [
        AdjustmentRow.id == adjustment_id,
        AdjustmentRow.version == seen_version,
        AdjustmentRow.taken_back_at.is_(None),
    ]
    values = {"taken_back_at": sa.func.clock_timestamp(), "taken_back_by": actor.name, "taken_back_reason": reason}
    if not compare_and_set(session, AdjustmentRow, where=where, values={**values, "version": seen_version + 1}):
        session.refresh(row)
        if row.version == seen_version:
            detail = f"This decision was taken back by {row.taken_back_by} at {moment(row.taken_back_at)}."
            raise Conflict("adjustment-taken-back", detail, taken_back_by=row.taken_back_by)
        raise _stale(row)
    old = {"adjustment": row.id, "points": points_number(row.half_points), "round": row.after_round}
    subject = f"entrant:{row.entrant_id}"
    audit.record(session, actor, action="points.restore", subject=subject, event_id=event_id, old=old, reason=reason)
    feed.publish(session, event_id, "points.restored", data=old)
    require_running(session, event_id)


def adjustment(session: Session, event_id: int, adjustment_id: int) -> AdjustmentRow:
    """One adjustment of the event. Raises `NotFound`."""
    row = session.get(AdjustmentRow, adjustment_id, populate_existing=True)
    if row is None or row.event_id != event_id:
        raise NotFound("adjustment-not-found", f"The event has no adjustment {adjustment_id}.")
    return row


def _stale(row: AdjustmentRow) -> Stale:
    current = {
        "id": row.id,
        "version": row.version,
        "updated_by": row.taken_back_by or row.made_by,
        "updated_at": moment(row.taken_back_at or row.made_at),
    }
    return Stale("stale", "The decision was changed meanwhile.", current=current)
