"""Importing a club's roster."""

from __future__ import annotations

from functools import partial

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag

from qisai.web.idempotency import once
from qisai.web.identity import current_caller
from qisai.web.requests import Answer
from qisai.web.rights import Right, requires
from qisai.web.shapes import EventPath
from services.registration.entrant_schemas import ImportQuery
from services.registration.operations import imports as operations
from services.registration.process import database
from services.registration.reading import read_in_turn

api = APIBlueprint("imports", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="entrants")])


@api.post("/events/<int:event_id>/entrants/import")
@requires(Right.MANAGE_ENTRANTS)
def import_roster(path: EventPath, query: ImportQuery) -> Response:
    """A roster as CSV or XLSX in the body: what it would do (`dry_run`), or all of it at once."""
    caller = current_caller()
    report = partial(operations.report, languages=request.accept_languages)
    roster = read_in_turn(request.get_data(cache=True))
    with database().transaction() as session:
        plan = operations.dry_run(session, event_id=path.event_id, roster=roster)
        if query.dry_run:
            return Answer(body=report(plan, applied=False, new_ids={})).response()

        def work() -> Answer:
            ids = operations.apply_import(
                session, caller.actor, event_id=path.event_id, plan=plan, looked_at=query.plan
            )
            return Answer(body=report(plan, applied=True, new_ids=ids))

        return once(session, caller, work).response()
