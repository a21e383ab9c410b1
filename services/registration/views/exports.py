"""Entrants as a spreadsheet that can be imported again."""

from __future__ import annotations

from typing import Final

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag

from qisai.formats.sheet_csv import csv_bytes
from qisai.formats.sheet_xlsx import xlsx_bytes
from qisai.web.problem_texts import language_of
from qisai.web.rights import Right, requires
from qisai.web.shapes import EventPath
from services.registration import entrant_sheet
from services.registration.answers import Sight
from services.registration.entrant_schemas import ExportQuery
from services.registration.process import database
from services.registration.queries import entrants as queries
from services.registration.queries import events as event_queries
from services.registration.views.standing import sight

api = APIBlueprint("exports", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="entrants")])
MOST: Final = 20_000
_XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@api.get("/events/<int:event_id>/entrants/export")
@requires(Right.READ_EVENT)
def export_entrants(path: EventPath, query: ExportQuery) -> Response:
    """Entrants as CSV (UTF-8 with BOM) or XLSX, headed in the caller's language; staff get what staff may see."""
    with database().snapshot() as session:
        seen = sight(session, path.event_id)
        event = event_queries.event(session, path.event_id)
        wanted = queries.EntrantFilter(limit=MOST, staff=seen is not Sight.PUBLIC)
        rows = queries.entrants(session, path.event_id, wanted)
    language = language_of(request.accept_languages) if request.accept_languages else "zh-Hans"
    table = entrant_sheet.table(rows, event=event, sight=seen, language=language)
    if query.form == "xlsx":
        content, kind = xlsx_bytes(table.title, table.head, table.rows, widths=table.widths), _XLSX
    else:
        content, kind = csv_bytes(table.head, table.rows), "text/csv; charset=utf-8"
    name = f"entrants-{path.event_id}.{query.form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Vary": "Accept-Language"}
    return Response(content, content_type=kind, headers=headers)
