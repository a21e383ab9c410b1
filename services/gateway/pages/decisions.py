"""Points that the chief referee gives or takes: the decisions, a new one, taking one back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import Adjustment, Client, Player
from qisai.errors import Invalid, QisaiError, Unauthenticated
from qisai.kernel.tournament_file import MAX_ADJUSTMENT
from qisai.web.rights import Right, requires
from services.gateway.pages.site import client, for_those_who, lines_of, status_of, viewer

pages = Blueprint("decisions", __name__)

_DECISIONS = "/events/<int:event_id>/decisions"
Page = str | Response | tuple[str, int]


@pages.get(_DECISIONS)
@requires(Right.PUBLIC)
def decisions(event_id: int) -> str:
    """All decisions, those taken back too; the form for the chief referee."""
    return _page(event_id)


@pages.post(_DECISIONS)
@requires(Right.PUBLIC)
def decide(event_id: int) -> Page:
    """Gives points or takes them; what was typed stays where it is refused."""
    form, asking = request.form.to_dict(), client()
    try:
        made = asking.rounds.adjust(
            event_id,
            _entrant(asking, event_id, form.get("number", "").strip()),
            points=_points(form),
            after_round=_round(form.get("after_round", "").strip()),
            reason=_reason(form),
            key=form.get("key") or None,
        )
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(event_id, typed=form, faults=lines_of(error)), status_of(error)
    points = f"{made.points:+g}"
    flash(_("%(name)s: %(points)s points, decided.", name=made.entrant.name, points=points), "done")
    return redirect(url_for("decisions.decisions", event_id=event_id), code=303)


@pages.post(f"{_DECISIONS}/<int:adjustment_id>/take-back")
@requires(Right.PUBLIC)
def take_back(event_id: int, adjustment_id: int) -> Page:
    """The decision counts no more."""
    form, asking = request.form.to_dict(), client()
    version = form.get("version", "")
    seen = Adjustment(
        id=adjustment_id,
        entrant=Player(entrant_id=None, number=0, name=""),
        points=0,
        after_round=1,
        reason="",
        made_by="",
        version=int(version) if version.isdecimal() and len(version) < 10 else 0,
    )
    try:
        asking.rounds.take_back_adjustment(event_id, seen, reason=_reason(form))
    except Unauthenticated:
        raise
    except QisaiError as error:
        event = asking.events.get(event_id)
        typed = {"taken": str(adjustment_id), "taken_reason": form.get("reason", "")}
        return _page(event_id, typed=typed, faults=lines_of(error, event)), status_of(error)
    flash(_("The decision is taken back."), "done")
    return redirect(url_for("decisions.decisions", event_id=event_id), code=303)


def _page(event_id: int, *, typed: Mapping[str, str] | None = None, faults: Sequence[str] = ()) -> str:
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.READ_STAFF, event)
    return render_template(
        "decisions.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        decisions=asking.rounds.adjustments(event_id),
        entrants=[one for one in asking.entrants.list(event_id) if one.number is not None],
        may_decide=viewer().may(Right.CONTROL_ROUND, event),
        typed=typed or {},
        faults=faults,
    )


def _entrant(asking: Client, event_id: int, text: str) -> int:
    """Id of the entrant with the number that the text begins with. Raises `Invalid`."""
    number = text.split(maxsplit=1)[0] if text else ""
    found = next((one for one in asking.entrants.list(event_id) if str(one.number) == number), None)
    if found is None:
        raise Invalid("invalid-request", _("Number %(number)s is not in this event.", number=text or "–"))
    return found.id


def _points(form: Mapping[str, str]) -> float:
    try:
        points = float(form.get("points", "").strip().replace(",", "."))
    except ValueError:
        points = 0.0
    if not 0 < points <= MAX_ADJUSTMENT or points * 2 != int(points * 2):
        raise Invalid(
            "invalid-request", _("Points are a number from 0.5 to %(most)s in steps of .5.", most=MAX_ADJUSTMENT)
        )
    return -points if form.get("sign") == "take" else points


def _round(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text[:4]) <= 100):
        raise Invalid("invalid-request", _("“%(text)s” is no round.", text=text))
    return int(text)


def _reason(form: Mapping[str, str]) -> str:
    reason = form.get("reason", "").strip()
    if not reason:
        raise Invalid("reason-needed", _("A decision needs a reason."))
    return reason
