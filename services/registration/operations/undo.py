"""Taking a step of many entrants back: those who were not changed since are again as they were before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.events import EventRow
from qisai.db.records import AuditRow
from qisai.errors import Conflict, NotFound
from qisai.ledger import audit, feed
from services.registration.operations.held import hold_for_entries
from services.registration.operations.judging import Mover, Refusal, refuse
from services.registration.operations.members import Elsewhere, returning_complaints
from services.registration.operations.steps import Moved, fill_free_places, free_places, put_back, told, unknown
from services.registration.queries.rounds import next_round
from services.registration.states import PLAYED, STEPS, TAKES_PLACE, by_slug

DONE: Final = "entrant.bulk"
UNDONE: Final = "entrant.bulk_undo"
"""Actions of the audit rows that keep who was moved from where, and that it was taken back."""


def note_bulk_step(session: Session, mover: Mover, event_id: int, moved: Moved, *, reason: str) -> int | None:
    """Keeps what a step of many did, so that it can be taken back; the id to do so, None where nobody moved."""
    if not moved.changed:
        return None
    old = {
        str(row.id): {"state": row.state.slug, "number": row.number, "from_round": row.withdrawn_from}
        for row in moved.before
        if row.id in moved.changed
    }
    new = {str(one): {"state": state.slug, "version": version} for one, (version, state) in moved.changed.items()}
    said = {"entrants": new, "next_round": next_round(session, event_id)}
    return audit.record(
        session,
        mover.actor,
        action=DONE,
        subject=f"event:{event_id}",
        event_id=event_id,
        old={"entrants": old},
        new=said,
        reason=reason,
    )


def undo_bulk_step(session: Session, mover: Mover, *, event_id: int, step_id: int) -> Moved:
    """Takes the step back for everybody whom nobody changed since, with the rights that the step needed.

    Raises `NotFound` `step-not-found`, `Conflict`: `undone-already`, `round-published` since, `event-over`.
    """
    event = hold_for_entries(session, event_id)
    done = _done(session, event_id, step_id)
    then = done.new["next_round"]
    _require_same_round(session, event_id, then)
    before, after = done.old["entrants"], done.new["entrants"]
    ids = [int(one) for one in after]
    e = EntrantRow
    query = sa.select(e.id, e.name, e.number, e.state, e.version).where(e.event_id == event_id, e.id.in_(ids))
    rows = session.execute(query.order_by(e.id)).all()
    may, refused = _judge(session, mover, event, rows, before=before, after=after)
    changed = put_back(
        session, mover.actor, event, may, before={row.id: _before(before, row) for row in may}, step_id=step_id
    )
    moved_up = fill_free_places(session, mover.actor, event)
    if changed:
        new = {"step": step_id, "entrants": sorted(changed)}
        subject = f"step:{step_id}"
        audit.record(session, mover.actor, action=UNDONE, subject=subject, event_id=event_id, new=new)
        pairing = any(row.state in PLAYED or changed.get(row.id, (0, row.state))[1] in PLAYED for row in may)
        feed.publish(session, event_id, "entrant.state", data=told(changed), pairing=pairing)
        _require_same_round(session, event_id, then)
    return Moved(changed=changed, refused=[*refused, *unknown(rows, ids)], moved_up=moved_up)


def _done(session: Session, event_id: int, step_id: int) -> Any:
    a = AuditRow
    query = sa.select(a.old, a.new).where(a.id == step_id, a.event_id == event_id, a.action == DONE)
    done = session.execute(query).one_or_none()
    if done is None:
        raise NotFound("step-not-found", f"There is no step {step_id} of many entrants in this event.")
    undone = sa.select(a.actor_name, a.at).where(
        a.event_id == event_id, a.action == UNDONE, a.subject == f"step:{step_id}"
    )
    earlier = session.execute(undone.limit(1)).one_or_none()
    if earlier is not None:
        detail = f"{earlier.actor_name} took this step back already, at {earlier.at.isoformat()}."
        raise Conflict("undone-already", detail, by=earlier.actor_name)
    return done


def _require_same_round(session: Session, event_id: int, then: int) -> None:
    now = next_round(session, event_id)
    if now != then:
        detail = f"A round was published or taken back since (the next one was {then}, is {now}); move entrants singly."
        raise Conflict("round-published", detail, round=now - 1, next_round=now)


def _before(before: Mapping[str, Mapping[str, Any]], row: Any) -> tuple[EntrantState, int | None, int | None]:
    said = before[str(row.id)]
    state = by_slug(said["state"])
    assert state is not None  # written by `note_bulk_step`
    return state, said["number"], said["from_round"]


def _judge(
    session: Session,
    mover: Mover,
    event: EventRow,
    rows: Sequence[Any],
    *,
    before: Mapping[str, Mapping[str, Any]],
    after: Mapping[str, Mapping[str, Any]],
) -> tuple[list[Any], list[Refusal]]:
    """Who goes back: at the version that the step left, by somebody who may take it, into a place that is free."""
    free = free_places(session, event)
    elsewhere = _returning(session, event, rows, before)
    may: list[Any] = []
    refused: list[Refusal] = []
    for row in rows:
        source, _number, _from_round = _before(before, row)
        target = after[str(row.id)]
        needs_place = source in TAKES_PLACE and row.state not in TAKES_PLACE
        if row.version != target["version"]:
            refused.append(refuse(row, source, "stale", f"{row.name} was changed since."))
        elif not _may_undo(mover, source, row.state):
            refused.append(refuse(row, source, "step-not-yours", f"Taking {row.name} back is not yours to do."))
        elif needs_place and free is not None and free <= 0:
            refused.append(refuse(row, source, "event-full", f"The place of {row.name} was given away meanwhile."))
        elif row.id in elsewhere:
            found = elsewhere[row.id]
            refused.append(refuse(row, source, "member-elsewhere", found.detail, **found.said()))
        else:
            may.append(row)
            free = free - 1 if free is not None and needs_place else free
    return may, refused


def _may_undo(mover: Mover, source: EntrantState, target: EntrantState) -> bool:
    """Whoever may take the step may take it back; registration that was approved by itself counts as one step."""
    step = STEPS.get((source, target)) or STEPS.get((source, EntrantState.REGISTERED))
    return step is not None and bool(step.roles & mover.roles)


def _returning(
    session: Session, event: EventRow, rows: Iterable[Any], before: Mapping[str, Mapping[str, Any]]
) -> Mapping[int, Elsewhere]:
    back = [row for row in rows if _before(before, row)[0] in TAKES_PLACE]
    return returning_complaints(session, event, back)
