"""A sheet of cells as the reader of its file found it, before anybody asked what the cells mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from qisai.errors import Invalid, TooLarge
from qisai.formats.roster_columns import columns_of

HEADER_WITHIN: Final = 30
"""Rows from the top in which the header is looked for: titles and notes may stand above it."""
MAX_COLUMNS: Final = 100
"""Columns that are looked at."""
MAX_RECORDS: Final = 60_000
"""Rows that are looked at, blank ones too."""
Record = tuple[int, list[str]]
"""Number of a row in its file, from 1, and its cells."""


class FormulaText(str):
    """A formula whose value the file does not hold."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table whose header was found."""

    encoding: str
    delimiter: str
    header_row: int
    header: tuple[str, ...]
    records: Callable[[], Iterator[Record]]
    """All rows from the first, those above the header too."""


def find_header(records: Iterable[Record]) -> tuple[int, int, list[str]] | None:
    """The first row that names the entrants: how many columns it recognises, its number, its cells."""
    for number, cells in records:
        known = len(columns_of(cells))
        if known:
            return known, number, cells
        if number >= HEADER_WITHIN:
            break
    return None


def no_header() -> Invalid:
    """The refusal of a sheet in which nothing names the entrants."""
    return Invalid(
        "roster-no-header",
        f"In the first {HEADER_WITHIN} rows none has a column headed 姓名 (or name); in a CSV file commas, semicolons"
        " or tabs must stand between columns. If the header is there, save the file as “CSV UTF-8”.",
    )


def too_many_rows() -> TooLarge:
    """The refusal of a sheet that goes on and on."""
    detail = f"The sheet has more than {MAX_RECORDS} rows, blank ones counted."
    return TooLarge("roster-too-many-rows", detail, most=MAX_RECORDS)
