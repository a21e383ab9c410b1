"""The chief referee's page of a round: what blocks it, the draw, publishing, the clock, closing and taking back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import BoardView, Client, DrawView, Event, RoundView
from qisai.errors import Invalid, NotFound, QisaiError, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway.pages import draft_words, draw_job, finishing, operation_words
from services.gateway.pages.draft import shown_draft
from services.gateway.pages.site import client, for_those_who, in_short, lines_of, status_of
from services.gateway.pages.ways_out import ways_out

pages = Blueprint("chief", __name__)

ROUND: Final = "/events/<int:event_id>/rounds/<int:round_no>"
Page = str | Response | tuple[str, int]


@pages.get(f"{ROUND}/draw")
@requires(Right.PUBLIC)
def draw(event_id: int, round_no: int) -> str:
    """The round as it stands, and the next step."""
    return draw_page(event_id, round_no)


def draw_page(
    event_id: int,
    round_no: int,
    *,
    faults: Sequence[str] = (),
    typed: Mapping[str, str] | None = None,
    **more: Any,
) -> str:
    """The page, with what went wrong and what was typed in the form it was typed in. `more`: of changes by hand."""
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.PAIR, event)
    rounds = asking.rounds.list(event_id)
    round_ = next((found for found in rounds if found.number == round_no), None)
    drawing = asking.rounds.drawing(event_id, round_no)
    draws = drawing.draws
    return render_template(
        "draw.html",
        event=event,
        rounds=rounds,
        round_no=round_no,
        round=round_,
        open_boards=open_boards(asking, event_id, rounds, before=round_no + 1),
        job=draw_job.worth_telling(drawing),
        what_to_do=draw_job.what_to_do,
        shown=shown_draft(asking, event_id, round_no, draws),
        latest_draw=draws[0].number if draws else 0,
        published_draw=any(one.state == "published" for one in draws),
        faults=in_short(faults),
        typed=typed or {},
        saying=draft_words,
        operating=operation_words,
        unplayed=partial(finishing.unplayed, asking, event, rounds),
        **more,
    )


@pages.post(f"{ROUND}/draw")
@requires(Right.PUBLIC)
def ask(event_id: int, round_no: int) -> Page:
    """Asks for the draw and shows how it goes."""
    try:
        client().rounds.ask_for_draw(event_id, round_no)
    except Unauthenticated:
        raise
    except QisaiError as error:
        event = client().events.get(event_id)
        ways = ways_out(error, event, round_no)
        return draw_page(event_id, round_no, faults=lines_of(error), ways=ways), status_of(error)
    return back(event_id, round_no)


@pages.get(f"{ROUND}/draw/jobs/<int:job_id>")
@requires(Right.PUBLIC)
def look(event_id: int, round_no: int, job_id: int) -> str:
    """How far a job is, as a part of the page. Raises `NotFound` for one of another round."""
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.PAIR, event)
    job = asking.rounds.job(job_id)
    if (job.event_id, job.round_no) != (event_id, round_no):
        raise NotFound("job-not-found", f"Round {round_no} has no job {job_id}.")
    return render_template("draw_job.html", event=event, round_no=round_no, job=job, operating=operation_words)


@pages.post(f"{ROUND}/draw/<action>")
@requires(Right.PUBLIC)
def act(event_id: int, round_no: int, action: str) -> Page:
    """One step, with the version that the page showed; what was typed stays where it is refused."""
    form = request.form.to_dict()
    steps = {**_steps_of_draft(event_id, round_no, form), **_steps_of_round(event_id, round_no, form)}
    if action not in steps:
        raise NotFound("not-found", "There is no such step.")
    step, done = steps[action]
    try:
        if action == "finish":
            finishing.require_sure(form, client(), event_id)
        step()
    except Unauthenticated:
        raise
    except QisaiError as error:
        event = client().events.get(event_id)
        typed = {**form, "action": action}
        return draw_page(event_id, round_no, faults=lines_of(error, event), typed=typed), status_of(error)
    flash(done, "done")
    return back(event_id, round_no)


Steps = dict[str, tuple[Callable[[], object], str]]


def _steps_of_draft(event_id: int, round_no: int, form: Mapping[str, str]) -> Steps:
    asking, number = client(), _whole(form, "number")
    seen = DrawView(number=number, state="draft", version=_whole(form, "version"), document={})
    published = _("Round %(number)s is published.", number=round_no)
    return {
        "cancel": (lambda: asking.rounds.cancel_job(number), _("The draw was cancelled.")),
        "accept": (lambda: asking.rounds.accept(event_id, round_no, seen), _("The draft is accepted.")),
        "publish": (lambda: asking.rounds.publish(event_id, round_no, seen), published),
    }


def _steps_of_round(event_id: int, round_no: int, form: Mapping[str, str]) -> Steps:
    asking, version = client(), _whole(form, "version")
    reason, force = form.get("reason", "").strip(), "force" in form
    seen = RoundView(number=round_no, state="", version=version)
    event = Event(id=event_id, name="", state="", profile="", version=version)
    clock = form.get("clock", "")
    return {
        "close": (lambda: asking.rounds.close(event_id, seen, force=force, reason=reason), _("The round is closed.")),
        "reopen": (lambda: asking.rounds.reopen(event_id, seen, reason=reason), _("The round is open again.")),
        "unpublish": (lambda: asking.rounds.unpublish(event_id, seen, reason=reason), _("The round was taken back.")),
        "clock": (
            lambda: asking.rounds.set_clock(event_id, seen, clock, seconds=_seconds(form)),
            _("The clock is set."),
        ),
        "finish": (lambda: asking.events.act(event, "finish"), _("The event is finished.")),
        "go-on": (lambda: asking.events.act(event, "reopen", reason=reason), _("The event goes on.")),
    }


def _whole(form: Mapping[str, str], name: str) -> int:
    text = form.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _seconds(form: Mapping[str, str]) -> int | None:
    """Minutes as typed, as seconds; None for steps that take none. Raises `Invalid`."""
    if form.get("clock") not in ("start", "adjust"):
        return None
    text = form.get("minutes", "").strip().replace("−", "-")
    try:
        return round(float(text) * 60)
    except (ValueError, OverflowError) as error:
        raise Invalid("invalid-request", _("Write the minutes as a number, such as 90.")) from error


def back(event_id: int, round_no: int) -> Response:
    """To the page of the round."""
    return redirect(url_for("chief.draw", event_id=event_id, round_no=round_no), code=303)


def open_boards(
    asking: Client, event_id: int, rounds: tuple[RoundView, ...], *, before: int
) -> list[tuple[int, BoardView]]:
    """Boards of earlier rounds that have no result yet, each with its round."""
    return [
        (round_.number, board)
        for round_ in rounds
        if round_.number < before and round_.reported < round_.boards
        for board in asking.rounds.boards(event_id, round_.number).items
        if board.result is None
    ]
