"""Standings, crosstable and pairings as CSV, from the same documents as everything else."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.db.rounds import StandingsKind
from qisai.errors import Invalid
from qisai.formats.standings_sheets import crosstable_csv, pairings_csv, standings_csv
from qisai.kernel.names import Language
from qisai.web.problem_texts import language_of
from qisai.web.requests import feed_answer
from qisai.web.rights import Right, requires
from services.results import answers
from services.results import standings_documents as documents
from services.results.process import here
from services.results.queries import boards as boards_queries
from services.results.queries import profiles
from services.results.queries import rounds as rounds_queries
from services.results.queries.standings import Point, point
from services.results.schemas import EventPath
from services.results.standings_schemas import Sheet, SheetQuery

api = APIBlueprint("sheets", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="files")])


@api.get("/events/<int:event_id>/exports/csv")
@requires(Right.READ_EVENT)
def export_csv(path: EventPath, query: SheetQuery) -> Any:
    """A sheet for spreadsheets: UTF-8 with BOM, headers in the caller's language, formulas made harmless."""
    language = Language(language_of(request.accept_languages))
    with here().database.snapshot() as session:
        at = point(session, path.event_id, after=query.after)
        return feed_answer(at.feed_no, lambda: _sheet(session, at, query.what, language))


def _sheet(session: Session, at: Point, what: Sheet, language: Language) -> Response:
    match what:
        case Sheet.STANDINGS:
            content = standings_csv(documents.read(session, at, StandingsKind.STANDINGS), language)
        case Sheet.CROSSTABLE:
            content = crosstable_csv(documents.read(session, at, StandingsKind.CROSSTABLE), language)
        case Sheet.PAIRINGS:
            content = _pairings(session, at, language)
    name = f"event-{at.event_id}-{what.value}-{at.after}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Vary": "Accept-Language"}
    return Response(content, content_type="text/csv; charset=utf-8", headers=headers)


def _pairings(session: Session, at: Point, language: Language) -> bytes:
    if at.after == 0:
        raise Invalid("no-such-round", "No round is published yet; there are no pairings.")
    round_ = rounds_queries.round_or_pending(session, at.event_id, number=at.after)
    rows = boards_queries.boards_of_round(session, at.event_id, round_no=at.after)
    words = profiles.words(session, at.event_id, language)
    boards = [answers.board(row, with_note=False) for row in rows]
    return pairings_csv(boards, answers.byes(round_.byes), language, board=words.board, sides=words.sides)
