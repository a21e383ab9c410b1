"""Events: read, preview, create, clone, change, and the steps of an event's state before it runs."""

from __future__ import annotations

from typing import Any

from flask import Response
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantState
from qisai.db.events import EventRow, EventState
from qisai.db.session import now
from qisai.errors import Invalid
from qisai.kernel.regulations_file import used_fields
from qisai.ledger import feed
from qisai.web.idempotency import once
from qisai.web.identity import current_caller
from qisai.web.requests import Answer, decode_cursor, encode_cursor, version_seen, version_tag
from qisai.web.rights import Right, requires
from qisai.web.shapes import EventPath, page
from services.registration import answers
from services.registration.advice import FieldSize, advice, size_of, tie_breaks_in_words
from services.registration.event_schemas import ArchiveBody, CloneBody, EventBody, EventChange, EventsQuery, PreviewBody
from services.registration.operations import events as operations
from services.registration.operations.ahead import forbidden_pairs
from services.registration.process import database
from services.registration.queries import events as queries
from services.registration.views.standing import roles_in

api = APIBlueprint("events", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="events")])


@api.get("/events")
@requires(Right.PUBLIC)
def list_events(query: EventsQuery) -> Response:
    """Events that the caller may know of, newest first."""
    caller = current_caller()
    wanted = queries.EventFilter(
        state=query.state, q=query.q, before=_id_before(query.cursor), limit=query.limit + 1
    )  # fmt: skip
    with database().transaction() as session:
        rows = queries.events(session, caller, wanted)
        items = [answers.event_row(row, roles=roles_in(row, caller)) for row in rows[: query.limit]]
    following = encode_cursor([items[-1]["id"]]) if len(rows) > query.limit else None
    return Answer(body=page(items, after=following)).response()


@api.post("/events")
@requires(Right.CREATE_EVENT)
def create_event(body: EventBody) -> Response:
    """A new event in state draft."""
    caller = current_caller()
    basics = body.model_dump(exclude={"profile", "regulations"})
    with database().transaction() as session:

        def work() -> Answer:
            event = operations.create_event(
                session, caller.actor, basics=basics, profile=body.profile, regulations=body.regulations
            )
            return _made(session, event)

        return once(session, caller, work).response()


@api.post("/events/preview")
@requires(Right.SIGNED_IN)
def preview_event(body: PreviewBody) -> Response:
    """What an event made of this body would mean: rounds and why, byes, places, order of places. Makes nothing."""
    with database().snapshot() as session:
        regulations = operations.would_be(session, profile=body.profile, regulations=body.regulations)
    operations.require_limits_within(regulations, body.model_dump(exclude={"regulations"}))
    size = FieldSize(expected=body.expected_entrants, places=body.capacity)
    answer = {
        "profile": body.profile,
        "regulations": regulations,
        "advice": advice(regulations, size),
        "tie_breaks": tie_breaks_in_words(regulations),
        "requested_byes": {"max": body.max_byes, "until_round": body.byes_until_round},
        "late_entry": {"bye": regulations["late_entry"], "until_round": body.late_entry_until},
    }
    return Answer(body=answer).response()


@api.post("/events/<int:event_id>/clone")
@requires(Right.MANAGE_EVENT)
def clone_event(path: EventPath, body: CloneBody) -> Response:
    """A new draft with this event's game, regulations and registration rules, without its entrants and days."""
    caller = current_caller()
    with database().transaction() as session:

        def work() -> Answer:
            said = body.model_dump(exclude_none=True)
            return _made(session, operations.clone_event(session, caller.actor, event_id=path.event_id, basics=said))

        return once(session, caller, work).response()


@api.get("/events/<int:event_id>")
@requires(Right.READ_EVENT)
def get_event(path: EventPath) -> Response:
    """One event with its regulations, counts of entrants, advice on rounds, and what the caller is in it."""
    with database().snapshot() as session:
        return _answer(session, queries.event(session, path.event_id)).response()


@api.patch("/events/<int:event_id>")
@requires(Right.MANAGE_EVENT)
def change_event(path: EventPath, body: EventChange) -> Response:
    """Changes what is given at the version that was seen; regulations until round 1 is published."""
    seen = version_seen()
    said = body.regulations if "regulations" in body.model_fields_set else None
    with database().transaction() as session:
        event = operations.change_event(
            session,
            current_caller().actor,
            event_id=path.event_id,
            seen_version=seen,
            basics=body.changes(),
            regulations=said,
        )
        return _answer(session, event).response()


@api.post("/events/<int:event_id>/open")
@requires(Right.MANAGE_EVENT)
def open_registration(path: EventPath) -> Response:
    """draft or closed → open: the event is shown and entries are taken."""
    return _move(path.event_id, EventState.OPEN)


@api.post("/events/<int:event_id>/close-registration")
@requires(Right.MANAGE_EVENT)
def close_registration(path: EventPath) -> Response:
    """open → closed: the field stands, round 1 can be drawn."""
    return _move(path.event_id, EventState.CLOSED)


@api.post("/events/<int:event_id>/draft")
@requires(Right.MANAGE_EVENT)
def back_to_draft(path: EventPath) -> Response:
    """open or closed → draft: hidden from the public again."""
    return _move(path.event_id, EventState.DRAFT)


@api.post("/events/<int:event_id>/archive")
@requires(Right.MANAGE_EVENT)
def archive(path: EventPath, body: ArchiveBody) -> Response:
    """finished, closed or draft → archived; `undo` takes the event out of the archive."""
    return _move(path.event_id, EventState.ARCHIVED, undo=body.undo)


def _move(event_id: int, target: EventState, *, undo: bool = False) -> Response:
    seen = version_seen()
    with database().transaction() as session:
        event = operations.move_event(
            session, current_caller().actor, event_id=event_id, seen_version=seen, target=target, undo=undo
        )
        return _answer(session, event).response()


def _made(session: Session, event: EventRow) -> Answer:
    made = _answer(session, event)
    headers = {**made.headers, "Location": f"/api/v1/events/{event.id}"}
    return Answer(body=made.body, status=201, headers=headers)


def _answer(session: Session, event: EventRow) -> Answer:
    numbers = feed.numbers(session, event.id)
    by_state = queries.counts(session, event.id)
    size = size_of(event, by_state=by_state)
    roles = roles_in(event, current_caller())
    pairs = forbidden_pairs(session, event.id) if roles else ()  # who is kept apart is nobody else's business
    waiting = by_state.get(EntrantState.WAITING, 0)
    body: dict[str, Any] = {
        **answers.event_row(event, roles=roles),
        "profile_copy": answers.game(event.profile_copy),
        "regulations": used_fields(event.regulations),
        "algorithm": event.algorithm,
        "feed_no": numbers.feed_no,
        "pairing_no": numbers.pairing_no,
        "counts": answers.counts(by_state),
        "advice": advice(event.regulations, size, pairs=pairs),
        "tie_breaks": tie_breaks_in_words(event.regulations),
        "registration": answers.registration(event, size, waiting=waiting, now=now(session)),
    }
    return Answer(body=body, headers=version_tag(event.version))


def _id_before(cursor: str | None) -> int | None:
    values = decode_cursor(cursor, length=1)
    if values is None:
        return None
    if not isinstance(values[0], int) or not 0 < values[0] < 1 << 63:
        raise Invalid("bad-cursor", "The cursor is not one of ours; start again without it.")
    return values[0]
