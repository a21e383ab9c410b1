"""Registering on one's own, and one's own entry behind its link."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag

from qisai.errors import Invalid
from qisai.web.idempotency import HEADER, once
from qisai.web.identity import current_caller
from qisai.web.requests import Answer
from qisai.web.rights import Right, requires
from qisai.web.shapes import EventPath
from services.registration import answers
from services.registration.entrant_schemas import RegistrationBody, RegistrationPath
from services.registration.operations import self_registration as operations
from services.registration.process import database
from services.registration.queries import entrants as queries
from services.registration.queries.own_entries import own_entry
from services.registration.views.entrants import new_entrant

api = APIBlueprint("self_registration", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="self-registration")])
SHORTEST_KEY: Final = 16
"""The public shares one name before the idempotency keys; a short one could be somebody else's too."""
NOT_STORED: Final = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


@api.post("/events/<int:event_id>/registrations")
@requires(Right.READ_EVENT)
def register_oneself(path: EventPath, body: RegistrationBody) -> Response:
    """Registers somebody while the event is open. `token` opens the own entry; it is shown once, only its hash is kept.

    Asked again with the same `Idempotency-Key`, it is the same entry with a further token, a few times.
    """
    caller = current_caller()
    if len(request.headers.get(HEADER, "x" * SHORTEST_KEY)) < SHORTEST_KEY:
        raise Invalid("bad-idempotency-key", f"{HEADER} must have at least {SHORTEST_KEY} characters here.")
    entrant = new_entrant(body)
    with database().transaction() as session:

        def work() -> Answer:
            entrant_id = operations.register_oneself(
                session, caller.actor, event_id=path.event_id, entrant=entrant
            )  # fmt: skip
            row = queries.entrant(session, path.event_id, entrant_id)
            said = {"id": entrant_id, "name": row.name, "state": row.state.slug}
            return Answer(body=said, status=201)

        made = once(session, caller, work)  # what is stored there for a day holds no token
        token = operations.new_link(session, caller.actor, event_id=path.event_id, entrant_id=made.body["id"])
        entry = own_entry(session, token)
    where = f"/api/v1/registrations/{token}"
    return Answer(
        body={**answers.own_entry(entry), "token": token}, status=201, headers={"Location": where, **NOT_STORED}
    ).response()


@api.get("/registrations/<token>")
@requires(Right.PUBLIC)
def read_own_entry(path: RegistrationPath) -> Response:
    """One's own entry: what was said, where it stands, and whether it can still be cancelled here."""
    with database().snapshot() as session:
        entry: dict[str, Any] = answers.own_entry(own_entry(session, path.token))
    return Answer(body=entry, headers=NOT_STORED).response()


@api.delete("/registrations/<token>")
@requires(Right.PUBLIC)
def cancel_own_entry(path: RegistrationPath) -> Response:
    """Cancels one's own entry, before one is seated; cancelling twice changes nothing."""
    with database().transaction() as session:
        operations.cancel_own_entry(
            session, token=path.token, request_id=current_caller().actor.request_id
        )  # fmt: skip
        body = answers.own_entry(own_entry(session, path.token))
    return Answer(body=body, headers=NOT_STORED).response()
