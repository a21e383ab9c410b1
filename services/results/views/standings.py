"""Standings after any round: the table, the arithmetic behind a line, crosstable, one entrant's history, prizes."""

from __future__ import annotations

from collections.abc import Callable

from flask import Response
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.db.rounds import StandingsKind
from qisai.errors import Forbidden, Unauthenticated
from qisai.web.identity import current_caller, may_here
from qisai.web.requests import Answer, feed_answer
from qisai.web.rights import Right, requires
from services.results import standings_answers as answers
from services.results import standings_documents as documents
from services.results.process import here
from services.results.queries import categories
from services.results.queries.standings import Point, point
from services.results.schemas import AfterQuery, EntrantPath, EventPath
from services.results.standings_schemas import CategoryQuery

api = APIBlueprint("standings", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="standings")])


@api.get("/events/<int:event_id>/standings")
@requires(Right.READ_EVENT)
def get_standings(path: EventPath, query: CategoryQuery) -> Response:
    """Ranked rows with every criterion in force; with a category its members only, with their places among them."""
    category = query.category()

    def build(session: Session, at: Point) -> Response:
        if category.is_everybody:
            return _whole(session, at, StandingsKind.STANDINGS)
        numbers = categories.members(session, at.event_id, category)
        table = documents.read(session, at, StandingsKind.STANDINGS)
        return Answer(body=answers.in_category(table, numbers=numbers, category=category.asked())).response()

    if category.is_private:
        _require_staff()
    response = _answered(path.event_id, query.after, build)
    if category.is_private:
        response.headers["Cache-Control"] = "private, no-cache"
    return response


@api.get("/events/<int:event_id>/standings/<int:entrant_number>")
@requires(Right.READ_EVENT)
def get_arithmetic(path: EntrantPath, query: AfterQuery) -> Response:
    """Every value of one entrant with the sum it came from."""

    def build(session: Session, at: Point) -> Response:
        table = documents.table(session, at)
        return Answer(body=answers.arithmetic(table.standings, path.entrant_number)).response()

    return _answered(path.event_id, query.after, build)


@api.get("/events/<int:event_id>/crosstable")
@requires(Right.READ_EVENT)
def get_crosstable(path: EventPath, query: AfterQuery) -> Response:
    """The standings with each entrant's rounds: opponent, side, result, points or kind of bye."""
    return _answered(path.event_id, query.after, lambda session, at: _whole(session, at, StandingsKind.CROSSTABLE))


@api.get("/events/<int:event_id>/histories/<int:entrant_number>")
@requires(Right.READ_EVENT)
def get_history(path: EntrantPath, query: AfterQuery) -> Response:
    """One entrant's rounds with the opponents' names and the total after each."""

    def build(session: Session, at: Point) -> Response:
        crosstable = documents.read(session, at, StandingsKind.CROSSTABLE)
        return Answer(body=answers.history(crosstable, path.entrant_number)).response()

    return _answered(path.event_id, query.after, build)


def _answered(event_id: int, after: int | None, build: Callable[[Session, Point], Response]) -> Response:
    """An answer of one moment, or 304 where the caller has it."""
    with here().database.snapshot() as session:
        at = point(session, event_id, after=after)
        return feed_answer(at.feed_no, lambda: build(session, at))


def _whole(session: Session, at: Point, kind: StandingsKind) -> Response:
    return Response(documents.text(session, at, kind), mimetype="application/json")


def _require_staff() -> None:
    """Sex and age are told only to those who work at the event. Raises `Unauthenticated`, `Forbidden`."""
    if not current_caller().signed_in:
        raise Unauthenticated("sign-in-needed", "Sign in to do this.")
    if not may_here(Right.READ_STAFF):
        raise Forbidden("category-private", "Lists by sex or age are for those who work at the event.")
