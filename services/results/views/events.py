"""Starting, finishing and reopening an event, its feed and its alerts."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.db.events import EventRow
from qisai.ledger import feed
from qisai.web.identity import current_caller, may_here
from qisai.web.requests import Answer, feed_answer, version_seen, version_tag
from qisai.web.rights import Right, requires
from services.results import alert_answers, answers
from services.results.operations import events as operations
from services.results.process import here
from services.results.queries import operating as operating_queries
from services.results.schemas import EventPath, FeedQuery, Reason, StartBody

api = APIBlueprint("event-states", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="events")])


@api.post("/events/<int:event_id>/start")
@requires(Right.RUN_EVENT)
def start(path: EventPath, body: StartBody) -> Response:
    """closed → running; `undo` takes the start back while no round is published."""
    with here().database.transaction() as session:
        target = {"event_id": path.event_id, "seen_version": version_seen()}
        if body.undo:
            return _answer(operations.take_start_back(session, current_caller().actor, **target, reason=body.reason))
        return _answer(operations.start_event(session, current_caller().actor, **target))


@api.post("/events/<int:event_id>/finish")
@requires(Right.RUN_EVENT)
def finish(path: EventPath) -> Response:
    """running → finished; never by itself."""
    with here().database.transaction() as session:
        target = {"event_id": path.event_id, "seen_version": version_seen()}
        return _answer(operations.finish_event(session, current_caller().actor, **target))


@api.post("/events/<int:event_id>/reopen")
@requires(Right.RUN_EVENT)
def reopen(path: EventPath, body: Reason) -> Response:
    """finished → running."""
    with here().database.transaction() as session:
        target = {"event_id": path.event_id, "seen_version": version_seen()}
        return _answer(operations.reopen_event(session, current_caller().actor, **target, reason=body.reason))


STAFF_KINDS: Final = ("alert.", "draw.")
"""Drafts and alerts are for those who work at the event; others see only that something changed, and no gap."""
HIDDEN_KIND: Final = "internal"


@api.get("/events/<int:event_id>/feed")
@requires(Right.READ_EVENT)
def get_feed(path: EventPath, query: FeedQuery) -> Response:
    """Changes of the event behind a feed number, oldest first, without gaps."""
    with here().database.snapshot() as session:
        numbers = feed.numbers(session, path.event_id)
        return feed_answer(numbers.feed_no, lambda: _entries(session, path, query, feed_no=numbers.feed_no))


_MOST_ALERTS: Final = 50


@api.get("/events/<int:event_id>/alerts")
@requires(Right.READ_STAFF)
def list_alerts(path: EventPath) -> Response:
    """Open alerts of the event, latest first; who operates gets those of everywhere that are critical with them."""
    with here().database.transaction() as session:
        rows = operating_queries.alerts_at_event(
            session, path.event_id, with_critical=may_here(Right.OPERATE), limit=_MOST_ALERTS
        )
        names = operating_queries.event_names(session, (row.event_id for row in rows))
        items = alert_answers.alerts(rows, names, request.accept_languages)
    return Answer(body=answers.page(items)).response()


def _entries(session: Session, path: EventPath, query: FeedQuery, *, feed_no: int) -> Response:
    rows = feed.entries_after(session, path.event_id, feed_no=query.after, limit=query.limit)
    is_staff = bool(current_caller().roles_in(path.event_id))
    items: list[dict[str, Any]] = [
        {
            "feed_no": row.feed_no,
            "kind": row.kind if is_staff or not row.kind.startswith(STAFF_KINDS) else HIDDEN_KIND,
            "data": row.data if is_staff or not row.kind.startswith(STAFF_KINDS) else {},
            "at": answers.moment(row.at),
        }
        for row in rows
    ]
    following = str(items[-1]["feed_no"]) if len(items) == query.limit else None
    return Answer(body={**answers.page(items, after=following), "feed_no": feed_no}).response()


def _answer(event: EventRow) -> Response:
    body = {
        "id": event.id,
        "name": event.name,
        "state": event.state.value,
        "version": event.version,
        "frozen_at": answers.moment(event.frozen_at),
    }
    return Answer(body=body, headers=version_tag(event.version)).response()
