"""A club's roster: bytes of a CSV file in, rows out, every problem named by row and column.

Spreadsheets arrive as UTF-8 with and without a byte order mark, as GBK or GB18030, with commas, semicolons or tabs,
with title rows above the header, full-width digits and blank lines. What is not surely understood is refused with
advice.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from qisai.errors import FieldError, Invalid, TooLarge
from qisai.formats.roster_columns import Column, columns_of
from qisai.formats.typed_text import tidy, unprintable

MAX_BYTES: Final = 5 << 20
MAX_ROWS: Final = 20_000
MAX_SEED: Final = 4000
MAX_MEMBERS: Final = 20
LONGEST: Final[Mapping[Column, int]] = {
    Column.EXTERNAL_ID: 60,
    Column.NAME: 200,
    Column.CLUB: 200,
    Column.SEED: 20,
    Column.MEMBERS: 2000,
}
"""Characters that a cell may have."""
_DELIMITERS: Final = (",", ";", "\t")
_HEADER_WITHIN: Final = 30
"""Rows from the top in which the header is looked for: titles and notes may stand above it."""
_WHOLE_NUMBER: Final = re.compile(r"\d{1,9}(?:\.0*)?")
_MEMBERS_APART: Final = re.compile("[、，,;；/／|]")


@dataclass(frozen=True, slots=True, kw_only=True)
class CellProblem:
    """What is wrong in one place. `row` counts rows of the sheet from 1; `column` is its heading, "" for the row."""

    row: int
    column: str
    detail: str
    slug: str = "invalid"

    def as_field_error(self) -> FieldError:
        """As an error of the API."""
        at = f"/rows/{self.row}" + (f"/{self.column}" if self.column else "")
        where = f"row {self.row}" + (f", column {self.column}" if self.column else "")
        return FieldError(at, f"{where}: {self.detail}", self.slug)


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterRow:
    """One entrant of the sheet. None: the sheet has no such column; "" or no seed: the cell is empty."""

    row: int
    name: str
    external_id: str | None = None
    club: str | None = None
    seed: int | None = None
    members: tuple[str, ...] | None = None
    problems: tuple[CellProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """A sheet that was understood; single rows may still have problems."""

    rows: tuple[RosterRow, ...]
    encoding: str
    """`utf-8`, `utf-8-sig` (with a byte order mark) or `gb18030`."""
    delimiter: str
    headings: Mapping[Column, str]
    """The columns that were recognised, as they are headed."""
    ignored: tuple[str, ...] = ()
    """Headings of columns that mean nothing here."""


def read_roster(content: bytes) -> Roster:
    """The entrants of a roster. Raises `Invalid` or `TooLarge` where the sheet as a whole cannot be read."""
    if len(content) > MAX_BYTES:
        raise TooLarge("roster-too-large", f"The file has {len(content)} bytes; at most {MAX_BYTES} are taken.")
    text, encoding = _decode(content)
    delimiter, header_row, cells = _header(text)
    columns = columns_of(cells)
    _refuse_twice(columns, cells, header_row)
    headings = {column: tidy(cells[place]) for place, column in columns.items()}
    rows = tuple(_rows(text, delimiter, header_row=header_row, header=cells, columns=columns))
    if not rows:
        raise Invalid("roster-empty", f"Below the header in row {header_row} there is no entrant.")
    ignored = tuple(tidy(cell) for place, cell in enumerate(cells) if place not in columns and tidy(cell))
    return Roster(rows=rows, encoding=encoding, delimiter=delimiter, headings=headings, ignored=ignored)


def _decode(content: bytes) -> tuple[str, str]:
    if content[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        raise Invalid("roster-no-csv", "This is a spreadsheet or an archive; save it as “CSV UTF-8” and import that.")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in content:
        raise Invalid(
            "roster-encoding",
            "The file is UTF-16 or no text at all; save it as “CSV UTF-8” (or GBK) and import that.",
        )
    marked = content.startswith(b"\xef\xbb\xbf")
    try:
        return content.decode("utf-8-sig" if marked else "utf-8"), "utf-8-sig" if marked else "utf-8"
    except UnicodeDecodeError as error:
        if marked or (error.reason == "unexpected end of data" and error.start >= 4):
            line = content[: error.start].count(b"\n") + 1
            raise Invalid(
                "roster-encoding",
                f"The file is UTF-8, but broken in line {line}: it may have been cut off. Save and import it again.",
            ) from None
    try:
        return content.decode("gb18030"), "gb18030"
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Invalid(
            "roster-encoding",
            f"The file is neither UTF-8 nor GBK/GB18030 (line {line}); save it as “CSV UTF-8” and import that.",
        ) from None


def _header(text: str) -> tuple[str, int, list[str]]:
    """Delimiter, row number and cells of the header: the way to read it that recognises most columns."""
    best: tuple[int, str, int, list[str]] | None = None
    for delimiter in _DELIMITERS:
        try:
            for number, cells in _records(text, delimiter):
                known = len(columns_of(cells))
                if known and (best is None or known > best[0]):
                    best = (known, delimiter, number, cells)
                if known or number >= _HEADER_WITHIN:
                    break
        except Invalid:
            continue  # read with this delimiter the quotes do not close; the right one is among the others
    if best is None:
        raise Invalid(
            "roster-no-header",
            f"In the first {_HEADER_WITHIN} rows none has a column headed 姓名 (or name); commas, semicolons or tabs"
            " must stand between columns. If the header is there, save the file as “CSV UTF-8”.",
        )
    return best[1:]


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with their numbers. Raises `Invalid` where quotes do not fit."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    try:
        for number, cells in enumerate(reader, start=1):
            yield number, cells
    except csv.Error as error:
        place = f"row {number + 1}"
        raise Invalid(
            "roster-quotes",
            f"In {place} the quotation marks do not fit ({error}); the file may have been cut off there.",
            errors=[FieldError(f"/rows/{number + 1}", f"{place}: {error}", "quotes")],
        ) from None


def _refuse_twice(columns: Mapping[int, Column], cells: Sequence[str], row: int) -> None:
    for column in Column:
        places = [place for place, found in columns.items() if found is column]
        if len(places) > 1:
            headed = " and ".join(f"“{tidy(cells[place])}”" for place in places)
            raise Invalid(
                "roster-columns",
                f"The header in row {row} has two columns for the same thing: {headed}; leave one of them.",
            )


def _rows(
    text: str, delimiter: str, *, header_row: int, header: Sequence[str], columns: Mapping[int, Column]
) -> Iterator[RosterRow]:
    count = 0
    for number, cells in _records(text, delimiter):
        if number <= header_row or not any(tidy(cell) for cell in cells) or list(cells) == list(header):
            continue
        count += 1
        if count > MAX_ROWS:
            raise TooLarge("roster-too-large", f"The file has more than {MAX_ROWS} entrants.")
        yield _row(number, cells, header=header, columns=columns)


def _row(number: int, cells: Sequence[str], *, header: Sequence[str], columns: Mapping[int, Column]) -> RosterRow:
    problems: list[CellProblem] = []
    values = dict.fromkeys(columns.values(), "")
    for place, column in columns.items():
        typed = cells[place] if place < len(cells) else ""
        values[column] = _cell(typed, column, problems, row=number, heading=tidy(header[place]))
    if any(tidy(cell) for cell in cells[len(header) :]):
        detail = f"has {len(cells)} cells, but the header has {len(header)}: put quotation marks around the cell"
        problems.append(CellProblem(row=number, column="", detail=detail, slug="too-many-cells"))
    headings = {column: tidy(header[place]) for place, column in columns.items()}
    if not values[Column.NAME] and not problems:
        detail = "is empty: an entrant has a name"
        problems.append(CellProblem(row=number, column=headings[Column.NAME], detail=detail, slug="missing"))
    members = _members(values.get(Column.MEMBERS))
    if members is not None and len(members) > MAX_MEMBERS:
        detail = f"has {len(members)} members; at most {MAX_MEMBERS} are taken"
        problems.append(CellProblem(row=number, column=headings[Column.MEMBERS], detail=detail, slug="too-many"))
    return RosterRow(
        row=number,
        name=values[Column.NAME],
        external_id=values.get(Column.EXTERNAL_ID),
        club=values.get(Column.CLUB),
        seed=_seed(values.get(Column.SEED), problems, row=number, heading=headings.get(Column.SEED, "")),
        members=members,
        problems=tuple(problems),
    )


def _cell(typed: str, column: Column, problems: list[CellProblem], *, row: int, heading: str) -> str:
    value = tidy(typed)
    if column in (Column.EXTERNAL_ID, Column.SEED):
        value = unicodedata.normalize("NFKC", value)  # full-width digits are digits
    if len(value) > LONGEST[column]:
        detail = f"has {len(value)} characters; at most {LONGEST[column]} are taken"
        problems.append(CellProblem(row=row, column=heading, detail=detail, slug="too-long"))
        return ""
    bad = unprintable(value)
    if bad is not None:
        detail = f"contains the character {bad}, which cannot be shown; the file may have been saved wrongly"
        problems.append(CellProblem(row=row, column=heading, detail=detail, slug="characters"))
        return ""
    return value


def _members(cell: str | None) -> tuple[str, ...] | None:
    if cell is None:
        return None
    return tuple(name for part in _MEMBERS_APART.split(cell) if (name := tidy(part)))


def _seed(cell: str | None, problems: list[CellProblem], *, row: int, heading: str) -> int | None:
    if not cell:
        return None
    number = int(cell.partition(".")[0]) if _WHOLE_NUMBER.fullmatch(cell) else None
    if number is None or number > MAX_SEED:
        detail = f"is {cell!r}, but must be a whole number from 0 to {MAX_SEED}, or empty"
        problems.append(CellProblem(row=row, column=heading, detail=detail, slug="seed"))
        return None
    return number
