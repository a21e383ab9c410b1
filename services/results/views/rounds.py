"""Rounds: read, close, reopen, take back, and their clock."""

from __future__ import annotations

from typing import Any

from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.ledger import feed
from qisai.web.identity import current_caller, may_here
from qisai.web.requests import Answer, feed_answer, version_seen, version_tag
from qisai.web.rights import Right, requires
from services.results import answers
from services.results.operations import rounds as operations
from services.results.operations.clocks import set_clock
from services.results.process import here
from services.results.queries import boards as boards_queries
from services.results.queries import rounds as queries
from services.results.schemas import ClockBody, CloseBody, EventPath, NeededReason, Reason, RoundPath

api = APIBlueprint("rounds", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="rounds")])


@api.get("/events/<int:event_id>/rounds")
@requires(Right.READ_EVENT)
def list_rounds(path: EventPath) -> Any:
    """All rounds with their state, counts and byes."""
    with here().database.snapshot() as session:
        numbers = feed.numbers(session, path.event_id)
        return feed_answer(numbers.feed_no, lambda: _rounds(session, path.event_id))


@api.get("/events/<int:event_id>/rounds/<int:round_no>")
@requires(Right.READ_EVENT)
def get_round(path: RoundPath) -> Any:
    """One round; one that is not drawn yet is pending."""
    with here().database.snapshot() as session:
        return _round_answer(session, path).response()


@api.get("/events/<int:event_id>/rounds/<int:round_no>/boards")
@requires(Right.READ_EVENT)
def list_boards(path: RoundPath) -> Any:
    """The round's boards with results and versions, and its byes; with notes for those who work at the event."""
    is_staff = may_here(Right.READ_STAFF)
    with here().database.snapshot() as session:
        numbers = feed.numbers(session, path.event_id)
        seen_by = "s" if is_staff else ""
        return feed_answer(numbers.feed_no, lambda: _boards(session, path, with_notes=is_staff), seen_by=seen_by)


@api.post("/events/<int:event_id>/rounds/<int:round_no>/close")
@requires(Right.CONTROL_ROUND)
def close(path: RoundPath, body: CloseBody) -> Any:
    """No result is taken any more. With `force` and a reason boards may stay open."""
    target = {"event_id": path.event_id, "number": path.round_no, "seen_version": version_seen()}
    with here().database.transaction() as session:
        operations.close_round(session, current_caller().actor, **target, force=body.force, reason=body.reason)
        return _round_answer(session, path).response()


@api.post("/events/<int:event_id>/rounds/<int:round_no>/reopen")
@requires(Right.CONTROL_ROUND)
def reopen(path: RoundPath, body: Reason) -> Any:
    """Results may be written again."""
    target = {"event_id": path.event_id, "number": path.round_no, "seen_version": version_seen()}
    with here().database.transaction() as session:
        operations.reopen_round(session, current_caller().actor, **target, reason=body.reason)
        return _round_answer(session, path).response()


@api.post("/events/<int:event_id>/rounds/<int:round_no>/unpublish")
@requires(Right.CONTROL_ROUND)
def unpublish(path: RoundPath, body: NeededReason) -> Any:
    """Takes the last published round back while it has no result."""
    target = {"event_id": path.event_id, "number": path.round_no, "seen_version": version_seen()}
    with here().database.transaction() as session:
        operations.unpublish_round(session, current_caller().actor, **target, reason=body.reason)
        return _round_answer(session, path).response()


@api.post("/events/<int:event_id>/rounds/<int:round_no>/clock")
@requires(Right.CONTROL_ROUND)
def clock(path: RoundPath, body: ClockBody) -> Any:
    """Starts, pauses, resumes, adjusts or stops the round's clock."""
    target = {"event_id": path.event_id, "number": path.round_no, "seen_version": version_seen()}
    with here().database.transaction() as session:
        set_clock(session, current_caller().actor, **target, action=body.action, seconds=body.seconds)
        return _round_answer(session, path).response()


def _rounds(session: Session, event_id: int) -> Any:
    items = [answers.round_(view) for view in queries.rounds(session, event_id)]
    return Answer(body=answers.page(items)).response()


def _round_answer(session: Session, path: RoundPath) -> Answer:
    view = queries.round_or_pending(session, path.event_id, number=path.round_no)
    return Answer(body=answers.round_(view), headers=version_tag(view.version))


def _boards(session: Session, path: RoundPath, *, with_notes: bool) -> Any:
    view = queries.round_or_pending(session, path.event_id, number=path.round_no)
    rows = boards_queries.boards_of_round(session, path.event_id, round_no=path.round_no)
    items = [answers.board(row, with_note=with_notes) for row in rows]
    round_ = {"round": path.round_no, "state": view.state.value, "byes": answers.byes(view.byes)}
    return Answer(body={**answers.page(items), **round_}).response()
