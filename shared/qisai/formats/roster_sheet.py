"""A sheet of cells as the reader of its file found it, before anybody asked what the cells mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qisai.errors import Invalid, TooLarge
from qisai.formats.roster_columns import columns_of, is_heading, is_team_heading, names_somebody
from qisai.formats.typed_text import tidy

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


class CoveredText(str):
    """What a merged cell says of a row below its first."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The row that names the columns, or two of them: titles of groups above, names of columns below."""

    row: int
    """Number of the row, of two the lower."""
    cells: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """As they stand in the sheet, which may repeat them."""
    known: int
    """Columns that are recognised."""
    other: int | None = None
    """Number of a row above that heads a list of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table whose header was found."""

    encoding: str
    delimiter: str
    header: Header
    records: Callable[[], Iterator[Record]]
    """All rows from the first, those above the header too."""


def find_header(records: Iterable[Record]) -> Header | None:
    """The row among the first ones, or the two of them, that names the entrants and recognises most columns.

    What is wrong with the sheet below is left to those who read its rows. Raises what reading raises above.
    """
    best: Header | None = None
    above: list[str] = []
    heads: list[int] = []
    filled: list[int] = []
    try:
        for number, cells in records:
            for header in _headers(number, above, cells):
                if best is None or header.known > best.known or _goes_on(best, header):
                    best = header
            if _heads_a_list(cells):
                heads.append(number)
            if any(map(tidy, cells)):
                filled.append(number)
            above = cells
            if number >= HEADER_WITHIN:
                break
    except (Invalid, TooLarge):
        if best is None:
            raise
    if best is None:
        return None
    top = best.row - len(best.rows)
    lists = [head for head in heads if any(head < row <= top for row in filled)]
    return replace(best, other=lists[0] if lists else None)


def _headers(number: int, above: Sequence[str], cells: Sequence[str]) -> Iterator[Header]:
    known = len(columns_of(cells))
    if known:
        yield Header(row=number, cells=tuple(cells), rows=(tuple(cells),), known=known)
    joined = _joined(above, cells)
    known = len(columns_of(joined))
    if known:
        yield Header(row=number, cells=tuple(joined), rows=(tuple(above), tuple(cells)), known=known)


def _goes_on(header: Header, lower: Header) -> bool:
    """Whether the names of the columns, merged over two rows, reach into the lower one."""
    is_next = lower.row == header.row + 1 and lower.known == header.known
    return is_next and any(isinstance(cell, CoveredText) and names_somebody(cell) for cell in lower.cells)


def _heads_a_list(cells: Sequence[str]) -> bool:
    """Whether this row, if it is not the header, heads other entrants; 队名 | 甲队 says whose list it is."""
    columns = columns_of(cells)
    by_person = any(names_somebody(cells[place]) and not is_team_heading(cells[place]) for place in columns)
    return by_person or (bool(columns) and len(columns) == sum(bool(tidy(cell)) for cell in cells))


def _joined(above: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Names of columns under titles of groups: 等级 above 分 is 等级分; empty where the two rows are no header.

    A title reaches over blank cells to its right. Below the name of a single column nothing else may stand: that would
    be the first entrant.
    """
    heads: list[str] = []
    title = ""
    for place in range(max(len(above), len(cells)) if above and cells else 0):
        over = above[place] if place < len(above) else ""
        own = cells[place] if place < len(cells) else ""
        title = over if tidy(over) else title
        if not tidy(own) or tidy(own) == tidy(over):
            heads.append(over)
            continue
        both = f"{tidy(title)} {tidy(own)}" if own.isascii() else tidy(title) + tidy(own)
        head = next((one for one in (own, both) if is_heading(one)), own)
        reaches = place + 1 < len(cells) and tidy(cells[place + 1]) and not any(map(tidy, above[place + 1 : place + 2]))
        if is_heading(over) and not is_heading(head) and (names_somebody(over) or not reaches):
            return []
        heads.append(head)
    return heads


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
