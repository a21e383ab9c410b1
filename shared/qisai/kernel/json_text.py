"""JSON text to plain values, strictly: nothing a file may contain crashes the reader or passes unnoticed."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from qisai.errors import Invalid, TooLarge

MAX_BYTES: Final = 128 * 1024 * 1024
MAX_DIGITS: Final = 20
"""Digits of an integer; more than any number in these files may have."""


def parse_json(data: bytes) -> Any:
    """Parse UTF-8 JSON (with or without a byte order mark).

    Refused: text that is no JSON, a name that stands twice in one object (readers would disagree on which one counts),
    `NaN` and `Infinity`, integers of absurd length, nesting deeper than the parser takes. Raises `Invalid`, `TooLarge`.
    """
    if len(data) > MAX_BYTES:
        raise TooLarge("file-too-large", f"The file has {len(data)} bytes; at most {MAX_BYTES} are read.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(
            "not-utf8", f"The file is not UTF-8: byte {error.start} cannot be read. Save it as UTF-8."
        ) from error
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise Invalid(
            "not-json", f"The file is not JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        ) from error
    except RecursionError as error:
        raise Invalid("json-too-deep", "The file is nested too deeply; a tournament needs five levels.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        name = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Invalid("duplicate-name", f"The name {name[:60]!r} stands twice in one object; keep one of them.")
    return value


def _constant(name: str) -> NoReturn:
    raise Invalid("not-json", f"{name} is not a JSON number; write a plain number or null.")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise Invalid(
            "number-too-long", f"The number {digits[:MAX_DIGITS]}… has {len(digits)} digits; no value here needs that."
        )
    return int(digits)
