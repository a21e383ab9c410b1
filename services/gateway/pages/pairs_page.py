"""Who is kept apart: single pairs and whole clubs, each for a range of rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

from qisai.client import Client, Entrant, Event
from qisai.db.name_keys import name_order
from qisai.errors import Invalid, QisaiError, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway.pages.desk import DESK
from services.gateway.pages.fault_words import lines_of
from services.gateway.pages.site import client, for_those_who, telling, whole_number
from services.gateway.pages.ways_back import leads_back

pages = Blueprint("pairs_page", __name__)

_PAIRS: Final = f"{DESK}/apart"
for _path in ("clubs", "allow"):
    leads_back(pages, f"{_PAIRS}/{_path}", to="pairs_page.pairs")
_MOST_NAMED: Final = 6
_MOST_OFFERED: Final = 1000
"""Names that a field offers; the others are found by typing them."""
_GONE: Final = frozenset({"cancelled", "rejected"})


@pages.get(_PAIRS)
@requires(Right.PUBLIC)
def pairs(event_id: int) -> str:
    """All pairs that do not meet."""
    return _page(event_id, {})


@pages.post(_PAIRS)
@requires(Right.PUBLIC)
def forbid(event_id: int) -> str | Response | tuple[str, int]:
    """Keeps two apart; each is named by name, letters, or number."""
    asking = client()
    _event(asking, event_id)
    form = request.form.to_dict()
    try:
        entrants = asking.entrants.list(event_id)
        a, b = (_named(asking, event_id, entrants, form.get(field, "")) for field in ("a", "b"))
        asking.entrants.forbid_pair(event_id, a.id, b.id, key=form.get("key") or None, **_rounds(form))
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(event_id, form, faults=lines_of(error)), 422
    flash(_("%(a)s and %(b)s do not meet.", a=a.name, b=b.name), "done")
    return _back(event_id)


@pages.post(f"{_PAIRS}/clubs")
@requires(Right.PUBLIC)
def clubs(event_id: int) -> str | Response | tuple[str, int]:
    """Keeps everybody apart from the own club, or lets clubs meet again."""
    asking = client()
    _event(asking, event_id)
    form = request.form.to_dict()
    try:
        if "meet" in form:
            count = asking.entrants.let_clubs_meet(event_id)
            flash(ngettext("%(num)d pair may meet again.", "%(num)d pairs may meet again.", count), "done")
            return _back(event_id)
        count = asking.entrants.keep_clubs_apart(event_id, **_rounds(form))
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(event_id, form, faults=lines_of(error)), 422
    flash(ngettext("%(num)d pair more is kept apart.", "%(num)d pairs more are kept apart.", count), "done")
    return _back(event_id)


@pages.post(f"{_PAIRS}/allow")
@requires(Right.PUBLIC)
def allow(event_id: int) -> Response:
    """Takes a pair back."""
    with telling(_("They may meet again.")):
        client().entrants.allow_pair(event_id, request.form.get("pair", type=int) or 0)
    return _back(event_id)


def _rounds(form: Mapping[str, str]) -> dict[str, Any]:
    first, last = form.get("from_round", "").strip(), form.get("to_round", "").strip()
    return {"from_round": whole_number(first) if first else 1, "to_round": whole_number(last) if last else None}


def _named(asking: Client, event_id: int, entrants: Iterable[Entrant], typed: str) -> Entrant:
    """The one who is meant. Raises `Invalid` where nobody or several are."""
    typed = typed.strip()
    here = [entrant for entrant in entrants if entrant.state not in _GONE]
    exact = [entrant for entrant in here if typed in (label(entrant), entrant.name)] if typed else []
    if typed and not exact:
        exact = [one for one in asking.entrants.list(event_id, q=typed[:200]) if one.state not in _GONE]
    if not exact:
        raise Invalid("nobody-named", _("Nobody in this event is called “%(name)s”.", name=typed[:60]))
    if len(exact) > 1:
        some = "; ".join(label(entrant) for entrant in exact[:_MOST_NAMED])
        raise Invalid(
            "several-named", _("“%(name)s” fits several: %(some)s. Say which one.", name=typed[:60], some=some)
        )
    return exact[0]


def label(entrant: Entrant) -> str:
    """A name that tells people of one name apart, as the fields offer it."""
    parts = [entrant.name, entrant.club, f"#{entrant.id}"]
    return " · ".join(part for part in parts if part)


def _page(event_id: int, typed: Mapping[str, str], *, faults: Sequence[str] = ()) -> str:
    asking = client()
    event = _event(asking, event_id)
    entrants = sorted(asking.entrants.list(event_id), key=lambda one: name_order(one.name))
    names = {entrant.id: entrant for entrant in entrants}
    return render_template(
        "pairs.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        pairs=[
            (pair, names.get(pair.entrants[0]), names.get(pair.entrants[1]))
            for pair in asking.entrants.forbidden_pairs(event_id)
        ],
        labels=[label(entrant) for entrant in entrants if entrant.state not in _GONE][:_MOST_OFFERED],
        typed=typed,
        faults=faults,
    )


def _back(event_id: int) -> Response:
    return redirect(url_for("pairs_page.pairs", event_id=event_id), code=303)


def _event(asking: Client, event_id: int) -> Event:
    event = asking.events.get(event_id)
    for_those_who(Right.MANAGE_ENTRANTS, event)
    return event
