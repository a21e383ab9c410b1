"""Regulations of an event: a part that is given, merged over what is there, checked against the game's profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from qisai.errors import FieldError, Invalid
from qisai.kernel.model import Regulations, System
from qisai.kernel.regulations_file import parse_regulations, regulations_to_json, unused_fields, used_fields
from qisai.kernel.rounds_advice import check_rounds

_OF_SYSTEM: Final = {
    "within_group": System.SCORE_GROUP,
    "side_priority": System.SCORE_GROUP,
    "direction": System.DRAW_NUMBER,
}
"""Field → the system that it is for."""
_SIDE_TIE_BREAKS: Final = frozenset({"second_games", "second_wins"})


def merged(given: Mapping[str, Any], *, base: Mapping[str, Any], profile: Mapping[str, Any]) -> dict[str, Any]:
    """All regulations that the event uses: `given` over `base`. `profile` is the event's copy of the game.

    Raises `Invalid` with pointers under `/regulations`, also for fields that the game, or the system, does not use
    (docs/rules.md section 2); said to be null they are as if left out.
    """
    stored = Regulations(profile=base["profile"])
    complete = parse_regulations(dict(base), profile_defaults=stored)
    system = given.get("system", complete.system.value)
    unused = unused_fields(first_move=profile["first_move"], system=system)
    said = {name: value for name, value in given.items() if name not in unused or value is not None}
    wanted = parse_regulations(said, profile_defaults=complete, pointer="/regulations")
    _refuse_unused(said, unused, profile=profile)
    return used_fields(regulations_to_json(wanted))


def _refuse_unused(given: Mapping[str, Any], unused: frozenset[str], *, profile: Mapping[str, Any]) -> None:
    first_move = profile["first_move"]
    errors = []
    if given.get("first_move", first_move) != first_move:
        errors.append(("first_move", "is settled by the game", "settled"))
    no_first = "is not used: in this game nobody moves first; leave it out"
    for name in sorted(unused & given.keys()):
        if name == "seat_balance":
            detail, variant = "is not used: it is for games in which nobody moves first; leave it out", "first"
        elif not first_move and name in ("balance_sides", "side_priority"):
            detail, variant = no_first, "no-first"
        else:
            system = _OF_SYSTEM[name].value
            detail = f"is not used: it is for the system {system}; leave it out, or choose that system"
            variant = system.replace("_", "-")
        errors.append((name, detail, variant))
    if not first_move:
        codes = given.get("tie_breaks") or []
        errors += [
            (f"tie_breaks/{place}", no_first, "no-first")
            for place, code in enumerate(codes)
            if code in _SIDE_TIE_BREAKS
        ]
    if errors:
        found = [
            FieldError(f"/regulations/{name}", detail, "not-used", {"variant": variant})
            for name, detail, variant in errors
        ]
        raise Invalid("not-used", f"{found[0].pointer} {found[0].detail}.", errors=found)


def require_enough_entrants(regulations: Mapping[str, Any], *, entrants: int) -> None:
    """Raises `Invalid` `too-many-rounds` where so many entrants at most (0: unknown) cannot play so many rounds."""
    if regulations["rounds"] is None or entrants == 0:
        return
    try:
        check_rounds(regulations["rounds"], entrants=entrants)
    except Invalid as error:
        found = [FieldError("/regulations/rounds", error.detail, error.slug, error.context)]
        raise Invalid(error.slug, error.detail, errors=found, **error.context) from None
