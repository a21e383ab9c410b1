"""The log of an event for those who work at it."""

from __future__ import annotations

from flask import Response
from flask_openapi3 import APIBlueprint, Tag

from qisai.web.requests import Answer, encode_cursor
from qisai.web.rights import Right, requires
from services.results import answers
from services.results.cursors import log_place
from services.results.process import here
from services.results.queries import logs as queries
from services.results.schemas import EventPath, LogQuery

api = APIBlueprint("logs", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="logs")])


@api.get("/events/<int:event_id>/log")
@requires(Right.READ_STAFF)
def event_log(path: EventPath, query: LogQuery) -> Response:
    """Results, refused results and everything else that was done, latest first."""
    before = log_place(query.cursor)
    with here().database.transaction() as session:
        rows = queries.event_log(session, path.event_id, kind=query.kind, before=before, limit=query.limit + 1)
    shown = rows[: query.limit]
    items = [
        {
            "kind": row.kind,
            "id": row.id,
            "at": answers.moment(row.at),
            "actor": row.actor,
            "device": row.device,
            "reason": row.reason,
            **row.data,
        }
        for row in shown
    ]
    following = None
    if len(rows) > len(shown):
        following = encode_cursor([shown[-1].at.isoformat(), shown[-1].kind, shown[-1].id])
    return Answer(body=answers.page(items, after=following)).response()
