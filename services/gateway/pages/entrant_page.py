"""One entrant at the desk: add, change, steps with reason and round, absences and byes asked for, the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import Client, Entrant, Event
from qisai.errors import NotFound, QisaiError, Stale, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway.pages import desk as desk_page
from services.gateway.pages import entrant_values as values
from services.gateway.pages import event_words, log_values, shown_values, wording
from services.gateway.pages.desk import DESK
from services.gateway.pages.entrant_steps import LEAVING, offered
from services.gateway.pages.fault_words import field_name, fields_at_fault, lines_of
from services.gateway.pages.site import client, for_those_who, viewer, whole_number
from services.gateway.pages.ways_back import leads_back

pages = Blueprint("entrant_page", __name__)

_ENTRANT: Final = f"{DESK}/<int:entrant_id>"
_ABSENT: Final = "absent"
for _path in ("step", "ahead"):
    leads_back(pages, f"{_ENTRANT}/{_path}", to="entrant_page.show")


@pages.get(f"{DESK}/new")
@requires(Right.PUBLIC)
def new(event_id: int) -> str:
    """The whole form of somebody new."""
    return _new_page(_event(client(), event_id, Right.MANAGE_ENTRANTS), {})


@pages.post(f"{DESK}/add")
@requires(Right.PUBLIC)
def add(event_id: int) -> str | Response | tuple[str, int]:
    """Registers one entrant; what was typed stays in the form where it is refused."""
    asking = client()
    event = _event(asking, event_id, Right.MANAGE_ENTRANTS)
    form = request.form.to_dict()
    try:
        added = asking.entrants.add(event_id, key=form.get("key") or None, **{"name": "", **values.for_new(form)})
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _new_page(event, form, error=error), 422
    flash(_("%(name)s is registered.", name=added.name), "done")
    if added.state == "waiting":
        flash(_("The event is full: %(name)s waits for a place.", name=added.name), "warning")
    same = [one for found in added.warnings for one in found["entrants"]]
    return desk_page.back(event_id, **({"look": [added.id, *same[:5]]} if same else {}))


@pages.get(_ENTRANT)
@requires(Right.PUBLIC)
def show(event_id: int, entrant_id: int) -> str:
    """Everything about one entrant."""
    asking = client()
    event = _event(asking, event_id, Right.MOVE_ENTRANT)
    return _page(asking, event, asking.entrants.get(event_id, entrant_id))


@pages.post(_ENTRANT)
@requires(Right.PUBLIC)
def change(event_id: int, entrant_id: int) -> str | Response | tuple[str, int]:
    """Saves the form at the version that it saw; a conflict shows both and asks."""
    asking = client()
    event = _event(asking, event_id, Right.MANAGE_ENTRANTS)
    form = request.form.to_dict()
    version = request.form.get("version", type=int) or 0
    try:
        changed = asking.entrants.change(event_id, _seen(entrant_id, version), **values.asked(form))
    except Unauthenticated:
        raise
    except Stale as error:
        return _conflict_page(asking, event, asking.entrants.get(event_id, entrant_id), form, error), 412
    except QisaiError as error:
        now = asking.entrants.get(event_id, entrant_id)
        return _page(asking, event, now, typed=form, version=version, error=error), 422
    flash(_("%(name)s: saved.", name=changed.name), "done")
    return redirect(url_for("entrant_page.show", event_id=event_id, entrant_id=entrant_id), code=303)


@pages.post(f"{_ENTRANT}/step")
@requires(Right.PUBLIC)
def step(event_id: int, entrant_id: int) -> str | Response | tuple[str, int]:
    """One step, with its reason and, for those who leave, the first round without them."""
    asking = client()
    event = _event(asking, event_id, Right.MOVE_ENTRANT)
    form = request.form.to_dict()
    to, version = form.get("to", ""), request.form.get("version", type=int) or 0
    from_round: Any = whole_number(form.get("from_round", "")) if to in LEAVING else ""
    reason = form.get("reason", "").strip() or None
    try:
        moved = asking.entrants.move(
            event_id, _seen(entrant_id, version), to, reason=reason, from_round=None if from_round == "" else from_round
        )
    except Unauthenticated:
        raise
    except QisaiError as error:
        now = asking.entrants.get(event_id, entrant_id)
        return _page(asking, event, now, said=form, faults=lines_of(error, _about(event))), 412 if isinstance(
            error, Stale
        ) else 409
    flash(_("%(name)s: now %(state)s.", name=moved.name, state=wording.ENTRANT_STATES[moved.state]), "done")
    return redirect(url_for("entrant_page.show", event_id=event_id, entrant_id=entrant_id), code=303)


@pages.post(f"{_ENTRANT}/ahead")
@requires(Right.PUBLIC)
def ahead(event_id: int, entrant_id: int) -> str | Response | tuple[str, int]:
    """Notes an absence or a bye that was asked for, in one round, or takes it back (`kind` empty)."""
    asking = client()
    event = _event(asking, event_id, Right.MANAGE_ENTRANTS)
    form = request.form.to_dict()
    round_no = request.form.get("round", type=int) or 0
    kind, was = form.get("kind", ""), form.get("was", "")
    try:
        _note(asking, event_id, entrant_id, round_no, kind=kind, was=was)
    except Unauthenticated:
        raise
    except QisaiError as error:
        now = asking.entrants.get(event_id, entrant_id)
        return _page(asking, event, now, ahead=form, faults=lines_of(error, _about(event))), 422
    flash(_("Round %(number)s: noted.", number=round_no), "done")
    where = url_for("entrant_page.show", event_id=event_id, entrant_id=entrant_id)
    return redirect(f"{where}#ahead", code=303)


def _note(asking: Client, event_id: int, entrant_id: int, round_no: int, *, kind: str, was: str) -> None:
    """One call, so that a refusal leaves things as they were."""
    if round_no < 1:
        raise NotFound("round-not-found", "Say the number of a round.")
    about: Callable[..., None]
    if _ABSENT in (kind, was):
        about = asking.entrants.set_absent
        about(event_id, round_no, entrant_id, absent=kind == _ABSENT)
    else:
        asking.entrants.set_bye(event_id, round_no, entrant_id, kind or None)


def _new_page(event: Event, typed: values.Typed, *, error: QisaiError | None = None) -> str:
    return render_template(
        "entrant_new.html",
        event=event,
        rounds=client().rounds.list(event.id),
        typed=typed,
        is_team=values.is_team(event),
        faults=[] if error is None else lines_of(error, _about(event)),
        bad_fields=fields_at_fault(error),
    )


def _page(
    asking: Client,
    event: Event,
    entrant: Entrant,
    *,
    typed: values.Typed | None = None,
    version: int | None = None,
    conflict: Stale | None = None,
    theirs: Sequence[tuple[str, str, str]] = (),
    said: values.Typed | None = None,
    ahead: values.Typed | None = None,
    faults: Sequence[str] = (),
    error: QisaiError | None = None,
) -> str:
    """`typed`, `said`, `ahead`: what was typed into the form, at a step, ahead of rounds, where it was refused."""
    rounds = asking.rounds.list(event.id)
    upcoming = rounds[-1].number + 1 if rounds else 1
    planned = event.regulations.get("rounds")
    return render_template(
        "entrant.html",
        event=event,
        rounds=rounds,
        entrant=entrant,
        is_team=values.is_team(event),
        typed=values.typed_of(entrant) if typed is None else typed,
        shown=shown_values.as_shown(typed or {}, values.typed_of(entrant)),
        version=entrant.version if version is None else version,
        conflict=conflict,
        theirs=theirs,
        said=said or {},
        ahead=ahead or {},
        steps=[step for step in offered(event) if step.source == entrant.state],
        leaving=LEAVING,
        upcoming=upcoming,
        rounds_ahead=range(upcoming, (planned or upcoming + 19) + 1),
        noted=_noted(entrant),
        kinds={_ABSENT: wording.BYES[_ABSENT], **event_words.REQUESTED_BYES},
        limits=event_words.asked_byes({"max": event.max_byes, "until_round": event.byes_until_round}),
        log=asking.entrants.transitions(event.id, entrant.id),
        tell=log_values,
        faults=faults if error is None else lines_of(error, _about(event)),
        bad_fields=fields_at_fault(error),
        may_edit=viewer().may(Right.MANAGE_ENTRANTS, event),
    )


def _noted(entrant: Entrant) -> list[tuple[int, str]]:
    """What is known ahead: round and kind."""
    byes = [(int(bye["round"]), str(bye["kind"])) for bye in entrant.byes]
    return sorted([*byes, *((number, _ABSENT) for number in entrant.absences)])


def _conflict_page(asking: Client, event: Event, entrant: Entrant, form: values.Typed, conflict: Stale) -> str:
    """The entrant as it is now with what was typed here; saving writes that over theirs where both changed it."""
    now = values.typed_of(entrant)
    mine = shown_values.changed_here(form, [name for name in values.FIELDS if name in form])
    theirs = [
        (field_name(name, _about(event)), now[name] or "–", form[name] or "–")
        for name in values.FIELDS
        if name in shown_values.changed_by_both(form, now, mine)
    ]
    whole = shown_values.taken_over(form, now, mine, names=frozenset(values.FIELDS))
    whole[shown_values.SHOWN] = shown_values.as_field(now)
    return _page(asking, event, entrant, typed=whole, conflict=conflict, theirs=theirs)


def _about(event: Event) -> str:
    """What the form is about, for the names of its fields."""
    return "team" if values.is_team(event) else ""


def _seen(entrant_id: int, version: int) -> Entrant:
    return Entrant(id=entrant_id, name="", state="", version=version)


def _event(asking: Client, event_id: int, right: Right) -> Event:
    event = asking.events.get(event_id)
    for_those_who(right, event)
    return event
