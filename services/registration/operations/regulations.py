"""Regulations of an event: a part that is given, merged over what is there, checked against the game's profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from qisai.db.entrants import EntrantState
from qisai.db.events import EventRow
from qisai.errors import FieldError, Invalid
from qisai.kernel.model import Regulations
from qisai.kernel.regulations_file import parse_regulations, regulations_to_json
from qisai.kernel.rounds_advice import advise_rounds, check_rounds
from services.registration.states import TAKES_PLACE

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
        errors.append(("first_move", "is settled by the game"))
    if not first_move:
        detail = "is not used: in this game nobody moves first"
        errors += [(name, detail) for name in _OF_FIRST_MOVE if given.get(name, default[name]) != default[name]]
        codes = given.get("tie_breaks") or []
        errors += [(f"tie_breaks/{place}", detail) for place, code in enumerate(codes) if code in _SIDE_TIE_BREAKS]
    elif given.get("seat_balance", default["seat_balance"]) != default["seat_balance"]:
        errors.append(("seat_balance", "is not used: it is for games in which nobody moves first"))
    if errors:
        found = [FieldError(f"/regulations/{name}", detail, "not-used") for name, detail in errors]
        raise Invalid("not-used", f"{found[0].pointer} {found[0].detail}.", errors=found)


def require_enough_entrants(regulations: Mapping[str, Any], *, expected: int | None) -> None:
    """Raises `Invalid` `too-many-rounds` where so many expected entrants cannot play so many rounds."""
    if regulations["rounds"] is None or expected is None:
        return
    try:
        check_rounds(regulations["rounds"], entrants=expected)
    except Invalid as error:
        found = [FieldError("/regulations/rounds", error.detail, error.slug)]
        raise Invalid(error.slug, error.detail, errors=found, **error.context) from None


def advice(event: EventRow, *, by_state: Mapping[EntrantState, int]) -> dict[str, Any]:
    """Rounds that would suit the field: the expected maximum where the organiser named one, else today's entrants."""
    today = sum(count for state, count in by_state.items() if state in TAKES_PLACE)
    entrants, rounds = max(event.expected_entrants or event.capacity or 0, today), event.regulations["rounds"]
    warnings: list[str] = []
    if rounds is not None and entrants >= 2:
        try:
            warnings = [warning.value for warning in check_rounds(rounds, entrants=entrants)]
        except Invalid as error:
            warnings = [error.slug]
    return {**asdict(advise_rounds(entrants)), "rounds": rounds, "warnings": warnings}
