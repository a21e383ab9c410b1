"""The form of an entrant: its fields from an entrant, and the API's body from its fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from qisai.client import Entrant, Event
from qisai.kernel.profiles import Unit
from services.gateway.pages.site import whole_number

Typed = Mapping[str, str]
_TEXTS: Final = ("name", "club", "seed_source", "phone", "email", "notes")
_NUMBERS: Final = ("seed", "birth_year", "fixed_board")
_OPTIONAL: Final = ("external_id", "seed_date", "sex")
_PEOPLE: Final = ("members", "substitutes")
FIELDS: Final = (*_TEXTS, *_NUMBERS, *_OPTIONAL, *_PEOPLE)
_APART: Final = re.compile("[,，;；]")


def is_team(event: Event) -> bool:
    """Whether teams or partners enter, not single persons."""
    return event.profile_copy is not None and event.profile_copy.unit != Unit.INDIVIDUAL


def typed_of(entrant: Entrant) -> dict[str, str]:
    """The form's fields as the entrant has them."""
    typed = {name: _text(getattr(entrant, name)) for name in (*_TEXTS, *_NUMBERS, *_OPTIONAL)}
    for name, is_substitute in (("members", False), ("substitutes", True)):
        typed[name] = "\n".join(_line(one) for one in entrant.people if one["substitute"] is is_substitute)
    return typed


def asked(form: Typed) -> dict[str, Any]:
    """The API's body from those fields that the form has; an empty number means none."""
    said: dict[str, Any] = {name: form[name].strip() for name in _TEXTS if name in form}
    said |= {name: form[name].strip() or None for name in _OPTIONAL if name in form}
    said |= {name: whole_number(form[name]) if form[name].strip() else None for name in _NUMBERS if name in form}
    return said | {name: _people(form[name]) for name in _PEOPLE if name in form}


def for_new(form: Typed) -> dict[str, Any]:
    """The same for somebody new: what is empty is not said."""
    return {name: value for name, value in asked(form).items() if value not in (None, "", [])}


def _people(text: str) -> list[dict[str, Any]]:
    """One person a line, in order: the name, then, behind commas, year of birth and number."""
    return [_person(line) for line in text.splitlines() if line.strip()]


def _person(line: str) -> dict[str, Any]:
    name, *more = [part for one in _APART.split(line) if (part := one.strip())] or [""]
    person: dict[str, Any] = {"name": name}
    for part in more[:2]:
        if re.fullmatch(r"(19|20)\d\d", part) and "birth_year" not in person:
            person["birth_year"] = int(part)
        else:
            person["external_id"] = part
    return person


def _line(person: Mapping[str, Any]) -> str:
    parts = (person["name"], person.get("birth_year"), person.get("external_id"))
    return ", ".join(str(part) for part in parts if part is not None)


def _text(value: Any) -> str:
    return "" if value is None else str(value)
