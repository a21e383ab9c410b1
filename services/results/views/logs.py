"""The log of an event for those who work at it: narrowed down, page by page, and as a sheet."""

from __future__ import annotations

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag

from qisai.formats.sheet_csv import csv_bytes
from qisai.kernel.names import Language
from qisai.web.problem_texts import language_of
from qisai.web.requests import Answer, encode_cursor
from qisai.web.rights import Right, requires
from services.results import answers, log_answers
from services.results.cursors import log_place
from services.results.process import here
from services.results.queries import logs as queries
from services.results.schemas import EventPath, LogFilterQuery, LogQuery

api = APIBlueprint("logs", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="logs")])


@api.get("/events/<int:event_id>/log")
@requires(Right.READ_STAFF)
def event_log(path: EventPath, query: LogQuery) -> Response:
    """Results, refused results, entrants' steps and everything else that was done, latest first."""
    before, wanted = log_place(query.cursor), _filter(query)
    with here().database.transaction() as session:
        rows = queries.event_log(session, path.event_id, wanted=wanted, before=before, limit=query.limit + 1)
    shown = rows[: query.limit]
    following = None
    if len(rows) > len(shown):
        following = encode_cursor([shown[-1].at.isoformat(), shown[-1].kind, shown[-1].id])
    return Answer(body=answers.page([log_answers.entry(row) for row in shown], after=following)).response()


@api.get("/events/<int:event_id>/log/csv")
@requires(Right.READ_STAFF)
def event_log_csv(path: EventPath, query: LogFilterQuery) -> Response:
    """The same as a sheet for spreadsheets: UTF-8 with BOM, formulas made harmless."""
    language = Language(language_of(request.accept_languages))
    with here().database.snapshot() as session:
        entrants = queries.entrant_names(session, path.event_id)
        rows = queries.whole_log(session, path.event_id, wanted=_filter(query))
        lines = (log_answers.line(row, entrants=entrants, language=language) for row in rows)
        content = csv_bytes(log_answers.head(language), lines)
    headers = {
        "Content-Disposition": f'attachment; filename="event-{path.event_id}-log.csv"',
        "Vary": "Accept-Language",
        "Cache-Control": "private, no-store",
    }
    return Response(content, content_type="text/csv; charset=utf-8", headers=headers)


def _filter(query: LogFilterQuery) -> queries.LogFilter:
    return queries.LogFilter(**query.model_dump(include=set(LogFilterQuery.model_fields)))
