"""Regulations of an event: a part that is given, merged over what is there, checked against the game's profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from qisai.errors import FieldError, Invalid
from qisai.kernel.model import Regulations
from qisai.kernel.regulations_file import parse_regulations, regulations_to_json
from qisai.kernel.rounds_advice import check_rounds

_OF_FIRST_MOVE: Final = ("balance_sides", "side_priority")
_SIDE_TIE_BREAKS: Final = frozenset({"second_games", "second_wins"})


def merged(given: Mapping[str, Any], *, base: Mapping[str, Any], profile: Mapping[str, Any]) -> dict[str, Any]:
    """Complete regulations: `given` over `base`, which is complete. `profile` is the event's copy of the game.

    Raises `Invalid` with pointers under `/regulations`, also for fields that the game does not use
    (docs/rules.md section 2).
    """
    stored = Regulations(profile=base["profile"])
    complete = parse_regulations(dict(base), profile_defaults=stored)
    wanted = parse_regulations(dict(given), profile_defaults=complete, pointer="/regulations")
    _refuse_unused(given, profile=profile)
    return regulations_to_json(wanted)


def _refuse_unused(given: Mapping[str, Any], *, profile: Mapping[str, Any]) -> None:
    """What the game does not have may be sent back as it is, but not set."""
    first_move, default = profile["first_move"], profile["regulations"]
    errors = []
    if given.get("first_move", first_move) != first_move:
        errors.append(("first_move", "is settled by the game", "settled"))
    if not first_move:
        detail = "is not used: in this game nobody moves first"
        errors += [
            (name, detail, "no-first") for name in _OF_FIRST_MOVE if given.get(name, default[name]) != default[name]
        ]
        codes = given.get("tie_breaks") or []
        errors += [
            (f"tie_breaks/{place}", detail, "no-first") for place, code in enumerate(codes) if code in _SIDE_TIE_BREAKS
        ]
    elif given.get("seat_balance", default["seat_balance"]) != default["seat_balance"]:
        errors.append(("seat_balance", "is not used: it is for games in which nobody moves first", "first"))
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
