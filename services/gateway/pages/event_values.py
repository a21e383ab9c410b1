"""The form of an event: its fields from an event or a game, and the API's body from its fields.

Of the regulations only what differs from those the form showed is said, so that what nobody chose stays the game's
own (rules.md section 2), and numbering by seeding may still set the order inside groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from qisai.client import Event, Profile
from qisai.kernel.model import System
from qisai.kernel.profiles import POINTS_PRESETS, TIE_BREAK_PRESETS
from qisai.kernel.regulations_file import points_number
from qisai.kernel.regulations_file import unused_fields as unused_regulations
from qisai.kernel.tie_breaks import TIE_BREAKS
from services.gateway.pages.moments import as_sent, as_typed
from services.gateway.pages.site import whole_number

Typed = Mapping[str, str]
MOST_TIE_BREAKS: Final = 7
"""Criteria that the form has room for."""
OWN: Final = "own"
"""Chosen where none of the presets is meant."""
_TEXTS: Final = ("name", "venue", "starts_on", "time_zone")
_NUMBERS: Final = ("capacity", "expected_entrants", "late_entry_until", "max_byes", "byes_until_round")
_FLAGS: Final = ("is_public", "needs_approval", "needs_check_in")
_REGULATION_FLAGS: Final = ("allow_bye", "balance_sides", "seat_balance", "forfeit_counts_as_met")
_CHOICES: Final = ("system", "direction", "within_group", "side_priority", "late_entry")
_PARTS: Final = ("win", "draw", "loss", "bye")
_OF_SIDES: Final = frozenset({"second_games", "second_wins"})
_REGULATIONS: Final = frozenset(
    {
        *_CHOICES, *_REGULATION_FLAGS, "rounds", "first_round", "avoid_same_club", "lot_seed", "points", "tie_breaks",
        "compensation", "compensation_points", *(f"points_{part}" for part in _PARTS),
        *(f"tie_{place}" for place in range(1, MOST_TIE_BREAKS + 1)),
    }
)  # fmt: skip
FIELDS: Final = _REGULATIONS.union(_TEXTS, _NUMBERS, _FLAGS, {"registration_until"})
"""Names of all fields."""
CHECKS: Final = frozenset({*_FLAGS, *_REGULATION_FLAGS, "avoid_same_club"})
"""Those that a browser sends only where they are ticked."""
FIRST_EVENT: Final[Typed] = {"time_zone": "Asia/Shanghai", **dict.fromkeys(_FLAGS, "on")}
"""What a new event's form begins with."""


def without_regulations(form: Typed) -> dict[str, str]:
    """The form's other fields."""
    return {name: value for name, value in form.items() if name not in _REGULATIONS}


def point_presets() -> dict[str, dict[str, int | float]]:
    """Points that a form offers, by name."""
    return {
        name: {part: points_number(getattr(preset, part)) for part in _PARTS} for name, preset in POINTS_PRESETS.items()
    }


def tie_break_presets(*, first_move: bool) -> dict[str, Sequence[str]]:
    """Lists of tie-breaks that a form offers: of games without sides only those that need none."""
    return {name: codes for name, codes in TIE_BREAK_PRESETS.items() if first_move or not _OF_SIDES & set(codes)}


def tie_break_codes(*, first_move: bool) -> list[str]:
    """Criteria that may be chosen one by one."""
    return [code for code in TIE_BREAKS if first_move or code not in _OF_SIDES]


def basics_of(event: Event) -> dict[str, str]:
    """The fields of basics and registration, as they are."""
    typed = {name: _text(getattr(event, name)) for name in (*_TEXTS, *_NUMBERS)}
    typed["registration_until"] = as_typed(event.registration_until, event.time_zone)
    return typed | {name: "on" for name in _FLAGS if getattr(event, name)}


def regulations_of(rules: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the regulations; those that the game does not use are not there."""
    typed = {name: str(rules[name]) for name in _CHOICES if name in rules} | {"rounds": _text(rules["rounds"])}
    typed |= {name: "on" for name in _REGULATION_FLAGS if rules.get(name)}
    typed |= {"first_round": rules["first_round"]["mode"], "lot_seed": str(rules["lot_seed"])}
    if rules["first_round"]["avoid_same_club"]:
        typed["avoid_same_club"] = "on"
    points = {part: rules["points"][part] for part in _PARTS}
    typed["points"] = next((name for name, preset in point_presets().items() if preset == points), OWN)
    typed |= {f"points_{part}": _text(value) for part, value in points.items()}
    codes = list(rules["tie_breaks"])
    typed["tie_breaks"] = next((name for name, preset in TIE_BREAK_PRESETS.items() if list(preset) == codes), OWN)
    typed |= {f"tie_{place}": code for place, code in enumerate(codes, start=1)}
    compensation = rules["bye_compensation"]
    return typed | {"compensation": compensation["kind"], "compensation_points": _text(compensation["points"])}


def basics_asked(form: Typed) -> dict[str, Any]:
    """Basics and registration as the API takes them; an empty number means none."""
    asked: dict[str, Any] = {name: form.get(name, "").strip() for name in _TEXTS}
    asked["starts_on"] = asked["starts_on"] or None
    asked |= {name: whole_number(form[name]) if form.get(name, "").strip() else None for name in _NUMBERS}
    asked |= {name: name in form for name in _FLAGS}
    asked["registration_until"] = as_sent(form.get("registration_until", ""), asked["time_zone"])
    return asked if asked["time_zone"] else {name: asked[name] for name in asked if name != "time_zone"}


def regulations_asked(form: Typed, *, base: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """What the form says otherwise than `base`, what the event has. Fields that the form does not show say nothing."""
    unused = unused_fields(profile, form.get("system") or str(base["system"]))
    said: dict[str, Any] = {name: form[name] for name in _CHOICES if form.get(name)}
    said |= {name: name in form for name in _REGULATION_FLAGS}
    said["rounds"] = whole_number(form["rounds"]) if form.get("rounds", "").strip() else None
    mode = form.get("first_round") or base["first_round"]["mode"]
    said["first_round"] = {"mode": mode, "avoid_same_club": "avoid_same_club" in form}
    if form.get("lot_seed", "").strip():
        said["lot_seed"] = whole_number(form["lot_seed"])
    said["points"] = _points(form, base["points"])
    said["tie_breaks"] = _tie_breaks(form, base["tie_breaks"])
    said["bye_compensation"] = _compensation(form, base["bye_compensation"])
    return {name: value for name, value in said.items() if name not in unused and value != base.get(name)}


def unused_fields(profile: Profile, system: str) -> frozenset[str]:
    """Regulations that this game, or this way of pairing, does not use: they are neither shown nor said."""
    unused = unused_regulations(first_move=profile.first_move, system=system)
    return unused if system == System.SCORE_GROUP else unused | {"within_group"}


def _points(form: Typed, base: Mapping[str, Any]) -> Any:
    if form.get("points") in POINTS_PRESETS:
        return point_presets()[form["points"]]
    if form.get("points") != OWN:
        return base
    return {part: _number(form.get(f"points_{part}", "")) for part in _PARTS if form.get(f"points_{part}", "").strip()}


def _tie_breaks(form: Typed, base: Sequence[str]) -> Any:
    if form.get("tie_breaks") in TIE_BREAK_PRESETS:
        return list(TIE_BREAK_PRESETS[form["tie_breaks"]])
    if form.get("tie_breaks") != OWN:
        return base
    chosen = (form.get(f"tie_{place}", "") for place in range(1, MOST_TIE_BREAKS + 1))
    return [code for code in chosen if code]


def _compensation(form: Typed, base: Mapping[str, Any]) -> Any:
    kind = form.get("compensation") or base["kind"]
    points = form.get("compensation_points", "").strip()
    return {"kind": kind, "points": _number(points) if kind == "fixed" and points else None}


def _number(text: str) -> int | float | str:
    """A number of points, or the text as typed, so that the answer names what is wrong with it."""
    text = text.strip().replace("½", ".5").replace(",", ".")
    whole = whole_number(text)
    if isinstance(whole, int):
        return whole
    head, dot, tail = text.partition(".")
    fits = dot and len(text) <= 8 and (head.isdecimal() or not head) and tail.isdecimal()
    return float(text) if fits else text


def _text(value: Any) -> str:
    return "" if value is None else str(value)
