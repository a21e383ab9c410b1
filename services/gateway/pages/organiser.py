"""The organiser's pages: a new event, its steps, who works at it."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import Event
from qisai.errors import NotFound, QisaiError, Unauthenticated
from qisai.kernel.profiles import TIE_BREAK_PRESETS
from qisai.web.rights import Right, requires
from services.gateway.pages.site import client, for_those_who, lines_of, telling, viewer, whole_number

pages = Blueprint("organiser", __name__)

ACTIONS = ("open", "close-registration", "draft", "archive", "start", "finish", "reopen")
POINTS = {"1-half-0": (1, 0.5, 0), "2-1-0": (2, 1, 0), "3-1-0": (3, 1, 0)}
"""Points for win, draw and loss that the form offers; the bye counts as a win."""


@pages.get("/events/new")
@requires(Right.PUBLIC)
def new_event() -> str:
    """The form in three blocks: basics, regulations, registration."""
    return _form({})


@pages.post("/events/new")
@requires(Right.PUBLIC)
def create() -> str | Response | tuple[str, int]:
    """Makes the event; what was typed stays in the form where it is refused."""
    form = request.form
    try:
        event = client().events.create(key=form.get("key") or None, **_asked(form.to_dict()))
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _form(form.to_dict(), faults=lines_of(error)), 422
    flash(_("The event is made. Next: open registration."), "done")
    return redirect(url_for("organiser.set_up", event_id=event.id), code=303)


@pages.get("/events/<int:event_id>/set-up")
@requires(Right.PUBLIC)
def set_up(event_id: int) -> str:
    """What the event is, with the next step."""
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.CONTROL_ROUND if viewer().may(Right.CONTROL_ROUND, event) else Right.MANAGE_EVENT, event)
    return render_template("set_up.html", event=event, rounds=asking.rounds.list(event_id))


@pages.post("/events/<int:event_id>/set-up/<action>")
@requires(Right.PUBLIC)
def act(event_id: int, action: str) -> Response:
    """One step of the event's state, with the version that the page showed."""
    if action not in ACTIONS:
        raise NotFound("not-found", "There is no such step.")
    seen = Event(id=event_id, name="", state="", profile="", version=request.form.get("version", type=int) or 0)
    with telling(_("Done.")):
        client().events.act(seen, action)
    return redirect(url_for("organiser.set_up", event_id=event_id), code=303)


def _form(typed: dict[str, str], *, faults: Any = ()) -> str:
    for_those_who(Right.CREATE_EVENT)
    return render_template(
        "new_event.html",
        profiles=client().events.profiles(),
        typed=typed,
        faults=faults,
        points=POINTS,
        tie_breaks=TIE_BREAK_PRESETS,
    )


def _asked(form: dict[str, str]) -> dict[str, Any]:
    """The API's body from the form; what was left empty takes the game's default."""
    asked: dict[str, Any] = {
        "name": form.get("name", "").strip(),
        "profile": form.get("profile", ""),
        "is_public": "is_public" in form,
        "needs_approval": "needs_approval" in form,
        "needs_check_in": "needs_check_in" in form,
    }
    for name in ("venue", "starts_on", "time_zone"):
        if form.get(name, "").strip():
            asked[name] = form[name].strip()
    for name in ("capacity", "expected_entrants"):
        if form.get(name, "").strip():
            asked[name] = whole_number(form[name])
    regulations: dict[str, Any] = {}
    if form.get("rounds", "").strip():
        regulations["rounds"] = whole_number(form["rounds"])
    if form.get("points") in POINTS:
        win, draw, loss = POINTS[form["points"]]
        regulations["points"] = {"win": win, "draw": draw, "loss": loss, "bye": win}
    if form.get("tie_breaks") in TIE_BREAK_PRESETS:
        regulations["tie_breaks"] = list(TIE_BREAK_PRESETS[form["tie_breaks"]])
    if form.get("avoid_same_club"):
        regulations["first_round"] = {"avoid_same_club": True}
    if regulations:
        asked["regulations"] = regulations
    return asked
