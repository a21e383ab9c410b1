"""Points given or taken by the chief referee: list, decide, take back."""

from __future__ import annotations

from typing import Any

from flask import Response
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.kernel.regulations_file import points_number
from qisai.web.idempotency import once
from qisai.web.identity import current_caller
from qisai.web.requests import Answer, version_seen, version_tag
from qisai.web.rights import Right, requires
from services.results import answers
from services.results.operations import adjustments as operations
from services.results.process import here
from services.results.queries import adjustments as queries
from services.results.schemas import AdjustmentBody, AdjustmentPath, EventPath, NeededReason

api = APIBlueprint("adjustments", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="adjustments")])


@api.get("/events/<int:event_id>/adjustments")
@requires(Right.READ_STAFF)
def list_adjustments(path: EventPath) -> Response:
    """All decisions, those taken back too."""
    with here().database.transaction() as session:
        rows = queries.adjustments(session, path.event_id)
    return Answer(body=answers.page([_adjustment(row) for row in rows])).response()


@api.post("/events/<int:event_id>/adjustments")
@requires(Right.CONTROL_ROUND)
def adjust(path: EventPath, body: AdjustmentBody) -> Response:
    """Gives or takes points: they count in standings from a round on, never in pairing."""
    caller = current_caller()
    with here().database.transaction() as session:

        def work() -> Answer:
            made = operations.adjust_points(
                session,
                caller.actor,
                event_id=path.event_id,
                entrant_id=body.entrant_id,
                half_points=round(body.points * 2),
                after_round=body.after_round,
                reason=body.reason,
            )
            location = {"Location": f"/api/v1/events/{path.event_id}/adjustments/{made}"}
            return Answer(body=_body(session, path.event_id, made), status=201, headers=location | version_tag(1))

        return once(session, caller, work).response()


@api.post("/events/<int:event_id>/adjustments/<int:adjustment_id>/take-back")
@requires(Right.CONTROL_ROUND)
def take_back(path: AdjustmentPath, body: NeededReason) -> Response:
    """The decision counts no more; both stay on record."""
    target = {"event_id": path.event_id, "adjustment_id": path.adjustment_id, "seen_version": version_seen()}
    with here().database.transaction() as session:
        operations.take_back(session, current_caller().actor, **target, reason=body.reason)
        answer = _body(session, path.event_id, path.adjustment_id)
    return Answer(body=answer, headers=version_tag(answer["version"])).response()


def _body(session: Session, event_id: int, adjustment_id: int) -> dict[str, Any]:
    (row,) = queries.adjustments(session, event_id, adjustment_id=adjustment_id)
    return _adjustment(row)


def _adjustment(row: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "entrant": answers.entrant(row),
        "points": points_number(row.half_points),
        "after_round": row.after_round,
        "reason": row.reason,
        "made_at": answers.moment(row.made_at),
        "made_by": row.made_by,
        "taken_back_at": answers.moment(row.taken_back_at),
        "taken_back_by": row.taken_back_by,
        "taken_back_reason": row.taken_back_reason,
        "version": row.version,
    }
