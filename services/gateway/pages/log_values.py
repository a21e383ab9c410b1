"""What a step of the log noted, in words: which values changed, by the names of the pages' fields.

A step notes values before and after, often of everything it might have changed: only those that differ are said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import request
from flask_babel import gettext as _
from flask_babel import lazy_gettext as __

from qisai.client import Event
from qisai.client.reading import moment
from qisai.kernel.profiles import PROFILES
from qisai.web.problem_texts import localised, texts
from services.gateway.pages import event_words, fault_words, operation_words, wording
from services.gateway.pages.site import clock

MOST_CHARACTERS: Final = 240
"""Of a value on a page; the sheet has it whole."""
UNSAID: Final = frozenset(
    {
        "account_id", "adjustment", "edits", "first_move", "given", "grant", "id", "invitation", "limits", "next_round",
        "numbers", "round", "step", "trial_job_id", "version",
    }
)  # fmt: skip
"""Keys of rows, what stands elsewhere in the line, and what is the game's and not the event's."""
_KEYS: Final[Mapping[str, Any]] = {
    "absent": __("absent"),
    "added": __("entered anew"),
    "bye": __("Bye"),
    "changed": __("changed"),
    "cloned_from": __("like event"),
    "clubs": __("Clubs"),
    "deadline": __("Check-in until"),
    "draw": __("Drawn game"),
    "encoding": __("encoding of the file"),
    "entrants": __("Entrants"),
    "expires_at": __("Until"),
    "kind": __("how"),
    "links": __("links"),
    "loss": __("Loss"),
    "mode": __("how"),
    "number": __("Number"),
    "open_boards": __("open boards"),
    "boards": __("Boards"),
    "outcome": __("what came of it"),
    "pairs": __("pairs"),
    "points": __("Points"),
    "present": __("present"),
    "regulations": __("Regulations"),
    "role": __("Role"),
    "rows": __("rows"),
    "source": __("how"),
    "state": __("State"),
    "timeouts": __("timeouts"),
    "win": __("Win"),
}
_OF_ACTIONS: Final[Mapping[tuple[str, str], Any]] = {
    ("draw", "draw"): __("draft number"),
    ("event", "name"): __("Name of the event"),
    ("lots", "seed"): __("Random seed"),
    ("round", "deadline"): __("Check-in until"),
}
"""What a key means in some actions only, by their first word."""
_CHOICES: Final[Mapping[str, Mapping[str, Any]]] = {
    "kind": {**event_words.COMPENSATIONS, **wording.BYES},
    "mode": {**event_words.FIRST_ROUNDS, **wording.LOT_MODES},
    "role": wording.ROLES,
    "sex": wording.SEXES,
    "source": wording.SOURCES,
}
_STATES: Final[Mapping[str, Mapping[str, Any]]] = {"event": wording.EVENT_STATES, "breaker": operation_words.BREAKERS}
_ACTORS: Final = {"pairing": __("the computer"), "keeper": __("the computer"), "public": __("the public")}
"""Names under which processes, and people without an account, act."""
_REASONS: Final = {
    "imported": __("imported"),
    "by the entrant": __("by the entrant"),
    "a place became free": __("a place became free"),
}
_TIMES: Final = frozenset({"deadline", "expires_at", "registration_until"})
_UNDO: Final = re.compile(r"undo of step (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a step is about: the first word of its action, entrants by id, the event whose zone times are in."""

    area: str
    people: Mapping[int, str]
    event: Event | None


def actor(name: str) -> str:
    """Who did it."""
    return str(_ACTORS.get(name, name))


def reason(text: str) -> str:
    """Why; what services write there by themselves in words."""
    undone = _UNDO.fullmatch(text)
    return str(_REASONS.get(text, text) if undone is None else _("step %(number)s taken back", number=undone[1]))


def before_and_after(
    old: Any, new: Any, *, action: str, people: Mapping[int, str], event: Event | None = None
) -> tuple[str, str]:
    """Both values of a step, as far as they differ; times in the event's zone."""
    said = Said(area=action.partition(".")[0], people=people, event=event)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        old, new = _differing(old, new)
    return _plain(old, "", said), _plain(new, "", said)


def cut(text: str) -> str:
    """A value short enough for a line of a page."""
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def word(key: str, area: str = "") -> str:
    """What pages call a logged key; the key itself where they have no name for it."""
    known = _OF_ACTIONS.get((area, key)) or _KEYS.get(key) or fault_words.FIELDS.get(key)
    return key if known is None else str(known)


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    before, after = dict(old), dict(new)
    for key in old.keys() & new.keys():
        if old[key] == new[key]:
            del before[key], after[key]
        elif isinstance(old[key], Mapping) and isinstance(new[key], Mapping):
            before[key], after[key] = _differing(old[key], new[key])
    return before, after


def _plain(value: Any, key: str, said: Said) -> str:
    match value:
        case None | "":
            return ""
        case bool():
            return str(_("yes") if value else _("no"))
        case Mapping() if key in ("entrants", "changed"):
            return _of_entrants(value, said)
        case Mapping():
            return _pairs(value, said)
        case list() | tuple():
            return _listed(list(value), key, said)
    return _single(str(value), key, said)


def _pairs(value: Mapping[str, Any], said: Said) -> str:
    parts = [(name, _plain(one, name, said)) for name, one in value.items() if name not in UNSAID]
    # Parts of a part stand for themselves: nobody needs to read "regulations" before each of them.
    return str(_("; ")).join(
        text if isinstance(value[name], Mapping) and name == "regulations" else _named(name, text, said)
        for name, text in parts
        if text
    )


def _named(name: str, text: str, said: Said) -> str:
    return str(_("%(field)s: %(fault)s", field=word(name, said.area), fault=text))


def _of_entrants(value: Mapping[str, Any], said: Said) -> str:
    lines = []
    within = Said(area="entrant", people=said.people, event=said.event)
    for one, values in value.items():
        # Of a step of many the state alone: number and round stand there for taking it back.
        inner = _single(values["state"], "state", within) if "state" in values else _pairs(values, within)
        lines.append(
            _("%(field)s: %(fault)s", field=_entrant(one, said), fault=inner) if inner else _entrant(one, said)
        )
    return str(_("; ")).join(lines)


def _listed(value: list[Any], key: str, said: Said) -> str:
    if key == "added":
        return str(len(value))
    if key == "boards" and len(value) == 2:
        return f"{value[0]}–{value[1]}"
    if key == "tie_breaks":
        return " → ".join(wording.criterion(str(one)) for one in value)
    to_text: Callable[[Any], str] = _entrant_of(said) if key == "entrants" else lambda one: _plain(one, key, said)
    return str(_(", ")).join(to_text(one) for one in value)


def _entrant_of(said: Said) -> Callable[[Any], str]:
    return lambda one: _entrant(str(one), said)


def _entrant(one: str, said: Said) -> str:
    return said.people.get(int(one), f"#{one}") if one.isdecimal() else one


def _single(text: str, key: str, said: Said) -> str:
    if key in _TIMES:
        return clock(moment(text), said.event, form="yyyy-MM-dd HH:mm")
    if key == "state":
        return str(_STATES.get(said.area, wording.ENTRANT_STATES).get(text, text))
    if key == "profile":
        return (
            wording.named({tag.value: name for tag, name in PROFILES[text].names.items()}, text)
            if text in PROFILES
            else text
        )
    if key == "outcome":
        title = localised(text, text, context={}, languages=request.accept_languages)[0] if text in texts() else ""
        return title or str(_("drawn") if text == "drawn" else text)
    return str(_CHOICES.get(key, {}).get(text) or event_words.value(key, text))
