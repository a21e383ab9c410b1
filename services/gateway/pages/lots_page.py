"""The draw of lots: by machine with a seed that anybody can replay, by seeding, or typed in from the table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as __
from werkzeug.wrappers import Response

from qisai.client import Client, Entrant, Event
from qisai.db.name_keys import name_order
from qisai.errors import Invalid, PreconditionMissing, QisaiError, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway.pages.desk import DESK
from services.gateway.pages.fault_words import field_name, lines_of
from services.gateway.pages.site import client, for_those_who, whole_number

pages = Blueprint("lots_page", __name__)

_LOTS: Final = f"{DESK}/lots"
_FIELD: Final = "number-"
_NUMBER: Final = re.compile(f"{_FIELD}[0-9]{{1,18}}")
RULES: Final = {
    "machine": __("Ordered by SHA-256 of the text “seed:id” of each entrant; late ones behind, as they came."),
    "seeding": __("By rating, the highest first, without one last; late ones behind, as they came."),
    "hand": __("As drawn at the table and typed in; late ones behind, as they came."),
}
"""How anybody can do the draw again."""


@pages.get(_LOTS)
@requires(Right.PUBLIC)
def show(event_id: int) -> str:
    """Everybody's number and how it was given."""
    return _page(event_id, {})


@pages.post(_LOTS)
@requires(Right.PUBLIC)
def draw(event_id: int) -> str | Response | tuple[str, int]:
    """Gives everybody who is seated a number; numbers typed in stay in the form where they are refused."""
    asking = client()
    _event(asking, event_id, Right.DRAW_LOTS)
    form = request.form.to_dict()
    mode = form.get("mode", "machine")
    try:
        asking.entrants.draw_lots(event_id, version=_version(form), mode=mode, **_said(form, mode))
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(event_id, form, faults=_lines(asking, event_id, error)), 422
    flash(_("The numbers are drawn."), "done")
    return redirect(url_for("lots_page.show", event_id=event_id), code=303)


def _version(form: Mapping[str, str]) -> int:
    """The version of the lots that the page showed. Raises `PreconditionMissing` for a form that says none."""
    seen = whole_number(form.get("version", ""))
    if not isinstance(seen, int):
        raise PreconditionMissing("version-needed", "The form does not say which numbers it saw; load the page again.")
    return seen


def _said(form: Mapping[str, str], mode: str) -> dict[str, Any]:
    if mode == "hand":
        return {"numbers": {int(name[len(_FIELD) :]): whole_number(text) for name, text in _numbers(form)}}
    seed = form.get("seed", "").strip()
    return {"seed": whole_number(seed)} if mode == "machine" and seed else {}


def _numbers(form: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in form.items() if _NUMBER.fullmatch(name) and text.strip()]


def _lines(asking: Client, event_id: int, error: QisaiError) -> Sequence[str]:
    """What is wrong with single numbers, by name."""
    if not isinstance(error, Invalid) or not error.errors:
        return lines_of(error, "lots")
    names = {entrant.id: entrant.name for entrant in asking.entrants.list(event_id)}
    lines = []
    for fault in error.errors[:20]:
        last = fault.pointer.rpartition("/")[2]
        about = names.get(int(last), last) if last.isdecimal() else field_name(last, "lots")
        lines.append(_("%(field)s: %(fault)s", field=about, fault=fault.detail) if about else fault.detail)
    return lines


def _page(event_id: int, typed: Mapping[str, str], *, faults: Sequence[str] = ()) -> str:
    asking = client()
    event = _event(asking, event_id, Right.MOVE_ENTRANT)
    lots = asking.entrants.lots(event_id)
    names = {entrant.id: entrant for entrant in asking.entrants.list(event_id)}
    seated = [entrant for entrant in names.values() if entrant.state == "seated"]
    return render_template(
        "lots.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        lots=lots,
        rule=RULES.get(lots.mode or ""),
        drawn=[names[one] for one in sorted(lots.numbers, key=lambda one: lots.numbers[one]) if one in names],
        appended=set(lots.appended),
        seated=sorted(seated, key=_by_name),
        typed=typed or {f"{_FIELD}{one}": str(number) for one, number in lots.numbers.items()},
        faults=faults,
    )


def _by_name(entrant: Entrant) -> tuple[tuple[str, str], int]:
    return name_order(entrant.name), entrant.id


def _event(asking: Client, event_id: int, right: Right) -> Event:
    event = asking.events.get(event_id)
    for_those_who(right, event)
    return event
