"""What a form showed travels with it, so that after a conflict a change of mine is told from what I only was shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

Typed = Mapping[str, str]
SHOWN: Final = "shown"
"""Name of the hidden field."""


def as_field(values: Typed) -> str:
    """The values that a form shows, for its hidden field."""
    return json.dumps(dict(values), ensure_ascii=False, sort_keys=True)


def as_shown(form: Typed, otherwise: Typed) -> str:
    """The hidden field as the form brought it; of a form without it, these values."""
    return form.get(SHOWN) or as_field(otherwise)


def changed_here(form: Typed, names: Iterable[str]) -> frozenset[str]:
    """Those of these fields that were typed otherwise than shown. A form that does not say what it showed: all."""
    shown = _read(form.get(SHOWN, ""))
    if shown is None:
        return frozenset(names)
    return frozenset(name for name in names if _plain(form.get(name, "")) != _plain(shown.get(name, "")))


def changed_by_both(form: Typed, now: Typed, mine: frozenset[str]) -> frozenset[str]:
    """Those of mine that others changed too, and otherwise. Without a word of what was shown: all that differ."""
    shown = _read(form.get(SHOWN, ""))
    differ = [name for name in mine if _plain(now.get(name, "")) != _plain(form.get(name, ""))]
    return frozenset(
        name for name in differ if shown is None or _plain(now.get(name, "")) != _plain(shown.get(name, ""))
    )


def taken_over(form: Typed, now: Typed, mine: frozenset[str], *, names: frozenset[str]) -> dict[str, str]:
    """The form with these fields as they are now, but for mine; a box that is not ticked stands in no form."""
    others = {name: value for name, value in form.items() if name not in names or name in mine}
    return {**{name: value for name, value in now.items() if name not in mine}, **others}


def _read(text: str) -> Typed | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else None


def _plain(text: str) -> str:
    """A value as a browser may send it back: lines end otherwise, and spaces around it mean nothing."""
    return text.strip().replace("\r\n", "\n")
