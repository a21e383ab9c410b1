"""Single cells of a roster, from what people type into them to values; what makes no sense is said, never guessed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from typing import Final

from qisai.formats.roster_columns import Column
from qisai.formats.typed_text import email_fits, phone_fits, tidy_name

MAX_SEED: Final = 4000
FIRST_YEAR: Final = 1900
NEUTRALISED: Final = re.compile("'(?=\\s*[=+@＝＋＠－-])")
"""How an export marks text that a spreadsheet would take for a formula (`qisai.formats.sheet_csv.neutral`)."""
_WHOLE_NUMBER: Final = re.compile(r"\d{1,9}(?:\.0*)?")
_YEAR: Final = re.compile(r"(\d{4})(?:年|(?:[-/.年]\d{1,2}(?:[-/.月]?\d{0,2}日?)?)|\d{4}| 00:00:00)?(?: 00:00:00)?")
_DAY: Final = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?: 00:00:00)?")
_MEMBERS_APART: Final = re.compile("[、，,;；/／|]")
_SEXES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("男", "男子", "男性", "m", "male", "man", "boy"), "male"),
    **dict.fromkeys(("女", "女子", "女性", "f", "female", "woman", "girl", "w"), "female"),
}
NUMERIC: Final = frozenset(
    {Column.EXTERNAL_ID, Column.SEED, Column.SEED_DATE, Column.BIRTH_YEAR, Column.PHONE, Column.EMAIL, Column.SEX}
)
"""Columns in which full-width digits, letters and signs are meant as plain ones."""
NAMES: Final = frozenset(
    {Column.NAME, Column.FIRST_NAME, Column.LAST_NAME, Column.CLUB, Column.MEMBERS, Column.SUBSTITUTES}
)
"""Columns in which full-width digits and letters are plain ones, and signs stay as typed."""


class Nonsense(Exception):
    """What is wrong with a cell, in words. Never leaves this package."""


def plain(text: str) -> str:
    """Full-width digits, letters and signs as plain ones."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def people_of(cell: str) -> tuple[str, ...]:
    """Names in one cell, with any of the usual marks between them."""
    return tuple(name for part in _MEMBERS_APART.split(cell) if (name := tidy_name(part)))


def seed_of(cell: str) -> int:
    """A seed score. Raises `Nonsense`."""
    number = int(cell.partition(".")[0]) if _WHOLE_NUMBER.fullmatch(cell) else None
    if number is None or number > MAX_SEED:
        raise Nonsense(f"is {cell!r}, but must be a whole number from 0 to {MAX_SEED}, or empty")
    return number


def sex_of(cell: str) -> str:
    """`female` or `male`. Raises `Nonsense`."""
    found = _SEXES.get(cell.casefold())
    if found is None:
        raise Nonsense(f"is {cell!r}, but must be 男, 女, or empty")
    return found


def birth_year_of(cell: str) -> int:
    """The year of a year or a day. Raises `Nonsense`, also for one in the future."""
    match = _YEAR.fullmatch(cell)
    year = int(match.group(1)) if match is not None else 0
    if not FIRST_YEAR <= year <= date.today().year:  # noqa: DTZ011 - a year; zones do not matter
        raise Nonsense(f"is {cell!r}, but must be a year such as 2012, a day such as 2012-05-03, or empty")
    return year


def day_of(cell: str) -> date:
    """A day. Raises `Nonsense`."""
    match = _DAY.fullmatch(cell)
    try:
        return date(*(int(part) for part in match.groups())) if match is not None else _no_day(cell)
    except ValueError:
        return _no_day(cell)


def _no_day(cell: str) -> date:
    raise Nonsense(f"is {cell!r}, but must be a day such as 2026-11-30, or empty")


def phone_of(cell: str) -> str:
    """A telephone number. Raises `Nonsense`."""
    if not phone_fits(cell):
        raise Nonsense(f"is {cell!r}, which is no telephone number")
    return cell


def email_of(cell: str) -> str:
    """An e-mail address. Raises `Nonsense`."""
    if not email_fits(cell):
        raise Nonsense(f"is {cell!r}, which is no e-mail address")
    return cell
