"""Changing entrants, and the steps of one entrant's state or of many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.name_keys import sort_key
from qisai.db.session import compare_and_set
from qisai.errors import Conflict, Forbidden, Stale
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from qisai.web.shapes import moment
from services.registration import answers
from services.registration.answers import PRIVATE, Sight
from services.registration.operations.held import hold_for_entries
from services.registration.operations.judging import Mover, Refusal, Step
from services.registration.operations.members import Team, require_team_fits, set_members, team_of
from services.registration.operations.registering import CONTACT, refuse_unused, require_external_id_free, set_contacts
from services.registration.operations.steps import LEFT, Moved, entrants_where, take_step, unknown
from services.registration.queries import entrants as queries
from services.registration.queries.rounds import next_round
from services.registration.states import GONE, PLAYED

S = EntrantState
READ_BY_PAIRING: Final = frozenset({"club", "seed", "fixed_board"})
"""What a draw depends on, besides numbers and states."""


def change_entrant(
    session: Session, actor: Actor, *, event_id: int, entrant_id: int, seen_version: int, changes: Mapping[str, Any]
) -> None:
    """Changes what is given, and nothing else; `members` and `substitutes` are `Person`s.

    Raises `NotFound`, `Stale`, `Invalid`, `Conflict`: `event-over`, `external-id-taken`, `member-elsewhere`.
    """
    event = hold_for_entries(session, event_id)
    before = queries.entrant(session, event_id, entrant_id)
    refuse_unused(event, changes)
    values = dict(changes)
    team = _changed_team(before, values)
    contact: dict[str, str] = {name: values.pop(name) for name in CONTACT if name in values}
    if team is not None and before.state not in GONE:
        require_team_fits(session, event, team, but=entrant_id)
    if values.get("external_id") not in (None, before.external_id):
        require_external_id_free(session, event_id, values["external_id"])
    if "name" in values:
        values["sort_key"] = sort_key(values["name"])
    where = [EntrantRow.id == entrant_id, EntrantRow.version == seen_version]
    if not compare_and_set(session, EntrantRow, where=where, values={**values, "version": seen_version + 1}):
        raise stale_entrant(session, event_id, entrant_id)
    if team is not None:
        set_members(session, {entrant_id: team})
    set_contacts(session, {entrant_id: contact})
    after = queries.entrant(session, event_id, entrant_id)
    old, new = (answers.entrant(row, sight=Sight.DESK) for row in (before, after))
    changed = [name for name in new if old[name] != new[name]]
    _record(session, actor, event_id, entrant_id, old=loggable(old, changed), new=loggable(new, changed))
    pairing = after.state in PLAYED and bool(READ_BY_PAIRING.intersection(changed))
    feed.publish(session, event_id, "entrant.changed", data={"entrants": [entrant_id]}, pairing=pairing)


def _changed_team(before: Any, values: dict[str, Any]) -> Team | None:
    """The team as it will be, taken out of `values`; None where nothing is said of it."""
    if not values.keys() & {"members", "substitutes"}:
        return None
    present = team_of(before.people)
    return Team(
        members=tuple(values.pop("members", present.members)),
        substitutes=tuple(values.pop("substitutes", present.substitutes)),
    )


def loggable(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Values for the log, which more people read than may see them: of private ones only that they changed."""
    return {name: "•••" if name in PRIVATE and values[name] else values[name] for name in names}


def move_entrant(
    session: Session, mover: Mover, *, event_id: int, entrant_id: int, seen_version: int, step: Step
) -> None:
    """One step of one entrant at the version that was seen.

    A step whose answer was lost may be asked for again by the same person and device: it is done, nothing logged twice.
    Raises `NotFound`, `Stale`, `Forbidden` `step-not-yours`, `Invalid`, `Conflict` with both states named.
    """
    event = hold_for_entries(session, event_id)
    rows = entrants_where(session, event_id, EntrantRow.id == entrant_id)
    if not rows:
        queries.entrant(session, event_id, entrant_id)  # raises
    if rows[0].version != seen_version:
        if _done_already(session, mover.actor, event_id, rows[0], seen_version, step):
            return
        raise stale_entrant(session, event_id, entrant_id)
    moved = take_step(session, mover, event, rows, step)
    if moved.refused:
        raise _refused(moved.refused[0])
    if entrant_id not in moved.changed:
        raise stale_entrant(session, event_id, entrant_id)


def move_entrants(
    session: Session,
    mover: Mover,
    *,
    event_id: int,
    step: Step,
    states: Sequence[EntrantState] | None = None,
    seen: Mapping[int, int] | None = None,
) -> Moved:
    """One step of everybody in `states`, or of the entrants in `seen` (id → version); refusals are named, not raised.

    Raises `NotFound` for the event, `Conflict` `event-over`.
    """
    event = hold_for_entries(session, event_id)
    if seen is None:
        rows = entrants_where(session, event_id, EntrantRow.state.in_(states or ()))
        return take_step(session, mover, event, rows, step)
    rows = entrants_where(session, event_id, EntrantRow.id.in_(seen))
    fresh = [row for row in rows if row.version == seen[row.id]]
    moved = take_step(session, mover, event, fresh, step)
    stale = [
        Refusal(entrant_id=row.id, name=row.name, slug="stale", detail=f"{row.name} was changed meanwhile.")
        for row in rows
        if row.version != seen[row.id]
    ]
    return Moved(
        changed=moved.changed,
        refused=[*moved.refused, *stale, *unknown(rows, seen)],
        moved_up=moved.moved_up,
        before=moved.before,
    )


def bring_to(
    session: Session,
    mover: Mover,
    *,
    event_id: int,
    to: EntrantState,
    ids: Sequence[int] | None,
) -> Moved:
    """Checks in or seats everybody who may be (`ids` None), or these; who is there already stays so, without a word.

    Raises `NotFound` for the event, `Conflict` `event-over` or `no-check-in`.
    """
    event = hold_for_entries(session, event_id)
    if to is S.CHECKED_IN and not event.needs_check_in:
        raise Conflict("no-check-in", "This event has no check-in; seat its entrants.")
    ready = (S.CHECKED_IN,) if event.needs_check_in else (S.APPROVED, S.CHECKED_IN)
    if ids is None:
        sources = (S.APPROVED,) if to is S.CHECKED_IN else ready
        return take_step(
            session, mover, event, entrants_where(session, event_id, EntrantRow.state.in_(sources)), Step(to=to)
        )
    rows = entrants_where(session, event_id, EntrantRow.id.in_(ids))
    beyond = (S.CHECKED_IN, S.SEATED) if to is S.CHECKED_IN else (S.SEATED,)
    moved = take_step(session, mover, event, [row for row in rows if row.state not in beyond], Step(to=to))
    refused = [*moved.refused, *unknown(rows, ids)]
    return Moved(changed=moved.changed, refused=refused, moved_up=moved.moved_up, before=moved.before)


def stale_entrant(session: Session, event_id: int, entrant_id: int) -> Stale:
    """The entrant as it is now, who changed it and when."""
    row = queries.entrant(session, event_id, entrant_id)
    last = queries.last_change(session, event_id, entrant_id)
    current = {
        **answers.entrant(row, sight=Sight.DESK),
        "updated_by": None if last is None else last.actor_name,
        "updated_at": None if last is None else moment(last.at),
    }
    return Stale("stale", f"{row.name} was changed meanwhile: {row.state.slug} now.", current=current)


def _done_already(session: Session, actor: Actor, event_id: int, row: Any, seen_version: int, step: Step) -> bool:
    """Whether this very step, with its round and reason, was taken by the same person on the same device."""
    if row.version != seen_version + 1 or row.state is not step.to or actor.account_id is None:
        return False
    if row.withdrawn_from != _leaves_from(session, event_id, step):
        return False
    last, change = queries.last_step(session, row.id), queries.last_change(session, event_id, row.id)
    if last is None or change is None or change.at != last.at:
        return False
    return (last.actor_account_id, last.device, last.reason) == (actor.account_id, actor.device, step.reason)


def _leaves_from(session: Session, event_id: int, step: Step) -> int | None:
    if step.from_round is None and step.to in LEFT:
        return next_round(session, event_id)
    return step.from_round


def _refused(refusal: Refusal) -> Conflict | Forbidden:
    kind = Forbidden if refusal.slug == "step-not-yours" else Conflict
    return kind(refusal.slug, refusal.detail, **refusal.context)


def _record(
    session: Session, actor: Actor, event_id: int, entrant_id: int, *, old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    audit.record(
        session, actor, action="entrant.change", subject=f"entrant:{entrant_id}", event_id=event_id, old=old, new=new
    )
