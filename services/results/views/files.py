"""A whole event as a file, both ways."""

from __future__ import annotations

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag

from qisai.kernel.json_text import parse_json
from qisai.web.idempotency import once
from qisai.web.identity import current_caller, may_here
from qisai.web.requests import Answer
from qisai.web.rights import Right, requires
from services.results.operations import imports
from services.results.process import here
from services.results.queries import files as queries
from services.results.schemas import EventPath, ImportQuery

api = APIBlueprint("files", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="files")])


@api.get("/events/<int:event_id>/exports/json")
@requires(Right.READ_EVENT)
def export_json(path: EventPath) -> Response:
    """The event as `qisai.tournament/1`. The public gets what is published; who works at the event gets all of it."""
    with here().database.snapshot() as session:
        is_staff = may_here(Right.READ_STAFF)
        document = queries.tournament_file(session, path.event_id, with_private=is_staff)
    response = Answer(body=document).response()
    response.headers["Cache-Control"] = "private, no-cache"
    return response


@api.post("/events/imports/json")
@requires(Right.CREATE_EVENT)
def import_json(query: ImportQuery) -> Response:
    """A new event from a `qisai.tournament/1` in the body: everything or nothing."""
    caller = current_caller()
    document = parse_json(request.get_data(cache=True))
    with here().database.transaction() as session:

        def work() -> Answer:
            made = imports.import_event(
                session,
                caller.actor,
                document=document,
                name=query.name,
                profile=query.profile,
                is_public=query.is_public,
            )
            body = {
                "id": made.event_id,
                "name": made.name,
                "state": made.state.value,
                "entrants": made.entrants,
                "rounds": made.rounds,
                "version": 1,
            }
            return Answer(body=body, status=201, headers={"Location": f"/api/v1/events/{made.event_id}"})

        return once(session, caller, work).response()
