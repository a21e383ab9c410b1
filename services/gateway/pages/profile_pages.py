"""The association's games: what every new event starts from, how it is changed, and who changed it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import Profile
from qisai.errors import QisaiError, Stale, Unauthenticated
from qisai.kernel.profiles import Unit
from qisai.web.problem_texts import LANGUAGES
from qisai.web.rights import Right, requires
from services.gateway.pages import event_values as values
from services.gateway.pages import event_words, shown_values
from services.gateway.pages.fault_words import lines_of
from services.gateway.pages.language import NAMES
from services.gateway.pages.site import client, for_those_who, whole_number

pages = Blueprint("profile_pages", __name__)

_PROFILE: Final = "/profiles/<code>"


@pages.get("/profiles")
@requires(Right.PUBLIC)
def profiles() -> str:
    """All games."""
    for_those_who(Right.MANAGE_PROFILES)
    return render_template("profiles.html", profiles=client().events.profiles(), tell=event_words)


@pages.get(_PROFILE)
@requires(Right.PUBLIC)
def profile(code: str) -> str:
    """One game to change, with every change before."""
    for_those_who(Right.MANAGE_PROFILES)
    found = client().events.profile(code)
    return _page(found, _typed(found))


@pages.post(_PROFILE)
@requires(Right.PUBLIC)
def change(code: str) -> str | Response | tuple[str, int]:
    """Changes what new events of this game start from, at the version that the form saw."""
    for_those_who(Right.MANAGE_PROFILES)
    found = client().events.profile(code)
    form = request.form.to_dict()
    seen = Profile.from_json({"code": code, "version": request.form.get("version", type=int) or 0})
    try:
        client().events.change_profile(seen, **_asked(found, form))
    except Unauthenticated:
        raise
    except Stale as error:
        who = error.current.get("updated_by") or _("somebody")
        line = _(
            "%(who)s changed this game meanwhile. What you typed is kept; saving writes yours over theirs.", who=who
        )
        return _conflict_page(client().events.profile(code), form, line), 412
    except QisaiError as error:
        return _page(found, form, version=seen.version, faults=lines_of(error)), 422
    flash(_("The game is changed: new events start from it."), "done")
    return redirect(url_for("profile_pages.profile", code=code), code=303)


def _page(found: Profile, typed: Mapping[str, str], *, version: int | None = None, faults: Sequence[str] = ()) -> str:
    unused = values.unused_fields(found, typed.get("system") or str(found.regulations["system"]))
    return render_template(
        "profile.html",
        profile=found,
        version=found.version if version is None else version,
        typed=typed,
        shown=shown_values.as_shown(typed, _typed(found)),
        faults=faults,
        names={tag: NAMES[tag] for tag in LANGUAGES},
        has_sides=found.first_move and found.unit == Unit.INDIVIDUAL,
        history=[_in_words(change) for change in client().events.profile_history(found.code)],
        uses=lambda name: name not in unused,
        points=values.point_presets(),
        tie_breaks=values.tie_break_presets(first_move=found.first_move),
        criteria=values.tie_break_codes(first_move=found.first_move),
        places=range(1, values.MOST_TIE_BREAKS + 1),
        tell=event_words,
    )


def _conflict_page(found: Profile, form: Mapping[str, str], line: str) -> str:
    """The game as it is now with what was typed here, which saving writes over theirs."""
    now = _typed(found)
    mine = shown_values.changed_here(form, (form.keys() | values.CHECKS) & (now.keys() | values.CHECKS))
    whole = shown_values.taken_over(form, now, mine, names=frozenset(now.keys() | values.CHECKS))
    whole |= {"reason": form.get("reason", ""), shown_values.SHOWN: shown_values.as_field(now)}
    return _page(found, whole, faults=[line])


def _typed(found: Profile) -> dict[str, str]:
    typed = values.regulations_of(found.regulations) | {"reason": "", "team_size": str(found.team_size)}
    for tag in LANGUAGES:
        typed[f"name_{tag}"] = found.names.get(tag, "")
        typed[f"board_{tag}"] = found.board.get(tag, "")
        typed |= {f"side_{place}_{tag}": side.get(tag, "") for place, side in enumerate(found.sides)}
    return typed


def _asked(found: Profile, form: Mapping[str, str]) -> dict[str, Any]:
    """What the form says otherwise than the game is."""
    asked: dict[str, Any] = {
        "names": _named(form, "name"),
        "board": _named(form, "board"),
        "sides": [_named(form, f"side_{place}") for place in range(len(found.sides))],
        "team_size": whole_number(form.get("team_size", str(found.team_size))),
        "regulations": values.regulations_asked(form, base=found.regulations, profile=found),
    }
    before = {
        "names": dict(found.names),
        "board": dict(found.board),
        "sides": [dict(side) for side in found.sides],
        "team_size": found.team_size,
        "regulations": {},
    }
    said = {name: value for name, value in asked.items() if value != before[name]}
    if f"side_0_{LANGUAGES[0]}" not in form:  # a game without sides does not show them
        said.pop("sides", None)
    return said | {"reason": form.get("reason", "").strip()}


def _named(form: Mapping[str, str], field: str) -> dict[str, str]:
    return {tag: form.get(f"{field}_{tag}", "").strip() for tag in LANGUAGES}


def _in_words(change: Mapping[str, Any]) -> dict[str, Any]:
    """One change: who, when, why, and each part before and after."""
    old, new = _flat(change["old"] or {}), _flat(change["new"] or {})
    parts = [(name, old.get(name, "–"), new.get(name, "–")) for name in sorted(old.keys() | new.keys())]
    return {**change, "parts": [part for part in parts if part[1] != part[2]]}


def _flat(said: Mapping[str, Any], at: str = "") -> dict[str, str]:
    """Values by the path to them."""
    found: dict[str, str] = {}
    for name, value in said.items():
        where = f"{at}/{name}" if at else str(name)
        if isinstance(value, Mapping):
            found |= _flat(value, where)
        else:
            found[where] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return found
