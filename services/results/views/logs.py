"""The log of an event for those who work at it: narrowed down, page by page, and as a sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag

from qisai.db.session import Database
from qisai.formats.sheet_csv import BOM, csv_lines
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

ROWS_AT_ONCE: Final = 500
"""Of the sheet of the log: it is never in memory as a whole."""


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
    with here().database.transaction() as session:
        entrants = queries.entrant_names(session, path.event_id)
    parts = _parts(here().database, path.event_id, _filter(query))
    first = next(parts)  # what cannot be read is refused before anything is sent

    def content() -> Iterator[bytes]:
        yield BOM + csv_lines([log_answers.head(language)])
        for rows in chain([first], parts):
            yield csv_lines(log_answers.line(row, entrants=entrants, language=language) for row in rows)

    headers = {
        "Content-Disposition": f'attachment; filename="event-{path.event_id}-log.csv"',
        "Vary": "Accept-Language",
        "Cache-Control": "private, no-store",
    }
    return Response(content(), content_type="text/csv; charset=utf-8", headers=headers)


def _parts(database: Database, event_id: int, wanted: queries.LogFilter) -> Iterator[Sequence[Any]]:
    """All rows, latest first, a part at a time. Each part is read for itself, so that a slow reader keeps no connection
    and no snapshot: rows are only ever added, and what is added meanwhile stands before what was read."""
    before: queries.LogPlace | None = None
    while True:
        with database.transaction() as session:
            rows = queries.event_log(session, event_id, wanted=wanted, before=before, limit=ROWS_AT_ONCE)
        yield rows
        if len(rows) < ROWS_AT_ONCE:
            return
        before = queries.place_of(rows[-1])


def _filter(query: LogFilterQuery) -> queries.LogFilter:
    return queries.LogFilter(**query.model_dump(include=set(LogFilterQuery.model_fields)))
