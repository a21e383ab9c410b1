"""Check-in for a single round."""

from __future__ import annotations

from flask import Response
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.web.idempotency import once
from qisai.web.identity import current_caller
from qisai.web.requests import Answer
from qisai.web.rights import Right, requires
from qisai.web.shapes import OptionalBody, RoundPath, moment
from services.registration.ahead_schemas import EntrantRoundPath
from services.registration.operations import attendance as operations
from services.registration.process import database
from services.registration.queries import events as event_queries
from services.registration.step_schemas import AttendanceBody, DeadlineBody

api = APIBlueprint("attendance", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="entrants")])


@api.get("/events/<int:event_id>/attendance/<int:round_no>")
@requires(Right.READ_STAFF)
def get_attendance(path: RoundPath) -> Response:
    """Until when entrants check in for the round, who did, and who of the seated did not."""
    with database().snapshot() as session:
        event_queries.event(session, path.event_id)
        return _answer(session, path).response()


@api.post("/events/<int:event_id>/attendance/<int:round_no>")
@requires(Right.MANAGE_ENTRANTS)
def set_attendance(path: RoundPath, body: AttendanceBody) -> Response:
    """These came, or all who are seated; with `present` false they did not."""
    caller = current_caller()
    with database().transaction() as session:

        def work() -> Answer:
            done = operations.set_all_present(
                session,
                caller.actor,
                event_id=path.event_id,
                round_no=path.round_no,
                ids=body.entrants,
                present=body.present,
            )
            return Answer(body={"round": path.round_no, "present": body.present, **done})

        return once(session, caller, work).response()


@api.put("/events/<int:event_id>/attendance/<int:round_no>/deadline")
@requires(Right.MANAGE_ENTRANTS)
def put_deadline(path: RoundPath, body: DeadlineBody) -> Response:
    """Who has not checked in by then is absent from the round."""
    actor = current_caller().actor
    with database().transaction() as session:
        operations.set_deadline(session, actor, event_id=path.event_id, round_no=path.round_no, until=body.until)
        return _answer(session, path).response()


@api.delete("/events/<int:event_id>/attendance/<int:round_no>/deadline")
@requires(Right.MANAGE_ENTRANTS)
def delete_deadline(path: RoundPath) -> Response:
    """The round has no check-in: nobody is absent for want of it."""
    actor = current_caller().actor
    with database().transaction() as session:
        operations.set_deadline(session, actor, event_id=path.event_id, round_no=path.round_no, until=None)
    return Answer(body=None, status=204).response()


@api.put("/events/<int:event_id>/attendance/<int:round_no>/<int:entrant_id>")
@requires(Right.MANAGE_ENTRANTS)
def put_attendance(path: EntrantRoundPath, body: OptionalBody) -> Response:  # noqa: ARG001 - refuses bodies that say more
    """The entrant came."""
    _set(path, present=True)
    return Answer(body={"entrant_id": path.entrant_id, "round": path.round_no, "present": True}).response()


@api.delete("/events/<int:event_id>/attendance/<int:round_no>/<int:entrant_id>")
@requires(Right.MANAGE_ENTRANTS)
def delete_attendance(path: EntrantRoundPath) -> Response:
    """The entrant did not come after all."""
    _set(path, present=False)
    return Answer(body=None, status=204).response()


def _set(path: EntrantRoundPath, *, present: bool) -> None:
    with database().transaction() as session:
        operations.set_present(
            session,
            current_caller().actor,
            event_id=path.event_id,
            entrant_id=path.entrant_id,
            round_no=path.round_no,
            present=present,
        )


def _answer(session: Session, path: RoundPath) -> Answer:
    found = operations.attendance(session, path.event_id, path.round_no)
    present, missing = list(found.present), list(found.missing)
    body = {"round": path.round_no, "until": moment(found.until), "present": present, "missing": missing}
    return Answer(body=body)
