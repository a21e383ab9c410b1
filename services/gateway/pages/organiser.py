"""The organiser's page of an event: what it is and means, its steps forward and back, and a clone of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as __
from werkzeug.wrappers import Response

from qisai.client import Event
from qisai.client.reading import moment
from qisai.errors import Conflict, NotFound, QisaiError, Stale, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway.pages import event_words, past_days, wording
from services.gateway.pages.fault_words import lines_of
from services.gateway.pages.finishing import require_sure, unplayed
from services.gateway.pages.moments import as_sent
from services.gateway.pages.site import client, for_those_who, viewer
from services.gateway.pages.ways_back import leads_back

pages = Blueprint("organiser", __name__)
pages.add_app_template_filter(moment)

_SET_UP: Final = "/events/<int:event_id>/set-up"
leads_back(pages, f"{_SET_UP}/<action>", to="organiser.set_up")
ACTIONS: Final = (
    "open", "close-registration", "draft", "archive", "unarchive", "start", "take-start-back", "finish", "reopen",
)  # fmt: skip
STEPS: Final = {
    "draft": (("open", __("Open registration")), ("archive", __("Archive"))),
    "open": (("close-registration", __("Close registration")), ("draft", __("Back to draft"))),
    "closed": (
        ("start", __("Start the event")),
        ("open", __("Open registration again")),
        ("draft", __("Back to draft")),
        ("archive", __("Archive")),
    ),
    "running": (("finish", __("Finish the event")), ("take-start-back", __("Take the start back"))),
    "finished": (("reopen", __("Take the event up again")), ("archive", __("Archive"))),
    "archived": (("unarchive", __("Take it out of the archive")),),
}
"""Steps that a state offers, the way on first; the service knows which of them are allowed now."""
QUESTIONS: Final = {
    "start": __("Start the event? While no round is published, the start can be taken back."),
    "take-start-back": __("Take the start back? The event is as before it, and can be started again."),
    "finish": __("Finish the event? It can be taken up again."),
    "draft": __("Back to draft? The public then sees nothing of this event until registration is opened again."),
    "archive": __("Archive the event? Nothing in it changes then, until it is taken out of the archive."),
}
"""What is asked before a step is taken."""
_BACK: Final = {"unarchive": "archive", "take-start-back": "start"}
"""Step back → the step that it undoes."""
_BY_REGISTRATION: Final = frozenset({"open", "close-registration", "draft", "archive", "unarchive"})


@pages.get(_SET_UP)
@requires(Right.PUBLIC)
def set_up(event_id: int) -> str:
    """What the event is, with the next step."""
    return _page(event_id)


@pages.post(f"{_SET_UP}/<action>")
@requires(Right.PUBLIC)
def act(event_id: int, action: str) -> str | Response | tuple[str, int]:
    """One step of the event's state, with the version that the page showed."""
    if action not in ACTIONS:
        raise NotFound("not-found", "There is no such step.")
    seen = Event(id=event_id, name="", state="", profile="", version=request.form.get("version", type=int) or 0)
    try:
        if action == "finish":
            require_sure(request.form, client(), event_id)
        if action in _BACK:
            event = client().events.act(seen, _BACK[action], undo=True)
        else:
            event = client().events.act(seen, action)
    except Unauthenticated:
        raise
    except Stale as error:
        now = str(wording.EVENT_STATES.get(error.current.get("state", ""), ""))
        line = _("The event was changed meanwhile; it is now: %(state)s. Look again, then decide.", state=now)
        return _page(event_id, faults=[line]), 412
    except QisaiError as error:
        return _page(event_id, faults=lines_of(error, "event")), 409 if isinstance(error, Conflict) else 422
    flash(_("The event is now: %(state)s.", state=wording.EVENT_STATES.get(event.state, event.state)), "done")
    if action == "open":
        for line in past_days.warnings(until=event.registration_until, starts_on=event.starts_on, zone=event.time_zone):
            flash(line, "warning")
    return redirect(url_for("organiser.set_up", event_id=event_id), code=303)


@pages.post(f"{_SET_UP}/clone")
@requires(Right.PUBLIC)
def clone(event_id: int) -> str | Response | tuple[str, int]:
    """A new draft with this event's game, regulations and rules of registration."""
    form = request.form.to_dict()
    event = client().events.get(event_id)
    anew: dict[str, Any] = {name: form[name].strip() for name in ("starts_on", "venue") if form.get(name)}
    anew["name"] = form.get("name", "").strip()  # an emptied one is refused: else two events would have one name
    until = as_sent(form.get("registration_until", ""), event.time_zone)
    try:
        made = client().events.clone(
            event_id, key=form.get("key") or None, **anew, **({} if until is None else {"registration_until": until})
        )
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(event_id, faults=lines_of(error, "event"), typed=form), 422
    flash(_("The clone is made. Look it through, then open registration."), "done")
    return redirect(url_for("event_form.edit", event_id=made.id), code=303)


def _page(event_id: int, *, faults: Sequence[str] = (), typed: dict[str, str] | None = None) -> str:
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.RUN_EVENT, event)
    rounds = asking.rounds.list(event_id)
    planned = event.regulations.get("rounds") or 0
    return render_template(
        "set_up.html",
        event=event,
        rounds=rounds,
        steps=_steps(event),
        questions=QUESTIONS,
        is_over=bool(rounds) and rounds[-1].state == "closed" and rounds[-1].number >= planned,
        typed=typed,
        faults=faults,
        unplayed=partial(unplayed, asking, event, rounds),
        tell=event_words,
        meaning={
            "regulations": event.regulations,
            "advice": event.advice,
            "requested_byes": {"max": event.max_byes, "until_round": event.byes_until_round},
            "late_entry": {"bye": event.regulations["late_entry"], "until_round": event.late_entry_until},
        },
    )


def _steps(event: Event) -> list[tuple[str, Any]]:
    """Steps that the viewer may take from here."""
    may = viewer().may(Right.MANAGE_EVENT, event)
    found = [(action, text) for action, text in STEPS.get(event.state, ()) if may or action not in _BY_REGISTRATION]
    before_round_1 = ("open", "draft", "take-start-back")
    return [one for one in found if not (event.frozen_at and one[0] in before_round_1)]
