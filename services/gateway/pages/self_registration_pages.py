"""Registering oneself while an event is open, and one's own entry behind its link: read it, cancel it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response as AnyResponse

from qisai.client import Event
from qisai.errors import QisaiError, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway.pages import entrant_values as values
from services.gateway.pages.fault_words import lines_of
from services.gateway.pages.site import client, telling
from services.gateway.pages.ways_back import leads_back

pages = Blueprint("self_registration_pages", __name__)

_REGISTER: Final = "/events/<int:event_id>/register"
_ENTRY: Final = "/entry/<token>"
leads_back(pages, f"{_ENTRY}/cancel", to="self_registration_pages.entry")
_FIELDS: Final = ("name", "club", "sex", "birth_year", "phone", "email", "members", "substitutes")


@pages.get(_REGISTER)
@requires(Right.PUBLIC)
def form(event_id: int) -> str:
    """The form, or why nobody can register here now."""
    return _form_page(client().events.get(event_id), {})


@pages.post(_REGISTER)
@requires(Right.PUBLIC)
def send(event_id: int) -> AnyResponse | tuple[str, int]:
    """Registers, and leads to the own entry; what was typed stays in the form where it is refused."""
    typed = request.form.to_dict()
    said: dict[str, Any] = {"name": "", **values.for_new({name: typed[name] for name in _FIELDS if name in typed})}
    try:
        entry = client().entrants.register_oneself(event_id, key=typed.get("key") or None, **said)
    except Unauthenticated:
        raise
    except QisaiError as error:
        event = client().events.get(event_id)
        about = "team" if values.is_team(event) else ""
        return _form_page(event, typed, faults=lines_of(error, about)), 422
    return redirect(url_for("self_registration_pages.entry", token=entry.token, new=1), code=303)


@pages.get(_ENTRY)
@requires(Right.PUBLIC)
def entry(token: str) -> Response:
    """One's own entry, with the link to keep."""
    return _entry_page(token)


@pages.post(f"{_ENTRY}/cancel")
@requires(Right.PUBLIC)
def cancel(token: str) -> AnyResponse:
    """Cancels one's own entry; whoever waits moves up."""
    with telling(_("Your entry is cancelled.")):
        client().entrants.cancel_own_entry(token)
    return redirect(url_for("self_registration_pages.entry", token=token), code=303)


def _form_page(event: Event, typed: values.Typed, *, faults: Sequence[str] = ()) -> str:
    return render_template(
        "register.html",
        event=event,
        rounds=client().rounds.list(event.id),
        typed=typed,
        is_team=values.is_team(event),
        faults=faults,
    )


def _entry_page(token: str) -> Response:
    found = client().entrants.own_entry(token)
    page = render_template(
        "own_entry.html",
        entry=found,
        link=url_for("self_registration_pages.entry", token=token, _external=True),
        token=token,
        is_new="new" in request.args,
    )
    response = make_response(page)
    response.headers["Cache-Control"] = "no-store"  # what people told the desk about themselves
    return response
