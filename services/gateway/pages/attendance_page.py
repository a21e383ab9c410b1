"""Check-in for one round: until when, who came, who did not; two letters and Enter note somebody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

from qisai.client import Client, Entrant, Event
from qisai.errors import QisaiError, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway.pages.desk import DESK
from services.gateway.pages.desk_list import MOST_ROWS, rows
from services.gateway.pages.fault_words import lines_of
from services.gateway.pages.moments import as_sent, as_typed
from services.gateway.pages.past_days import is_over
from services.gateway.pages.site import client, for_those_who
from services.gateway.pages.ways_back import leads_back

pages = Blueprint("attendance_page", __name__)

_ROUND: Final = f"{DESK}/attendance/<int:round_no>"
for _path in ("deadline", "note"):
    leads_back(pages, f"{_ROUND}/{_path}", to="attendance_page.attendance")


@pages.get(_ROUND)
@requires(Right.PUBLIC)
def attendance(event_id: int, round_no: int) -> str:
    """Who came to the round, and who is still missing."""
    return _page(event_id, round_no)


@pages.post(f"{_ROUND}/deadline")
@requires(Right.PUBLIC)
def deadline(event_id: int, round_no: int) -> str | Response | tuple[str, int]:
    """Until when entrants check in; nothing: the round has no check-in."""
    asking = client()
    event = _event(asking, event_id)
    typed = "" if "none" in request.form else request.form.get("until", "")
    try:
        asking.entrants.set_deadline(event_id, round_no, as_sent(typed, event.time_zone))
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(event_id, round_no, until=typed, faults=lines_of(error)), 422
    flash(_("The deadline is set.") if typed else _("Round %(number)s has no check-in.", number=round_no), "done")
    if is_over(as_sent(typed, event.time_zone) or ""):
        flash(_("That time is over already: whoever is not noted as here is absent from this round now."), "warning")
    return _back(event_id, round_no)


@pages.post(f"{_ROUND}/note")
@requires(Right.PUBLIC)
def note(event_id: int, round_no: int) -> str | Response | tuple[str, int]:
    """Notes who came: everybody, the one whose button was pressed, or whoever the letters fit."""
    asking = client()
    _event(asking, event_id)
    typed, present = request.form.get("letters", "").strip(), "absent" not in request.form
    try:
        if "everybody" in request.form:
            count = asking.entrants.set_all_present(event_id, round_no, present=present)
            flash(ngettext("%(num)d noted.", "%(num)d noted.", count), "done")
            return _back(event_id, round_no)
        one = request.form.get("absent" if not present else "entrant", type=int)
        if one is None and not typed:
            return _back(event_id, round_no)  # Enter pressed twice: nothing is asked
        if one is None:
            found = [entrant for entrant in asking.entrants.list(event_id, q=typed) if entrant.state == "seated"]
            missing = set(asking.entrants.attendance(event_id, round_no).missing)
            waiting = [entrant for entrant in found if entrant.id in missing]
            if not waiting:
                return _page(event_id, round_no, letters=typed, faults=[_nobody(typed, found)]), 422
            if len(waiting) > 1:
                return _page(event_id, round_no, letters=typed, candidates=waiting)
            asking.entrants.set_present(event_id, round_no, waiting[0].id, present=present)
            flash(_("%(name)s is here.", name=waiting[0].name), "done")
            return _back(event_id, round_no)
        asking.entrants.set_present(event_id, round_no, one, present=present)
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(event_id, round_no, letters=typed, faults=lines_of(error)), 422
    return _back(event_id, round_no)


def _page(
    event_id: int,
    round_no: int,
    *,
    letters: str = "",
    candidates: Sequence[Entrant] = (),
    until: str | None = None,
    faults: Sequence[str] = (),
) -> str:
    asking = client()
    event = _event(asking, event_id)
    found = asking.entrants.attendance(event_id, round_no)
    missing = set(found.missing)
    rounds = asking.rounds.list(event_id)
    listed = rows(asking.entrants.list(event_id, state="seated"), (), sort="name")
    upcoming = rounds[-1].number + 1 if rounds else 1
    last = event.regulations.get("rounds") or upcoming
    return render_template(
        "attendance.html",
        event=event,
        rounds=rounds,
        round_no=round_no,
        upcoming=upcoming,
        numbers=range(1, max(last, round_no, upcoming if not event.regulations.get("rounds") else 0) + 1),
        found=found,
        until=as_typed(found.until, event.time_zone) if until is None else until,
        missing=[row for row in listed if row.entrant.id in missing][:MOST_ROWS],
        present=[row for row in listed if row.entrant.id not in missing][:MOST_ROWS],
        most=MOST_ROWS,
        letters=letters,
        candidates=candidates,
        faults=faults,
    )


def _nobody(typed: str, found: Sequence[Entrant]) -> str:
    if len(found) == 1:
        return str(_("%(name)s is noted already.", name=found[0].name))
    return str(_("Nobody who is missing fits “%(letters)s”.", letters=typed[:40]))


def _back(event_id: int, round_no: int) -> Response:
    return redirect(url_for("attendance_page.attendance", event_id=event_id, round_no=round_no), code=303)


def _event(asking: Client, event_id: int) -> Event:
    event = asking.events.get(event_id)
    for_those_who(Right.MANAGE_ENTRANTS, event)
    return event
