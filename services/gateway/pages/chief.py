"""The chief referee's page of a round: what blocks it, ask for the draw, read it, publish; close and take back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import BoardView, Client, DrawView, Job, RoundView
from qisai.errors import NotFound, QisaiError
from qisai.web.problem_texts import localised
from qisai.web.rights import Right, requires
from services.gateway.pages import wording
from services.gateway.pages.draft import Pair, pairs_of
from services.gateway.pages.site import client, for_those_who, telling

pages = Blueprint("chief", __name__)

_ROUND = "/events/<int:event_id>/rounds/<int:round_no>"


@pages.get(f"{_ROUND}/draw")
@requires(Right.PUBLIC)
def draw(event_id: int, round_no: int) -> str:
    """The round as it stands, and the next step."""
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.PAIR, event)
    rounds = asking.rounds.list(event_id)
    draws = asking.rounds.draws(event_id, round_no)
    shown = next((found for found in draws if found.state == "draft"), None)
    if shown is not None:
        shown = asking.rounds.draw(event_id, round_no, shown.number)
    return render_template(
        "draw.html",
        event=event,
        rounds=rounds,
        round_no=round_no,
        round=next((found for found in rounds if found.number == round_no), None),
        open_boards=_open_boards(asking, event_id, rounds, before=round_no),
        job=_job(asking, request.args.get("job", type=int)),
        draft=shown,
        pairs=_pairs(asking, event_id, shown),
        broken=_broken,
        job_states={state: str(word) for state, word in wording.JOB_STATES.items()},
    )


@pages.post(f"{_ROUND}/draw")
@requires(Right.PUBLIC)
def ask(event_id: int, round_no: int) -> Response:
    """Asks for the draw and shows how it goes."""
    job: Job | None = None
    with telling():
        job = client().rounds.ask_for_draw(event_id, round_no)
    return _back(event_id, round_no, job=None if job is None else job.id)


@pages.post(f"{_ROUND}/draw/<action>")
@requires(Right.PUBLIC)
def act(event_id: int, round_no: int, action: str) -> Response:
    """Cancel, accept, publish, close, reopen, unpublish: with the version that the page showed."""
    asking = client()
    version = request.form.get("version", type=int) or 0
    reason = request.form.get("reason", "").strip()
    number = request.form.get("number", type=int) or 0
    seen_draw = DrawView(number=number, state="draft", version=version, document={})
    seen_round = RoundView(number=round_no, state="", version=version)
    steps: dict[str, tuple[Callable[[], object], str]] = {
        "cancel": (lambda: asking.rounds.cancel_job(number), _("The draw was cancelled.")),
        "accept": (lambda: asking.rounds.accept(event_id, round_no, seen_draw), _("The draft is accepted.")),
        "publish": (
            lambda: asking.rounds.publish(event_id, round_no, seen_draw),
            _("Round %(number)s is published.", number=round_no),
        ),
        "close": (lambda: asking.rounds.close(event_id, seen_round), _("The round is closed.")),
        "reopen": (lambda: asking.rounds.reopen(event_id, seen_round, reason=reason), _("The round is open again.")),
        "unpublish": (
            lambda: asking.rounds.unpublish(event_id, seen_round, reason=reason),
            _("The round was taken back."),
        ),
    }
    if action not in steps:
        raise NotFound("not-found", "There is no such step.")
    step, done = steps[action]
    with telling(done):
        step()
    return _back(event_id, round_no)


def _back(event_id: int, round_no: int, *, job: int | None = None) -> Response:
    return redirect(url_for("chief.draw", event_id=event_id, round_no=round_no, job=job), code=303)


def _open_boards(
    asking: Client, event_id: int, rounds: tuple[RoundView, ...], *, before: int
) -> list[tuple[int, BoardView]]:
    """Boards of earlier rounds that have no result yet."""
    return [
        (round_.number, board)
        for round_ in rounds
        if round_.number < before and round_.reported < round_.boards
        for board in asking.rounds.boards(event_id, round_.number).items
        if board.result is None
    ]


def _job(asking: Client, job_id: int | None) -> Job | None:
    if job_id is None:
        return None
    try:
        return asking.rounds.job(job_id)
    except NotFound as error:
        flash(error.detail, "error")
        return None


def _pairs(asking: Client, event_id: int, shown: DrawView | None) -> list[Pair]:
    if shown is None:
        return []
    try:
        tournament = asking.events.export(event_id)
    except QisaiError:  # the pairs can be read without the rounds before them
        tournament = None
    return pairs_of(shown, tournament)


def _broken(violation: Mapping[str, Any]) -> str:
    """A broken rule in the page's language."""
    return localised(
        str(violation["breach"]), str(violation["detail"]), context=violation, languages=request.accept_languages
    )[1]
