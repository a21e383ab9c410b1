"""Steps of entrants' states: one, many at once, check-in, seating, and their log."""

from __future__ import annotations

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantState
from qisai.errors import Invalid
from qisai.web.idempotency import once
from qisai.web.identity import current_caller
from qisai.web.problem_texts import language_of, localised
from qisai.web.requests import Answer, version_seen
from qisai.web.rights import Right, requires
from qisai.web.shapes import EventPath, OptionalBody, page
from services.registration import answers
from services.registration.entrant_schemas import EntrantPath
from services.registration.entrant_sheet import state_name
from services.registration.operations import entrants as operations
from services.registration.operations import undo as undoing
from services.registration.operations.judging import Mover, Refusal, Step
from services.registration.operations.steps import Moved
from services.registration.process import database
from services.registration.queries import entrants as queries
from services.registration.states import by_slug
from services.registration.step_schemas import BulkStepBody, SomeOrAll, StepBody, UndoPath
from services.registration.views.entrants import entrant_answer
from services.registration.views.standing import mover

api = APIBlueprint("steps", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="entrants")])


@api.get("/events/<int:event_id>/entrants/<int:entrant_id>/transitions")
@requires(Right.READ_STAFF)
def list_transitions(path: EntrantPath) -> Response:
    """Every change of an entrant's state, oldest first."""
    with database().snapshot() as session:
        row = queries.entrant(session, path.event_id, path.entrant_id)
        items = [answers.transition(step) for step in queries.transitions(session, row.id)]
    return Answer(body=page(items)).response()


@api.post("/events/<int:event_id>/entrants/<int:entrant_id>/transitions")
@requires(Right.MOVE_ENTRANT)
def move(path: EntrantPath, body: StepBody) -> Response:
    """One step of one entrant; which role may take which says rules.md section 10."""
    seen = version_seen()
    with database().transaction() as session:
        operations.move_entrant(
            session,
            mover(session, path.event_id),
            event_id=path.event_id,
            entrant_id=path.entrant_id,
            seen_version=seen,
            step=_step(body),
        )
        return entrant_answer(session, path.event_id, path.entrant_id).response()


@api.post("/events/<int:event_id>/entrants/bulk-transitions")
@requires(Right.MOVE_ENTRANT)
def move_all(path: EventPath, body: BulkStepBody) -> Response:
    """One step of many entrants in one transaction; who cannot take it is named with the reason.

    `dry_run` says what would happen. `undo` of the answer is the id by which the step can be taken back.
    """
    caller = current_caller()
    states = None if body.from_states is None else [_state(slug) for slug in body.from_states]
    seen = None if body.entrants is None else {one.id: one.version for one in body.entrants}
    with database().transaction() as session:
        by = mover(session, path.event_id)

        def move() -> Moved:
            return operations.move_entrants(
                session, by, event_id=path.event_id, step=_step(body), states=states, seen=seen
            )

        if body.dry_run:
            with session.begin_nested() as tried:
                moved = move()
                tried.rollback()
            return _moved(moved, applied=False).response()
        return once(session, caller, lambda: _noted(session, by, path.event_id, move(), reason=body.reason)).response()


@api.post("/events/<int:event_id>/entrants/bulk-transitions/<int:step_id>/undo")
@requires(Right.MOVE_ENTRANT)
def undo(path: UndoPath, body: OptionalBody) -> Response:  # noqa: ARG001 - refuses bodies that say more
    """Takes a step of many back, for everybody whom nobody changed since; the others are named with the reason."""
    caller = current_caller()
    with database().transaction() as session:

        def work() -> Answer:
            by = mover(session, path.event_id)
            return _moved(undoing.undo_bulk_step(session, by, event_id=path.event_id, step_id=path.step_id))

        return once(session, caller, work).response()


@api.post("/events/<int:event_id>/check-in")
@requires(Right.MANAGE_ENTRANTS)
def check_in(path: EventPath, body: SomeOrAll) -> Response:
    """approved → checked in: these, or all."""
    return _bring(path.event_id, body, EntrantState.CHECKED_IN)


@api.post("/events/<int:event_id>/entrants/seat")
@requires(Right.MANAGE_ENTRANTS)
def seat(path: EventPath, body: SomeOrAll) -> Response:
    """checked in (approved, where the event has no check-in) → seated: these, or all."""
    return _bring(path.event_id, body, EntrantState.SEATED)


def _bring(event_id: int, body: SomeOrAll, to: EntrantState) -> Response:
    caller = current_caller()
    with database().transaction() as session:

        def work() -> Answer:
            by = mover(session, event_id)
            moved = operations.bring_to(session, by, event_id=event_id, to=to, ids=body.entrants)
            return _noted(session, by, event_id, moved)

        return once(session, caller, work).response()


def _step(body: StepBody) -> Step:
    return Step(to=_state(body.to), reason=body.reason, from_round=body.from_round)


def _state(slug: str) -> EntrantState:
    found = by_slug(slug)
    if found is None:
        raise Invalid("unknown-state", f"There is no state {slug}.")
    return found


def _reason(refusal: Refusal) -> str:
    """Why, in the caller's language; states by their names there."""
    languages = request.accept_languages
    tag = language_of(languages)
    context = dict(refusal.context)
    for name in ("from", "to"):
        state = by_slug(str(context.get(name)))
        if state is not None and tag != "en":
            context[name] = state_name(state, tag)
    return localised(refusal.slug, refusal.detail, context=context, languages=languages)[1]


def _noted(session: Session, by: Mover, event_id: int, moved: Moved, *, reason: str = "") -> Answer:
    return _moved(moved, step_id=undoing.note_bulk_step(session, by, event_id, moved, reason=reason))


def _moved(moved: Moved, *, applied: bool = True, step_id: int | None = None) -> Answer:
    changed = [
        {"id": entrant_id, "version": version, "state": state.slug}
        for entrant_id, (version, state) in moved.changed.items()
    ]
    refused = [
        {"id": one.entrant_id, "name": one.name, "slug": one.slug, "reason": _reason(one)} for one in moved.refused
    ]
    body = {
        "changed": changed,
        "refused": refused,
        "moved_up": list(moved.moved_up),
        "applied": applied,
        "undo": step_id,
    }
    return Answer(body=body)
