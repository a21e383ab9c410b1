"""Creating and changing an event, and the steps of its state that are this service's: draft, open, closed, archived."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.events import EventRow, EventState, ProfileRow
from qisai.db.records import AuditRow
from qisai.db.session import compare_and_set
from qisai.errors import Conflict, FieldError, Invalid, Stale
from qisai.kernel.regulations_file import used_fields
from qisai.ledger import audit, event_states, feed
from qisai.ledger.actor import Actor
from qisai.web.shapes import moment
from services.registration.advice import FieldSize
from services.registration.answers import EVENT_BASICS, event_basics, game
from services.registration.operations.held import hold_event, require_before_round_1
from services.registration.operations.regulations import merged, require_enough_entrants
from services.registration.operations.steps import fill_free_places
from services.registration.queries import events as queries

E = EventState
MOVES: Final[Mapping[EventState, frozenset[EventState]]] = {
    E.OPEN: frozenset({E.DRAFT, E.CLOSED}),
    E.CLOSED: frozenset({E.OPEN}),
    E.DRAFT: frozenset({E.OPEN, E.CLOSED}),
    E.ARCHIVED: frozenset({E.DRAFT, E.CLOSED, E.FINISHED}),
}
"""Target → states it is reached from. Between closed, running and finished the results service moves events."""
_ROUND_LIMITS: Final = ("late_entry_until", "byes_until_round")
"""What of an event names a round."""


def create_event(
    session: Session, actor: Actor, *, basics: Mapping[str, Any], profile: str, regulations: Mapping[str, Any]
) -> EventRow:
    """A draft of the caller's, with a copy of the game's profile and complete regulations.

    Raises `Invalid` with pointers: unknown game, regulations that cannot be, more rounds than the field can play.
    """
    data = _profile_data(session, profile)
    complete = merged(regulations, base=data["regulations"], profile=data)
    _require_rounds_fit(complete, basics)
    require_limits_within(complete, basics)
    event = EventRow(**basics, profile=profile, profile_copy=data, regulations=complete)
    return _created(session, actor, event, said={"regulations": dict(regulations)})


def clone_event(session: Session, actor: Actor, *, event_id: int, basics: Mapping[str, Any]) -> EventRow:
    """A draft with another event's game, regulations and registration rules; `basics` are what is said anew.

    Nobody's entries come along, nor the days of the old one: they are over. The order inside score groups that a draw
    of lots set is as if the organiser had said it. Raises `NotFound`, `Invalid`.
    """
    source = queries.event(session, event_id)
    kept = {name: getattr(source, name) for name in EVENT_BASICS}
    event = EventRow(
        **{**kept, **basics},
        profile=source.profile,
        profile_copy=game(source.profile_copy),
        regulations=used_fields(source.regulations),
    )
    said = {"cloned_from": event_id, "regulations": event.regulations}
    return _created(session, actor, event, said=said)


def _created(session: Session, actor: Actor, event: EventRow, *, said: Mapping[str, Any]) -> EventRow:
    event.state, event.created_by = EventState.DRAFT, actor.account_id
    session.add(event)
    session.flush()
    feed.open_feed(session, event.id)
    new = {**event_basics(event), "profile": event.profile, **said}
    audit.record(session, actor, action="event.create", subject=f"event:{event.id}", event_id=event.id, new=new)
    feed.publish(session, event.id, "event.created", pairing=True)
    return queries.event(session, event.id)


def would_be(session: Session, *, profile: str, regulations: Mapping[str, Any]) -> dict[str, Any]:
    """The complete regulations that an event of this game would have. Raises `Invalid` as `create_event`."""
    data = _profile_data(session, profile)
    return merged(regulations, base=data["regulations"], profile=data)


def _profile_data(session: Session, code: str) -> dict[str, Any]:
    query = sa.select(ProfileRow.data).where(ProfileRow.code == code)
    data: Mapping[str, Any] | None = session.execute(query).scalar_one_or_none()
    if data is None:
        known = ", ".join(row.code for row in queries.profiles(session))
        detail = f"There is no game {code!r}; there are {known}."
        raise Invalid(
            "unknown-profile", detail, errors=[FieldError("/profile", detail, "unknown-profile", {"known": known})]
        )
    return game(data)


def _require_rounds_fit(regulations: Mapping[str, Any], basics: Mapping[str, Any]) -> None:
    size = FieldSize(expected=basics.get("expected_entrants"), places=basics.get("capacity"))
    require_enough_entrants(regulations, entrants=size.entrants)


def require_limits_within(regulations: Mapping[str, Any], basics: Mapping[str, Any]) -> None:
    """Raises `Invalid` `round-beyond` for a limit that names a round beyond the last that is planned."""
    planned = regulations["rounds"]
    beyond = [
        (name, last)
        for name in _ROUND_LIMITS
        if planned is not None and (last := basics.get(name)) is not None and last > planned
    ]
    if beyond:
        faults = [
            FieldError(
                f"/{name}", f"is {last}, but this event has {planned} rounds", "range",
                {"variant": "round", "value": last, "rounds": planned},
            )
            for name, last in beyond
        ]  # fmt: skip
        raise Invalid("round-beyond", f"This event has {planned} rounds.", errors=faults)


def change_event(
    session: Session,
    actor: Actor,
    *,
    event_id: int,
    seen_version: int,
    basics: Mapping[str, Any],
    regulations: Mapping[str, Any] | None,
) -> EventRow:
    """Changes what is given. A larger capacity lets those who wait move up.

    Raises `NotFound`, `Stale`, `Invalid`, `Conflict` `frozen` for regulations once round 1 is published.
    """
    event = hold_event(session, event_id)
    _require_seen(session, event, seen_version)
    before = used_fields(event.regulations)
    old = event_basics(event) | {"regulations": before}
    complete = merged(regulations, base=before, profile=event.profile_copy) if regulations else before
    if regulations or basics.keys() & {"expected_entrants", "capacity"}:
        _require_rounds_fit(complete, event_basics(event) | dict(basics))
    if regulations or basics.keys() & set(_ROUND_LIMITS):
        require_limits_within(complete, event_basics(event) | dict(basics))
    _write(session, event, values={**basics, "regulations": complete} if regulations else dict(basics))
    new = event_basics(event) | {"regulations": complete}
    if regulations:
        new["given"] = dict(regulations)
    audit.record(
        session, actor, action="event.change", subject=f"event:{event_id}", event_id=event_id, old=old, new=new
    )
    moved = fill_free_places(session, actor, event)
    data = {"changed": sorted(basics) + (["regulations"] if regulations else []), "moved_up": len(moved)}
    feed.publish(session, event_id, "event.changed", data=data, pairing=complete != old["regulations"])
    if complete != old["regulations"]:
        require_before_round_1(session, event_id, what="regulations do not change any more")
    return event


def move_event(
    session: Session, actor: Actor, *, event_id: int, seen_version: int, target: EventState, undo: bool = False
) -> EventRow:
    """One step of the event's state. `undo` takes an event out of the archive, to where it came from.

    Raises `NotFound`, `Stale`, `Conflict` `event-state`, or `frozen` where round 1 is published.
    """
    event = hold_event(session, event_id)
    _require_seen(session, event, seen_version)
    sources = MOVES[target]
    if undo:
        sources, target = frozenset({target}), _before_archive(session, event)
    source = event.state
    if source not in sources:
        possible = " or ".join(sorted(sources))
        raise Conflict(
            "event-state", f"The event is {source.value}; only one that is {possible} becomes {target.value}.",
            state=source.value, target=target.value,
        )  # fmt: skip
    _write(session, event, values={"state": target})
    event_states.moved(session, actor, event_id, source=source, target=target)
    if target in (EventState.OPEN, EventState.DRAFT):
        require_before_round_1(session, event_id, what="the event does not go back to registration")
    return event


def _before_archive(session: Session, event: EventRow) -> EventState:
    """The state that an event was archived from, as its log says."""
    a = AuditRow
    query = sa.select(a.old["state"].astext).where(a.event_id == event.id, a.action == "event.archived")
    logged = session.execute(query.order_by(a.id.desc()).limit(1)).scalar_one_or_none()
    if logged is None:  # archived by other means than a step
        return EventState.FINISHED if event.frozen_at else EventState.DRAFT
    return EventState(logged)


def _write(session: Session, event: EventRow, *, values: dict[str, Any]) -> None:
    """The compare-and-set on the version; `event` is read again."""
    where = [EventRow.id == event.id, EventRow.version == event.version]
    written = compare_and_set(session, EventRow, where=where, values={**values, "version": event.version + 1})
    session.refresh(event)
    if not written:
        raise _stale(session, event)


def _require_seen(session: Session, event: EventRow, seen_version: int) -> None:
    if event.version != seen_version:
        raise _stale(session, event)


def _stale(session: Session, event: EventRow) -> Stale:
    last = event_states.last_change(session, event.id)
    current = {
        "id": event.id,
        "state": event.state.value,
        **event_basics(event),
        "regulations": used_fields(event.regulations),
        "version": event.version,
        "updated_by": None if last is None else last.actor_name,
        "updated_at": None if last is None else moment(last.at),
    }
    return Stale("stale", "The event was changed meanwhile.", current=current)
