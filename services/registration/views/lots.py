"""The draw of lots."""

from __future__ import annotations

from typing import Any

from flask import Response
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.web.idempotency import once
from qisai.web.identity import current_caller
from qisai.web.requests import Answer, version_seen, version_tag
from qisai.web.rights import Right, requires
from qisai.web.shapes import EventPath
from services.registration import answers
from services.registration.ahead_schemas import LotsBody, LotsMode
from services.registration.operations import lots as operations
from services.registration.process import database
from services.registration.queries import lots as queries

api = APIBlueprint("lots", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="lots")])


@api.get("/events/<int:event_id>/lots")
@requires(Right.READ_EVENT)
def get_lots(path: EventPath) -> Response:
    """How numbers were given, with the seed that replays it, and everybody's number."""
    with database().snapshot() as session:
        return _answer(session, path.event_id).response()


@api.post("/events/<int:event_id>/lots")
@requires(Right.DRAW_LOTS)
def draw_lots(path: EventPath, body: LotsBody) -> Response:
    """Numbers 1 … n for the seated entrants, until round 1 is published. Needs If-Match with the lots' version."""
    caller, seen = current_caller(), version_seen()
    with database().transaction() as session:

        def work() -> Answer:
            _draw(session, path.event_id, body, seen=seen)
            return _answer(session, path.event_id)

        return once(session, caller, work).response()


def _draw(session: Session, event_id: int, body: LotsBody, *, seen: int) -> None:
    actor = current_caller().actor
    said: Any = {"event_id": event_id, "seen_version": seen}
    match body.mode:
        case LotsMode.MACHINE:
            operations.draw_by_machine(session, actor, **said, seed=body.seed)
        case LotsMode.SEEDING:
            operations.draw_by_seeding(session, actor, **said)
        case LotsMode.HAND:
            operations.draw_by_hand(session, actor, **said, numbers=body.numbers or {})


def _answer(session: Session, event_id: int) -> Answer:
    found = queries.lots(session, event_id)
    return Answer(body=answers.lots(found), headers=version_tag(found.version))
