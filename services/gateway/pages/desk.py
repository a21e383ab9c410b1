"""The desk's page: everybody in one list, found by two letters, moved one at a time or many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

from qisai.client import BulkChange, Client, Entrant, Event
from qisai.errors import NotFound
from qisai.web.rights import Right, requires
from services.gateway.pages import wording
from services.gateway.pages.desk_list import MOST_ROWS, rows
from services.gateway.pages.entrant_steps import StepOfMany, of_many, offered
from services.gateway.pages.site import client, for_those_who, telling
from services.gateway.pages.ways_back import leads_back

pages = Blueprint("desk", __name__)

DESK: Final = "/events/<int:event_id>/desk"
for _path in ("check-in", "move", "bulk", "undo", "add"):
    leads_back(pages, f"{DESK}/{_path}", to="desk.desk")
_FILTERS: Final = ("q", "state", "sort")
_MOST_REFUSALS: Final = 10
Refused = tuple[str, str]
"""Who did not take a step, and why."""


@pages.get(DESK)
@requires(Right.PUBLIC)
def desk(event_id: int) -> str:
    """All entrants with what can be done next."""
    return _page(event_id)


@pages.post(f"{DESK}/check-in")
@requires(Right.PUBLIC)
def check_in(event_id: int) -> str | Response | tuple[str, int]:
    """Checks in (without check-in: seats) whoever the letters fit, where that is one person; else asks which."""
    asking = client()
    event = _event(asking, event_id)
    chosen, typed = _seen(request.form.get("entrant", "")), request.form.get("letters", "").strip()
    if chosen is not None:
        return _checked_in(event, chosen)
    if not typed:
        return back(event_id)  # Enter pressed twice: nothing is asked
    found = asking.entrants.list(event_id, q=typed)
    ready = [entrant for entrant in found if entrant.state == "approved"]
    if len(ready) == 1:
        return _checked_in(event, ready[0])
    if not ready:
        return _page(event_id, letters=typed, faults=[_nobody(typed, found)]), 422
    return _page(event_id, letters=typed, candidates=ready)


@pages.post(f"{DESK}/move")
@requires(Right.PUBLIC)
def move(event_id: int) -> Response:
    """One step of one entrant, with the version that the page showed."""
    entrant = _seen(request.form.get("step", ""))
    to = request.form.get("step", "").rpartition(":")[2]
    if entrant is None or to not in wording.ENTRANT_STATES:
        raise NotFound("not-found", "There is no such step.")
    _tell_step(event_id, entrant, to)
    return back(event_id)


@pages.post(f"{DESK}/bulk")
@requires(Right.PUBLIC)
def bulk(event_id: int) -> str | Response:
    """One step of many: first what it would do, then, for just these as they were shown, the step itself."""
    asking = client()
    event = _event(asking, event_id)
    to, reason = request.form.get("to", ""), request.form.get("reason", "").strip()
    chosen = _chosen(asking, event_id)
    step = next((one for one in of_many(offered(event)) if to == one.code), None)
    to = to if step is None else step.to
    if to not in wording.ENTRANT_STATES or not chosen:
        flash(_("Choose entrants and a step first."), "error")
        return back(event_id)
    is_sure = "apply" in request.form
    with telling():
        left: list[Refused] = []
        if step is not None:
            chosen, left = _apart(asking, event_id, chosen, step)
        change = asking.entrants.move_some(event_id, to, entrants=chosen, reason=reason or None, dry_run=not is_sure)
        refused = [*left, *((_refused(one), str(one["reason"])) for one in change.refused)]
        if is_sure:
            return _done(event_id, change, refused)
        return _preview(asking, event, change, refused, to=to, reason=reason)
    return back(event_id)


@pages.post(f"{DESK}/undo")
@requires(Right.PUBLIC)
def undo(event_id: int) -> Response:
    """Takes a step of many back."""
    with telling():
        change = client().entrants.undo(event_id, request.form.get("undo", type=int) or 0)
        count = len(change.changed)
        flash(ngettext("Taken back for %(num)d entrant.", "Taken back for %(num)d entrants.", count), "done")
        _tell_refused([(_refused(one), str(one["reason"])) for one in change.refused])
    return back(event_id)


def back(event_id: int, **more: Any) -> Response:
    """To the list as it was filtered."""
    more |= {name: request.args[name] for name in _FILTERS if request.args.get(name)}
    return redirect(url_for("desk.desk", event_id=event_id, **more), code=303)


def _page(event_id: int, *, letters: str = "", candidates: Sequence[Entrant] = (), faults: Sequence[str] = ()) -> str:
    asking = client()
    event = _event(asking, event_id)
    q, state, sort = (request.args.get(name, "") for name in _FILTERS)
    state = state if state in wording.ENTRANT_STATES else ""
    sort = sort or ("state" if state == "waiting" else "number")
    entrants = _listed(asking, event_id, q=q[:200] or None, state=state or None, sort=sort)
    steps = offered(event)
    shown = rows(entrants, steps, sort=sort)
    named = [asking.entrants.get(event_id, one) for one in request.args.getlist("look", type=int)[:6]]
    return render_template(
        "desk.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        rows=shown[:MOST_ROWS],
        count=len(shown) if q or len(shown) != MOST_ROWS else _counted(event, state),
        filters={"q": q, "state": state, "sort": sort},
        steps_of_many=of_many(steps),
        steps=steps,
        letters=letters,
        candidates=candidates,
        faults=faults,
        undo=request.args.get("undo", type=int),
        namesakes=named,
    )


def _listed(asking: Client, event_id: int, *, q: str | None, state: str | None, sort: str) -> Sequence[Entrant]:
    """Whom a page may show. Two orders the service has itself, and so gives no more than are shown."""
    if sort in ("number", "name"):
        return asking.entrants.first(event_id, MOST_ROWS, q=q, state=state, by_name=sort == "name")
    return asking.entrants.list(event_id, q=q, state=state)


def _counted(event: Event, state: str) -> int:
    return event.counts.get(state, 0) if state else sum(event.counts.values())


def _preview(
    asking: Client, event: Event, change: BulkChange, refused: Sequence[Refused], *, to: str, reason: str
) -> str:
    """Who would move and who not, with the same choice to send again."""
    names = {entrant.id: entrant for entrant in asking.entrants.list(event.id)}
    moving = [names[one["id"]] for one in change.changed if one["id"] in names]
    return render_template(
        "bulk.html",
        event=event,
        rounds=asking.rounds.list(event.id),
        moving=moving,
        refused=refused,
        moved_up=len(change.moved_up),
        to=to,
        reason=reason,
        filters={name: request.args.get(name, "") for name in _FILTERS},
    )


def _chosen(asking: Client, event_id: int) -> list[Entrant]:
    """Who was ticked, or everybody in a state, at the versions that were seen."""
    states = request.form.getlist("all_in")
    if states:
        return [entrant for entrant in asking.entrants.list(event_id) if entrant.state in states]
    return [seen for text in request.form.getlist("entrant") if (seen := _seen(text)) is not None]


def _apart(
    asking: Client, event_id: int, chosen: Sequence[Entrant], step: StepOfMany
) -> tuple[list[Entrant], list[Refused]]:
    """Those of these whom the step is for, and the others with the reason; who is unknown is left to the service."""
    now = {entrant.id: entrant for entrant in asking.entrants.list(event_id)}
    stay = [now[one.id] for one in chosen if one.id in now and now[one.id].state not in step.sources]
    told = {
        one.id: (
            one.name,
            _(
                "is %(state)s, and “%(step)s” is no step from there",
                state=wording.ENTRANT_STATES[one.state],
                step=step.word,
            ),
        )
        for one in stay
    }
    return [one for one in chosen if one.id not in told], list(told.values())


def _done(event_id: int, change: BulkChange, refused: Sequence[Refused]) -> Response:
    count = len(change.changed)
    flash(ngettext("%(num)d entrant changed.", "%(num)d entrants changed.", count), "done")
    if change.moved_up:
        flash(
            ngettext(
                "%(num)d moved up from the waiting list.",
                "%(num)d moved up from the waiting list.",
                len(change.moved_up),
            ),
            "done",
        )
    _tell_refused(refused)
    return back(event_id, undo=change.undo)


def _refused(one: Mapping[str, Any]) -> str:
    """Who did not take the step: by name, or by id who is none of the event's."""
    return str(one["name"] or one["id"])


def _tell_refused(refused: Sequence[Refused]) -> None:
    for name, reason in refused[:_MOST_REFUSALS]:
        flash(reason if name in reason else _("%(field)s: %(fault)s", field=name, fault=reason), "error")
    left = len(refused) - _MOST_REFUSALS
    if left > 0:
        flash(ngettext("… and %(num)d more like these", "… and %(num)d more like these", left), "error")


def _checked_in(event: Event, entrant: Entrant) -> Response:
    _tell_step(event.id, entrant, "checked_in" if event.needs_check_in else "seated")
    return back(event.id)


def _tell_step(event_id: int, entrant: Entrant, to: str) -> None:
    with telling():
        moved = client().entrants.move(event_id, entrant, to)
        state = wording.ENTRANT_STATES[moved.state]
        flash(_("%(name)s: now %(state)s.", name=moved.name, state=state), "done")


def _nobody(typed: str, found: Sequence[Entrant]) -> str:
    """Why nobody is left to check in."""
    if len(found) == 1:
        state = wording.ENTRANT_STATES[found[0].state]
        return str(_("%(name)s is %(state)s and cannot be checked in.", name=found[0].name, state=state))
    return str(_("Nobody who could be checked in fits “%(letters)s”.", letters=typed[:40]))


def _seen(text: str) -> Entrant | None:
    """An entrant as a form names it: id, version, and what else stands behind them."""
    one, _colon, rest = text.partition(":")
    version = rest.partition(":")[0]
    if not (one.isdecimal() and version.isdecimal() and len(text) < 60):
        return None
    return Entrant(id=int(one), name="", state="", version=int(version))


def _event(asking: Client, event_id: int) -> Event:
    """The event, for those who move entrants in it."""
    event = asking.events.get(event_id)
    for_those_who(Right.MOVE_ENTRANT, event)
    return event
