"""The form of an event in three blocks, new or to change, with a preview of what the choices mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import Event, Profile
from qisai.errors import NotFound, QisaiError, Stale, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway.pages import event_values as values
from services.gateway.pages import event_words, past_days, shown_values
from services.gateway.pages.fault_words import field_name, fields_at_fault, lines_of
from services.gateway.pages.moments import as_sent
from services.gateway.pages.site import client, for_those_who

pages = Blueprint("event_form", __name__)

_EDIT = "/events/<int:event_id>/set-up/edit"


@pages.get("/events/new")
@requires(Right.PUBLIC)
def new() -> str:
    """The form of a new event, with a game's own regulations in it."""
    for_those_who(Right.CREATE_EVENT)
    profile = _profile(request.args.get("profile", ""))
    return _new_page({**values.FIRST_EVENT, **values.regulations_of(profile.regulations)}, profile)


@pages.post("/events/new")
@requires(Right.PUBLIC)
def create() -> str | Response | tuple[str, int]:
    """Shows what the choices mean, or makes the event; what was typed stays in the form."""
    for_those_who(Right.CREATE_EVENT)
    profile = _profile(request.form.get("profile", ""))
    form = _of_game(_taken(request.form.to_dict()), profile)
    if "preview" in form:
        return _new_page(form, profile)
    regulations = values.regulations_asked(form, base=profile.regulations, profile=profile)
    try:
        event = client().events.create(
            key=form.get("key") or None, profile=profile.code, regulations=regulations, **values.basics_asked(form)
        )
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _new_page(form, profile, error=error), 422
    flash(_("The event is made. Next: open registration."), "done")
    _warn(event)
    return redirect(url_for("organiser.set_up", event_id=event.id), code=303)


@pages.get(_EDIT)
@requires(Right.PUBLIC)
def edit(event_id: int) -> str:
    """The same form with what the event is."""
    event = _event(event_id)
    return _edit_page(event, _values_of(event))


@pages.post(_EDIT)
@requires(Right.PUBLIC)
def change(event_id: int) -> str | Response | tuple[str, int]:
    """Shows what the choices mean, or saves them at the version that the form saw."""
    event = _event(event_id)
    form = _taken(request.form.to_dict())
    if event.frozen_at:  # what is frozen is not in the form
        form = {**values.regulations_of(event.regulations), **form}
    if "preview" in form:
        return _edit_page(event, form, version=request.form.get("version", type=int))
    seen = Event(id=event_id, name="", state="", profile="", version=request.form.get("version", type=int) or 0)
    try:
        changed = client().events.change(seen, **_changes(event, form))
    except Unauthenticated:
        raise
    except Stale as error:
        return _conflict_page(client().events.get(event_id), form, error), 412
    except QisaiError as error:
        return _edit_page(event, form, version=seen.version, error=error), 422
    flash(_("The event is changed."), "done")
    if event.frozen_at is None:
        _warn(changed)
    return redirect(url_for("organiser.set_up", event_id=event_id), code=303)


def _warn(event: Event) -> None:
    """Says on the next page which of its days are over."""
    for line in past_days.warnings(until=event.registration_until, starts_on=event.starts_on, zone=event.time_zone):
        flash(line, "warning")


def _changes(event: Event, form: values.Typed) -> dict[str, Any]:
    changes = values.basics_asked(form)
    if not event.frozen_at:
        changes["regulations"] = _regulations(event, form)
    return changes


def _regulations(event: Event, form: values.Typed) -> dict[str, Any]:
    return values.regulations_asked(form, base=event.regulations, profile=_copy(event))


def _new_page(form: values.Typed, profile: Profile, *, error: QisaiError | None = None) -> str:
    said = values.regulations_asked(form, base=profile.regulations, profile=profile)
    preview, errors = _preview(profile.code, form, said)
    return render_template(
        "event_form.html",
        event=None,
        profiles=client().events.profiles(),
        preview=_beside(preview, error),
        **_faults(error, *errors),
        **_shown(form, profile),
    )


def _edit_page(
    event: Event,
    form: values.Typed,
    *,
    version: int | None = None,
    error: QisaiError | None = None,
    conflict: Stale | None = None,
    theirs: Sequence[tuple[str, str, str]] = (),
) -> str:
    """`conflict`: somebody else changed the event meanwhile, of what was typed here `theirs`."""
    # What the form leaves unsaid is the event's own: the preview starts from the game.
    unused = values.unused_fields(_copy(event), form.get("system") or str(event.regulations["system"]))
    own = {name: value for name, value in event.regulations.items() if name not in unused and name != "profile"}
    preview, errors = _preview(event.profile, form, own | _regulations(event, form))
    return render_template(
        "event_form.html",
        event=event,
        rounds=client().rounds.list(event.id),
        version=event.version if conflict is not None or version is None else version,
        shown=shown_values.as_shown(form, _values_of(event)),
        theirs=theirs,
        conflict=conflict,
        preview=_beside(preview, error),
        **_faults(error, *errors),
        **_shown(form, _copy(event)),
    )


def _shown(form: values.Typed, profile: Profile) -> dict[str, Any]:
    unused = values.unused_fields(profile, form.get("system") or str(profile.regulations["system"]))
    return {
        "typed": form,
        "profile": profile,
        "uses": lambda name: name not in unused,
        "points": values.point_presets(),
        "tie_breaks": values.tie_break_presets(first_move=profile.first_move),
        "criteria": values.tie_break_codes(first_move=profile.first_move),
        "places": range(1, values.MOST_TIE_BREAKS + 1),
        "tell": event_words,
        "past": past_days.warnings(
            until=as_sent(form.get("registration_until", ""), form.get("time_zone", "")),
            starts_on=form.get("starts_on", "").strip(),
            zone=form.get("time_zone", ""),
        ),
    }


def _beside(preview: dict[str, Any] | None, error: QisaiError | None) -> dict[str, Any] | None:
    """What the choices mean, without the warning that came true: the fault says it."""
    if preview is None or error is None:
        return preview
    warnings = [one for one in preview["advice"]["warnings"] if one != "too_many_rounds"]
    return {**preview, "advice": {**preview["advice"], "warnings": warnings}}


def _faults(*errors: QisaiError | None) -> dict[str, Any]:
    """What is wrong, each thing once, and the fields to mark."""
    lines = dict.fromkeys(line for error in errors if error is not None for line in lines_of(error, "event"))
    return {"faults": list(lines), "bad_fields": frozenset().union(*(fields_at_fault(error) for error in errors))}


def _preview(
    code: str, form: values.Typed, regulations: dict[str, Any]
) -> tuple[dict[str, Any] | None, list[QisaiError]]:
    """What the choices mean, or why they cannot be: regulations are looked at also where the rest has faults."""
    asked = {name: value for name, value in values.basics_asked(form).items() if value is not None}
    errors: list[QisaiError] = []
    for basics in (asked, {}):
        try:
            preview = client().events.preview(profile=code, regulations=regulations, **basics)
        except Unauthenticated:
            raise
        except QisaiError as error:
            errors.append(error)
            continue
        return (None if errors else preview), errors
    return None, errors


def _conflict_page(event: Event, form: values.Typed, conflict: Stale) -> str:
    """The event as it is now with what was typed here; saving writes that over theirs where both changed it."""
    now = _values_of(event)
    unused = values.unused_fields(_copy(event), form.get("system") or str(event.regulations["system"]))
    mine = shown_values.changed_here(form, ((form.keys() | values.CHECKS) & values.FIELDS) - unused)
    theirs = sorted(
        (
            field_name(name, "event"),
            event_words.value(name, now.get(name, "")),
            event_words.value(name, form.get(name, "")),
        )
        for name in shown_values.changed_by_both(form, now, mine)
    )
    whole = shown_values.taken_over(form, now, mine, names=values.FIELDS)
    whole[shown_values.SHOWN] = shown_values.as_field(now)
    return _edit_page(event, whole, conflict=conflict, theirs=theirs)


def _values_of(event: Event) -> dict[str, str]:
    """The form's fields as the event has them."""
    return {**values.basics_of(event), **values.regulations_of(event.regulations)}


def _taken(form: dict[str, str]) -> dict[str, str]:
    """The form with the number of rounds that was proposed, where that was taken: it is then looked at again."""
    return form if "take" not in form else {**form, "rounds": form["take"], "preview": "1"}


def _of_game(form: dict[str, str], profile: Profile) -> dict[str, str]:
    """The form as it is to be read: of another game its own regulations, with the number of rounds that was typed.

    A form that does not say which game it showed says only some of the regulations: the others are the game's.
    """
    shown = form.get("shown_game")
    if shown == profile.code:
        return form
    own = values.regulations_of(profile.regulations)
    if shown is None:
        return {**own, **form}
    return {**values.without_regulations(form), **own, "rounds": form.get("rounds", "")}


def _profile(code: str) -> Profile:
    """The game that was chosen, else the first. Raises `NotFound` where there is none of that name."""
    known = client().events.profiles()
    if not code:
        return known[0]
    found = next((profile for profile in known if profile.code == code), None)
    if found is None:
        raise NotFound("profile-not-found", f"There is no game {code[:60]!r}.")
    return found


def _copy(event: Event) -> Profile:
    if event.profile_copy is None:
        raise NotFound("event-not-found", "This event has no game.")
    return event.profile_copy


def _event(event_id: int) -> Event:
    """The event, for those who may change it."""
    event = client().events.get(event_id)
    for_those_who(Right.MANAGE_EVENT, event)
    return event
