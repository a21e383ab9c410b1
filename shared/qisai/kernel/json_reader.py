"""Reading plain JSON values with a place for every complaint: all errors are collected, none stops the reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, TypeVar

from qisai.errors import FieldError, Invalid

E = TypeVar("E", bound=StrEnum)

MAX_ERRORS: Final = 1000
"""Complaints kept; a file with more of them is the wrong file."""


class JsonReader:
    """Reads typed values out of parsed JSON. After a complaint a harmless value stands in, so reading goes on.

    `pointer` arguments are JSON pointers (RFC 6901) of the value being read.
    """

    def __init__(self) -> None:
        self.errors: list[FieldError] = []

    def fail(self, pointer: str, detail: str, slug: str, **context: Any) -> None:
        """Note one complaint. `context` is for its translations (`FieldError`)."""
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(FieldError(pointer, detail, slug, context))

    def finish(self, slug: str, what: str) -> None:
        """Raise `Invalid` with all complaints, if there are any."""
        if self.errors:
            first = self.errors[0]
            more = f" ({len(self.errors) - 1} more)" if len(self.errors) > 1 else ""
            raise Invalid(slug, f"{what}: {first.pointer or '/'}: {first.detail}{more}", errors=self.errors)

    def object(self, value: Any, pointer: str, *, names: frozenset[str]) -> Mapping[str, Any]:
        """An object with none but the given names; `{}` stands in."""
        if not isinstance(value, dict):
            self.fail(pointer, f"must be an object, not {_kind(value)}", "type", variant="object")
            return {}
        if not value.keys() <= names:
            for name in value.keys() - names:
                at = f"{pointer}/{_escape(name)}"
                known = ", ".join(sorted(names))
                self.fail(at, f"unknown name; known are {known}", "unknown-name", known=known)
        return value

    def array(self, value: Any, pointer: str, *, maximum: int) -> Sequence[Any]:
        """A list of at most `maximum` values; `[]` stands in."""
        if not isinstance(value, list | tuple):
            self.fail(pointer, f"must be a list, not {_kind(value)}", "type", variant="list")
            return ()
        if len(value) > maximum:
            detail = f"has {len(value)} values; at most {maximum} are allowed"
            self.fail(pointer, detail, "too-many", count=len(value), most=maximum)
            return ()
        return value

    def integer(self, value: Any, pointer: str, *, low: int, high: int) -> int:
        """An integer within low … high; `low` stands in. Neither true nor 1.5 nor "1" is one."""
        found = self.number(value, pointer, low=low, high=high)
        return low if found is None else found

    def number(self, value: Any, pointer: str, *, low: int, high: int) -> int | None:
        """As `integer`, with None after a complaint: for numbers that other values refer to."""
        if type(value) is int and low <= value <= high:
            return value
        if type(value) is not int:
            self.fail(pointer, f"must be an integer, not {_kind(value)}", "type", variant="integer")
        else:
            detail = f"is {value}, but must be from {low} to {high}"
            self.fail(pointer, detail, "range", value=value, low=low, high=high)
        return None

    def optional_integer(self, value: Any, pointer: str, *, low: int, high: int) -> int | None:
        """An integer within low … high, or null."""
        return None if value is None else self.integer(value, pointer, low=low, high=high)

    def flag(self, value: Any, pointer: str) -> bool:
        """True or false, nothing that merely looks like it."""
        if isinstance(value, bool):
            return value
        self.fail(pointer, f"must be true or false, not {_kind(value)}", "type", variant="flag")
        return False

    def text(self, value: Any, pointer: str, *, maximum: int) -> str:
        """Text of at most `maximum` characters without control characters or halves of surrogate pairs."""
        if not isinstance(value, str):
            self.fail(pointer, f"must be text, not {_kind(value)}", "type", variant="text")
            return ""
        if len(value) > maximum:
            detail = f"has {len(value)} characters; at most {maximum} are allowed"
            self.fail(pointer, detail, "too-long", most=maximum)
        elif not value.isprintable() and any(_unprintable(character) for character in value):
            self.fail(pointer, "contains control characters or broken Unicode; remove them", "characters")
        else:
            return value
        return ""

    def choice(self, value: Any, pointer: str, kinds: type[E]) -> E:
        """A member of an enum by its value; the first member stands in."""
        return self.member(value, pointer, kinds) or next(iter(kinds))

    def member(self, value: Any, pointer: str, kinds: type[E]) -> E | None:
        """As `choice`, with None after a complaint."""
        if isinstance(value, str) and value in kinds._value2member_map_:
            return kinds(value)
        shown = repr(value[:40]) if isinstance(value, str) else _kind(value)
        known = ", ".join(kinds)
        self.fail(pointer, f"is {shown}, but must be one of {known}", "unknown-kind", known=known)
        return None

    def half_points(self, value: Any, pointer: str, *, maximum: int, minimum: int = 0) -> int:
        """Points in steps of .5 from `minimum` up to `maximum` points, as half-points; 0 stands in."""
        if type(value) not in (int, float):
            self.fail(pointer, f"must be a number of points, not {_kind(value)}", "type", variant="points")
        elif not minimum <= value <= maximum:  # also catches NaN and infinities
            detail = f"is {value}, but must be from {minimum} to {maximum}"
            self.fail(pointer, detail, "range", value=value, low=minimum, high=maximum)
        elif value * 2 != int(value * 2):
            self.fail(pointer, f"is {value}, but points go in steps of .5", "points-step", value=value)
        else:
            return int(value * 2)
        return 0


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int():
            return "an integer"
        case float():
            return f"the number {value}"
        case str():
            return "text"
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
    return type(value).__name__


def _escape(name: object) -> str:
    return str(name)[:60].replace("~", "~0").replace("/", "~1")


def _unprintable(character: str) -> bool:
    code = ord(character)
    return code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code <= 0xDFFF or code in (0x2028, 0x2029)
