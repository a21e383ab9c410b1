"""What a service refused, in the page's language and by the names of the page's fields.

The API speaks the caller's language already; what the gateway itself refuses comes with a slug and English words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import request
from flask_babel import gettext as _
from flask_babel import lazy_gettext as __

from qisai.errors import Conflict, FieldError, Invalid, QisaiError
from qisai.web.field_texts import field_text
from qisai.web.problem_texts import localised
from services.gateway.pages import wording
from services.gateway.pages.language import language

MOST: Final = 20
"""Places that are named one by one."""
FIELDS: Final[Mapping[str, Any]] = {
    "name": __("Name"),
    "event_name": __("Name of the event"),
    "team_name": __("Name of the team"),
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
    "lots_seed": __("Random seed"),
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
    "needs_approval": __("Entries are approved by the organiser"),
    "needs_check_in": __("Entrants check in before they are seated"),
    "club": __("Club"),
    "seed": __("Rating"),
    "seed_source": __("Source of the rating"),
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


def field_name(pointer: str, form: str = "") -> str:
    """What a page calls the field that a pointer is about; "" for one that has no name on pages.

    `form`: what the form is about where one name means several things: `event`, `team`, `lots`.
    """
    parts = [part for part in pointer.split("/") if part and part != "regulations"]
    names = (name for part in parts for name in (f"{form}_{part}", part, _FORM.get(part.split("_")[0], "")))
    return str(next((FIELDS[name] for name in names if name in FIELDS), ""))


def fields_at_fault(error: QisaiError | None) -> frozenset[str]:
    """Names of a form's fields that are to be marked: of `/regulations/points/win` also `points_win`."""
    found: set[str] = set()
    for fault in error.errors if isinstance(error, Invalid) else ():
        parts = [part for part in fault.pointer.split("/") if part]
        found.update(parts, ["_".join(parts[-2:])])
    return frozenset(found)


def state_word(state: str) -> str:
    """An entrant's state in the page's language."""
    return str(wording.ENTRANT_STATES.get(state, state))


def lines_of(error: QisaiError, form: str = "") -> Sequence[str]:
    """What went wrong, one line for each thing to mend, by names of the page's fields. `form` as in `field_name`."""
    if isinstance(error, Conflict) and error.blockers:
        blockers = (_said(one.slug, one.detail, one.context) for one in error.blockers)
        return [_detail(error), *blockers]
    if isinstance(error, Invalid) and error.errors:
        places = [_place(fault, form, whole=error.detail) for fault in error.errors[:MOST]]
        is_list = error.slug in ("invalid-request", "invalid-regulations", "weak-password")
        return places if is_list else [_detail(error), *places]
    return [_detail(error)]


def _detail(error: QisaiError) -> str:
    """What the API said; states of entrants, which it calls by their codes, in words."""
    states = [name for name in ("from", "to", "state") if name in error.context]
    if not states or language() == "en":
        return _said(error.slug, error.detail, error.context)
    context = dict(error.context)
    context.update({name: state_word(str(context[name])) for name in states})
    return localised(error.slug, error.detail, context=context, languages=request.accept_languages)[1]


def _said(slug: str, detail: str, context: Mapping[str, Any]) -> str:
    """A detail in the page's language, where it is English still: the API's and the pages' own are not."""
    if language() == "en" or _is_chinese(detail, context):
        return detail
    return localised(slug, detail, context=context, languages=request.accept_languages)[1]


def _is_chinese(detail: str, context: Mapping[str, Any]) -> bool:
    """Whether the words are, not only what they name."""
    for value in context.values():
        detail = detail.replace(str(value), "")
    return any("\u4e00" <= character <= "\u9fff" for character in detail)


def _place(fault: FieldError, form: str, *, whole: str) -> str:
    """One fault behind the name of its field, unless the detail is a whole sentence about it."""
    detail = fault.detail
    if language() != "en" and not _is_chinese(detail, fault.context):
        detail = field_text(fault.slug, detail, context=fault.context, languages=request.accept_languages)
    return detail if detail == whole else fault_line(fault.pointer, detail, form)


def fault_line(pointer: str, detail: str, form: str = "") -> str:
    """A detail behind the name of its field, alone where pages have none for it. `form` as in `field_name`."""
    name = field_name(pointer, form)
    return _("%(field)s: %(fault)s", field=name, fault=detail) if name else detail
