"""Draws of a round: ask for one, read, change or make by hand, accept, publish."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.kernel.pairing.hand import Edit
from qisai.web.idempotency import once
from qisai.web.identity import current_caller
from qisai.web.requests import Answer, version_seen, version_tag
from qisai.web.rights import Right, requires
from services.results import answers, draw_answers, explanation_answers
from services.results.draw_schemas import DrawEdits, DrawPath, DrawRequest, DryRunQuery, ManualDraw, PlacePath
from services.results.operations import draw_requests, hand_draws
from services.results.operations import draws as operations
from services.results.process import here
from services.results.queries import draws as queries
from services.results.queries import explanations
from services.results.queries import jobs as jobs_queries
from services.results.queries import rounds as rounds_queries
from services.results.schemas import RoundPath

api = APIBlueprint("draws", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="draws")])


@api.post("/events/<int:event_id>/rounds/<int:round_no>/draws")
@requires(Right.PAIR)
def ask(path: RoundPath, body: DrawRequest) -> Response:
    """Asks for a draw of the round; the answer is the job, also where one is under way already."""
    caller = current_caller()
    with here().database.transaction() as session:
        return once(session, caller, lambda: _ask(session, path, body)).response()


@api.get("/events/<int:event_id>/rounds/<int:round_no>/draws")
@requires(Right.PAIR)
def list_draws(path: RoundPath) -> Response:
    """All draws of the round, latest first, and the job that was asked for last: what runs, or why it ended."""
    with here().database.snapshot() as session:
        rows = queries.draws_of_round(session, path.event_id, round_no=path.round_no)
        job = jobs_queries.latest_of_round(session, path.event_id, round_no=path.round_no)
    said = None if job is None else draw_answers.job(job, request.accept_languages)
    items = [draw_answers.summary(row, row.pairing_no_now) for row in rows]
    return Answer(body={**answers.page(items), "job": said}).response()


@api.get("/events/<int:event_id>/rounds/<int:round_no>/draws/<int:draw_no>")
@requires(Right.PAIR)
def get_draw(path: DrawPath) -> Response:
    """One draw with names, its whole cost, and what of it breaks the rules today."""
    with here().database.snapshot() as session:
        return _draw_answer(session, path)


@api.get("/events/<int:event_id>/rounds/<int:round_no>/draws/<int:draw_no>/why/<int:number>")
@requires(Right.PAIR)
def why(path: PlacePath) -> Response:
    """Why an entrant meets this opponent: the ideal partner, what ruled each better choice out, floats, bye, side.

    Of a published draw too, against the results as they are today.
    """
    with here().database.snapshot() as session:
        target = {"round_no": path.round_no, "draw_no": path.draw_no, "number": path.number}
        asked = explanations.question(session, path.event_id, **target)
        names = queries.names_by_number(session, path.event_id)
    found = here().explanations.get(asked.key, asked.answer)  # computed without holding a connection
    return Answer(body=explanation_answers.explanation(found, names, worked_out=asked.worked_out)).response()


@api.post("/events/<int:event_id>/rounds/<int:round_no>/draws/<int:draw_no>/accept")
@requires(Right.PAIR)
def accept(path: DrawPath) -> Response:
    """Says that a draw that is not the best was read and is wanted."""
    target = {"event_id": path.event_id, "round_no": path.round_no, "number": path.draw_no}
    with here().database.transaction() as session:
        operations.accept_draw(session, current_caller().actor, **target, seen_version=version_seen())
        return _draw_answer(session, path)


@api.post("/events/<int:event_id>/rounds/<int:round_no>/draws/<int:draw_no>/publish")
@requires(Right.PAIR)
def publish(path: DrawPath) -> Response:
    """Makes the draw the round. The answer is the round."""
    target = {"event_id": path.event_id, "round_no": path.round_no, "number": path.draw_no}
    with here().database.transaction() as session:
        operations.publish_draw(session, current_caller().actor, **target, seen_version=version_seen())
        view = rounds_queries.round_or_pending(session, path.event_id, number=path.round_no)
    return Answer(body=answers.round_(view), headers=version_tag(view.version)).response()


@api.patch("/events/<int:event_id>/rounds/<int:round_no>/draws/<int:draw_no>")
@requires(Right.PAIR)
def edit(path: DrawPath, query: DryRunQuery, body: DrawEdits) -> Response:
    """Changes a draft by hand. The answer is the new draft; with `dry_run` what it would be."""
    edits = [Edit(kind=one.kind, entrants=tuple(one.entrants), reason=one.reason) for one in body.edits]
    target = {"event_id": path.event_id, "round_no": path.round_no, "number": path.draw_no}
    actor, seen = current_caller().actor, version_seen()
    if query.dry_run:
        with here().database.snapshot() as session:
            made = hand_draws.preview_edits(session, actor, **target, seen_version=seen, edits=edits)
            return _preview_answer(session, path, made)
    with here().database.transaction() as session:
        number = hand_draws.edit_draft(session, actor, **target, seen_version=seen, edits=edits)
        return _draw_answer(session, path.model_copy(update={"draw_no": number}))


@api.post("/events/<int:event_id>/rounds/<int:round_no>/draws/manual")
@requires(Right.PAIR)
def make_by_hand(path: RoundPath, body: ManualDraw) -> Response:
    """A draft made by hand, whole or in part; with an empty body the list of the pool, in order, to pair from.

    Where a draft is there, `replaces` and `If-Match` say that it was seen.
    """
    caller = current_caller()
    with here().database.transaction() as session:
        return once(session, caller, lambda: _make(session, path, body)).response()


def _make(session: Session, path: RoundPath, body: ManualDraw) -> Answer:
    seen = None
    if body.replaces is not None:
        seen = hand_draws.SeenDraft(number=body.replaces, version=version_seen())
    number = hand_draws.make_draft(
        session,
        current_caller().actor,
        event_id=path.event_id,
        round_no=path.round_no,
        pairs=[(pair.first, pair.second) for pair in body.pairs],
        bye=body.bye,
        reason=body.reason,
        replaces=seen,
    )
    made = DrawPath(event_id=path.event_id, round_no=path.round_no, draw_no=number)
    headers = {"Location": f"/api/v1/events/{path.event_id}/rounds/{path.round_no}/draws/{number}", **version_tag(1)}
    return Answer(body=_draw_body(session, made), status=201, headers=headers)


def _ask(session: Session, path: RoundPath, body: DrawRequest) -> Answer:
    process = here()
    job_id = draw_requests.request_draw(
        session,
        current_caller().actor,
        process.celery,
        event_id=path.event_id,
        round_no=path.round_no,
        limits=draw_requests.Limits(**body.limits.model_dump()),
        default_deadline_ms=process.deadline_ms,
    )
    job = jobs_queries.job(session, job_id)
    headers = {"Location": f"/api/v1/jobs/{job_id}", "Retry-After": "1"}
    return Answer(body=draw_answers.job(job, request.accept_languages), status=202, headers=headers)


def _draw_answer(session: Session, path: DrawPath) -> Response:
    body = _draw_body(session, path)
    return Answer(body=body, headers=version_tag(body["version"])).response()


def _draw_body(session: Session, path: DrawPath) -> dict[str, Any]:
    row = queries.draw(session, path.event_id, round_no=path.round_no, number=path.draw_no)
    names = queries.names_by_number(session, path.event_id)
    return draw_answers.whole(row, names=names, today=queries.state_today(session, row))


def _preview_answer(session: Session, path: DrawPath, made: hand_draws.ByHand) -> Response:
    snapshot = made.snapshot
    today = queries.today(snapshot.tournament, made.edited.violations, pairing_no=snapshot.pairing_no)
    names = queries.names_by_number(session, path.event_id)
    return Answer(body=draw_answers.preview(made, names=names, today=today)).response()
