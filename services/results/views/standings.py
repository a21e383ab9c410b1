"""Standings after any round, and the arithmetic behind one entrant's line."""

from __future__ import annotations

import json

from flask import Response
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.ledger import feed
from qisai.web.requests import Answer, feed_answer
from qisai.web.rights import Right, requires
from services.results import answers
from services.results.process import here
from services.results.queries import standings as queries
from services.results.schemas import AfterQuery, EntrantPath, EventPath

api = APIBlueprint("standings", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="standings")])


@api.get("/events/<int:event_id>/standings")
@requires(Right.READ_EVENT)
def get_standings(path: EventPath, query: AfterQuery) -> Response:
    """Ranked rows with every criterion in force."""
    with here().database.snapshot() as session:
        numbers = feed.numbers(session, path.event_id)
        return feed_answer(numbers.feed_no, lambda: _table(session, path, query, feed_no=numbers.feed_no))


@api.get("/events/<int:event_id>/standings/<int:entrant_number>")
@requires(Right.READ_EVENT)
def get_arithmetic(path: EntrantPath, query: AfterQuery) -> Response:
    """Every value of one entrant with the sum it came from."""
    with here().database.snapshot() as session:
        numbers = feed.numbers(session, path.event_id)
        return feed_answer(numbers.feed_no, lambda: _arithmetic(session, path, query, feed_no=numbers.feed_no))


def _found(session: Session, event_id: int, query: AfterQuery, *, feed_no: int) -> queries.Table:
    return queries.table(session, here().standings, event_id=event_id, feed_no=feed_no, after=query.after)


def _table(session: Session, path: EventPath, query: AfterQuery, *, feed_no: int) -> Response:
    def written() -> str:
        found = _found(session, path.event_id, query, feed_no=feed_no)
        return json.dumps(answers.standings(found.standings, found.snapshot), ensure_ascii=False)

    key = (path.event_id, feed_no, query.after, "json")  # kept as text: most readers ask for the whole table again
    return Response(here().standings.get(key, written), mimetype="application/json")


def _arithmetic(session: Session, path: EntrantPath, query: AfterQuery, *, feed_no: int) -> Response:
    found = _found(session, path.event_id, query, feed_no=feed_no)
    return Answer(body=answers.arithmetic(found.standings, path.entrant_number)).response()
