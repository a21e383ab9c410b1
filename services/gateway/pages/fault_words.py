"""What a service refused, in the page's language and by the names of the page's fields.

Problems of the API speak the caller's language already; some of what it lists inside an answer (entrants of a step of
many, warnings) comes with a slug and English words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import request
from flask_babel import lazy_gettext as __

from qisai.errors import Conflict, FieldError, Invalid, QisaiError
from qisai.web.problem_texts import localised
from services.gateway.pages import wording
from services.gateway.pages.language import language

MOST: Final = 20
"""Places that are named one by one."""
FIELDS: Final[Mapping[str, Any]] = {
    "name": __("Name"),
    "profile": __("Game"),
    "venue": __("Venue"),
    "starts_on": __("First day"),
    "time_zone": __("Time zone"),
    "capacity": __("Places"),
    "expected_entrants": __("Expected entrants"),
    "registration_until": __("Registration until"),
    "late_entry_until": __("Late entry until round"),
    "max_byes": __("Byes with points for one entrant"),
    "byes_until_round": __("Byes until round"),
    "rounds": __("Rounds"),
    "points": __("Points"),
    "tie_breaks": __("Tie-breaks"),
    "bye_compensation": __("For a round without an opponent"),
    "lot_seed": __("Seed of the lots"),
    "system": __("System"),
    "direction": __("Direction of the numbers"),
    "within_group": __("Order inside score groups"),
    "first_round": __("Round 1"),
    "avoid_same_club": __("In round 1 avoid pairs of one club"),
    "side_priority": __("Side limits count"),
    "balance_sides": __("Balance the sides"),
    "seat_balance": __("Balance the seats"),
    "allow_bye": __("With an odd field one has a bye"),
    "late_entry": __("Late entrants get"),
    "forfeit_counts_as_met": __("A forfeit counts as having met"),
    "compensation": __("For a round without an opponent"),
    "is_public": __("Anybody may see it once it is open"),
    "needs_approval": __("Entries are approved by the desk"),
    "needs_check_in": __("Entrants check in before they are seated"),
    "club": __("Club"),
    "seed": __("Rating"),
    "seed_source": __("Rating from"),
    "seed_date": __("Rating of"),
    "external_id": __("Roster number"),
    "fixed_board": __("Fixed board"),
    "members": __("Members"),
    "substitutes": __("Substitutes"),
    "people": __("Members"),
    "sex": __("Sex"),
    "birth_year": __("Year of birth"),
    "phone": __("Telephone"),
    "email": __("E-mail"),
    "notes": __("Notes"),
    "from_round": __("From round"),
    "to_round": __("To round"),
    "round_no": __("Round"),
    "until": __("Check-in until"),
    "numbers": __("Numbers"),
    "reason": __("Reason"),
}
_FORM: Final = {"points": "points", "tie": "tie_breaks", "compensation": "compensation"}
"""Fields of a form that are parts of one value: by the beginning of their names."""
_WARNINGS: Final[Mapping[str, Any]] = {
    "same-name": __("There is another %(name)s in this event; make sure that this is another person."),
    "double-entry": __("There is %(name)s in this event with the same club or birth year: this may be a double entry."),
}


def warning(slug: str, detail: str, *, name: str) -> str:
    """What to look at after somebody was registered, which the API says in English."""
    known = _WARNINGS.get(slug)
    return detail if known is None else str(known) % {"name": name}


def field_name(pointer: str) -> str:
    """What a page calls the field that a pointer is about."""
    parts = [part for part in pointer.split("/") if part and part != "regulations"]
    known = next(
        (FIELDS[name] for part in parts for name in (part, _FORM.get(part.split("_")[0], "")) if name in FIELDS), None
    )
    return pointer if known is None else str(known)


def refusal(entrant: Mapping[str, Any], *, source: str, to: str) -> str:
    """Why one of many did not take a step. `entrant`: name, slug, reason."""
    states = {"from": state_word(source), "to": state_word(to)}
    slug, reason = str(entrant.get("slug") or ""), str(entrant.get("reason") or "")
    context: dict[str, Any] = {**entrant, **states, "name": entrant.get("name") or entrant.get("id")}
    return localised(slug, reason, context=context, languages=request.accept_languages)[1]


def state_word(state: str) -> str:
    """An entrant's state in the page's language."""
    return str(wording.ENTRANT_STATES.get(state, state))


def lines_of(error: QisaiError) -> Sequence[str]:
    """What went wrong, one line for each thing to mend, by the names of the page's fields."""
    if isinstance(error, Conflict) and error.blockers:
        return [error.detail, *(blocker.detail for blocker in error.blockers)]
    if isinstance(error, Invalid) and error.errors:
        places = [_place(fault) for fault in error.errors[:MOST]]
        return places if error.slug in ("invalid-request", "invalid-regulations") else [error.detail, *places]
    return [_detail(error)]


def _detail(error: QisaiError) -> str:
    """What the API said; states of entrants, which it calls by their codes, in words."""
    states = [name for name in ("from", "to", "state") if name in error.context]
    if not states or language() == "en":
        return error.detail
    context = dict(error.context)
    context.update({name: state_word(str(context[name])) for name in states})
    return localised(error.slug, error.detail, context=context, languages=request.accept_languages)[1]


def _place(fault: FieldError) -> str:
    return f"{field_name(fault.pointer)}: {fault.detail}"
