"""Registering and changing entrants, and the steps of one entrant's state or of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState, MemberRow
from qisai.db.events import EventRow
from qisai.db.name_keys import sort_key
from qisai.db.session import compare_and_set
from qisai.errors import Conflict, FieldError, Forbidden, Invalid, Stale
from qisai.kernel.profiles import Unit
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from qisai.web.shapes import moment
from services.registration import answers
from services.registration.operations.held import hold_for_entries
from services.registration.operations.steps import (
    Moved,
    Mover,
    Refusal,
    Step,
    entrants_where,
    free_places,
    log_steps,
    take_step,
)
from services.registration.queries import entrants as queries
from services.registration.states import PLAYED

S = EntrantState
READ_BY_PAIRING: Final = frozenset({"club", "seed", "fixed_board"})
"""What a draw depends on, besides numbers and states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntrant:
    """What is known of somebody who registers; names are tidy already."""

    name: str
    club: str = ""
    seed: int | None = None
    external_id: str | None = None
    fixed_board: int | None = None
    members: tuple[str, ...] = ()


def register(session: Session, actor: Actor, *, event_id: int, entrant: NewEntrant) -> int:
    """Registers one entrant: a place while there is one, else the end of the waiting list; the id.

    Raises `NotFound`, `Invalid`, `Conflict`: `event-over`, `external-id-taken`.
    """
    event = hold_for_entries(session, event_id)
    require_members_fit(event, entrant.members, pointer="/members")
    _require_external_id_free(session, event_id, entrant.external_id)
    (entrant_id,) = add_entrants(session, actor, event, [entrant])
    feed.publish(session, event_id, "entrant.registered", data={"count": 1})
    return entrant_id


def add_entrants(session: Session, actor: Actor, event: EventRow, new: Sequence[NewEntrant]) -> list[int]:
    """Writes new entrants of an event that is held, with their log rows; ids in their order. Publishes nothing."""
    free = free_places(session, event)
    placed = len(new) if free is None else max(0, min(free, len(new)))
    accepted = S.REGISTERED if event.needs_approval else S.APPROVED
    states = [accepted] * placed + [S.WAITING] * (len(new) - placed)
    rows = [
        {
            "event_id": event.id,
            "name": entrant.name,
            "sort_key": sort_key(entrant.name),
            "club": entrant.club,
            "seed": entrant.seed,
            "external_id": entrant.external_id,
            "fixed_board": entrant.fixed_board,
            "state": state,
        }
        for entrant, state in zip(new, states, strict=True)
    ]
    statement = sa.insert(EntrantRow).returning(EntrantRow.id, sort_by_parameter_order=True)
    ids = [row.id for row in session.execute(statement, rows)] if rows else []
    set_members(session, {entrant_id: one.members for entrant_id, one in zip(ids, new, strict=True) if one.members})
    steps: list[tuple[int, EntrantState | None, EntrantState]] = []
    for entrant_id, state in zip(ids, states, strict=True):
        steps.append((entrant_id, None, S.WAITING if state is S.WAITING else S.REGISTERED))
        if state is S.APPROVED:
            steps.append((entrant_id, S.REGISTERED, S.APPROVED))
    log_steps(session, actor, event.id, steps, reason="")
    return ids


def set_members(session: Session, members: Mapping[int, Sequence[str]]) -> None:
    """The members of entrants by id, in order, in place of those they had."""
    if not members:
        return
    session.execute(sa.delete(MemberRow).where(MemberRow.entrant_id.in_(members)))
    rows = [
        {"entrant_id": entrant_id, "position": position, "name": name}
        for entrant_id, names in members.items()
        for position, name in enumerate(names, start=1)
    ]
    if rows:
        session.execute(sa.insert(MemberRow), rows)


def require_members_fit(event: EventRow, members: Sequence[str], *, pointer: str) -> None:
    """Raises `Invalid` for members where persons enter, or more of them than a team of this game has."""
    complaint = members_complaint(event, members)
    if complaint is not None:
        raise Invalid("members", f"members: {complaint}.", errors=[FieldError(pointer, complaint, "members")])


def members_complaint(event: EventRow, members: Sequence[str]) -> str | None:
    """What is wrong with these members in a game like the event's, None where nothing is."""
    if not members:
        return None
    if event.profile_copy["unit"] == Unit.INDIVIDUAL:
        return "is not used: in this game persons enter, not teams"
    size = event.profile_copy.get("team_size") or 0
    if size and len(members) > size:
        return f"has {len(members)} names, but a team of this game has {size}"
    return None


def change_entrant(
    session: Session, actor: Actor, *, event_id: int, entrant_id: int, seen_version: int, changes: Mapping[str, Any]
) -> None:
    """Changes what is given, and nothing else.

    Raises `NotFound`, `Stale`, `Invalid`, `Conflict`: `event-over`, `external-id-taken`.
    """
    event = hold_for_entries(session, event_id)
    before = queries.entrant(session, event_id, entrant_id)
    values = dict(changes)
    members = values.pop("members", None)
    if members is not None:
        require_members_fit(event, members, pointer="/members")
    if values.get("external_id") not in (None, before.external_id):
        _require_external_id_free(session, event_id, values["external_id"])
    if "name" in values:
        values["sort_key"] = sort_key(values["name"])
    where = [EntrantRow.id == entrant_id, EntrantRow.version == seen_version]
    if not compare_and_set(session, EntrantRow, where=where, values={**values, "version": seen_version + 1}):
        raise stale_entrant(session, event_id, entrant_id)
    if members is not None:
        set_members(session, {entrant_id: members})
    after = queries.entrant(session, event_id, entrant_id)
    old, new = answers.entrant(before, staff=True), answers.entrant(after, staff=True)
    changed = [name for name in new if old[name] != new[name]]
    _record(session, actor, event_id, entrant_id, old={n: old[n] for n in changed}, new={n: new[n] for n in changed})
    pairing = after.state in PLAYED and bool(READ_BY_PAIRING.intersection(changed))
    feed.publish(session, event_id, "entrant.changed", data={"entrants": [entrant_id]}, pairing=pairing)


def move_entrant(
    session: Session, mover: Mover, *, event_id: int, entrant_id: int, seen_version: int, step: Step
) -> None:
    """One step of one entrant at the version that was seen.

    A step whose answer was lost may be asked for again by the same person: it is done, and nothing is logged twice.
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
        refused=[*moved.refused, *stale, *_unknown(rows, seen)],
        moved_up=moved.moved_up,
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
    refused = [*moved.refused, *_unknown(rows, ids)]
    return Moved(changed=moved.changed, refused=refused, moved_up=moved.moved_up)


def stale_entrant(session: Session, event_id: int, entrant_id: int) -> Stale:
    """The entrant as it is now, who changed it and when."""
    row = queries.entrant(session, event_id, entrant_id)
    last = queries.last_change(session, event_id, entrant_id)
    current = {
        **answers.entrant(row, staff=True),
        "updated_by": None if last is None else last.actor_name,
        "updated_at": None if last is None else moment(last.at),
    }
    return Stale("stale", f"{row.name} was changed meanwhile: {row.state.slug} now.", current=current)


def _done_already(session: Session, actor: Actor, event_id: int, row: Any, seen_version: int, step: Step) -> bool:
    if row.version != seen_version + 1 or row.state is not step.to or actor.account_id is None:
        return False
    last = queries.last_change(session, event_id, row.id)
    return last is not None and last.account_id == actor.account_id


def _refused(refusal: Refusal) -> Conflict | Forbidden:
    kind = Forbidden if refusal.slug == "step-not-yours" else Conflict
    return kind(refusal.slug, refusal.detail, **refusal.context)


def _unknown(rows: Sequence[Any], wanted: Any) -> list[Refusal]:
    missing = sorted(set(wanted) - {row.id for row in rows})
    return [
        Refusal(entrant_id=one, name="", slug="entrant-not-found", detail=f"There is no entrant {one} in this event.")
        for one in missing
    ]


def _require_external_id_free(session: Session, event_id: int, external_id: str | None) -> None:
    if external_id is None:
        return
    e = EntrantRow
    query = sa.select(e.id, e.name).where(e.event_id == event_id, e.external_id == external_id).limit(1)
    taken = session.execute(query).one_or_none()
    if taken is not None:
        detail = f"Number {external_id} of the roster belongs to {taken.name} already."
        raise Conflict("external-id-taken", detail, entrant_id=taken.id, external_id=external_id)


def _record(
    session: Session, actor: Actor, event_id: int, entrant_id: int, *, old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    audit.record(
        session, actor, action="entrant.change", subject=f"entrant:{entrant_id}", event_id=event_id, old=old, new=new
    )
