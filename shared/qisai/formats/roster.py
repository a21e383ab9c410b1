"""A club's roster: bytes of a CSV or XLSX file in, rows out, every problem named by row and column.

Spreadsheets arrive with title rows above the header, blank lines, the header repeated on every page, full-width digits.
What is not surely understood is refused with advice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from qisai.errors import FieldError, Invalid, TooLarge
from qisai.formats import roster_cells as cells_of
from qisai.formats import roster_csv, roster_xlsx
from qisai.formats.roster_cells import NAMES, NEUTRALISED, NUMERIC, Nonsense, people_of, plain
from qisai.formats.roster_columns import Column, columns_of, is_team_heading
from qisai.formats.roster_sheet import CoveredText, FormulaText, Header, Sheet
from qisai.formats.typed_text import full_name, is_visible, tidy, tidy_name, unprintable

MAX_BYTES: Final = 5 << 20
MAX_ROWS: Final = 20_000
MAX_MEMBERS: Final = 20
LONGEST: Final[Mapping[Column, int]] = {
    Column.EXTERNAL_ID: 60,
    Column.FIRST_NAME: 99,
    Column.LAST_NAME: 99,
    Column.SEED: 20,
    Column.SEED_DATE: 30,
    Column.MEMBERS: 2000,
    Column.SUBSTITUTES: 2000,
    Column.SEX: 10,
    Column.BIRTH_YEAR: 30,
    Column.PHONE: 40,
    Column.NOTES: 1000,
}
"""Characters that a cell may have; 200 in other columns."""
_PARTS: Final = (Column.FIRST_NAME, Column.LAST_NAME)
_NAMED: Final = (Column.NAME, *_PARTS)
_VALUES: Final[Mapping[Column, tuple[str, Callable[[str], Any]]]] = {
    Column.SEED: ("seed", cells_of.seed_of),
    Column.SEED_DATE: ("day", cells_of.day_of),
    Column.SEX: ("sex", cells_of.sex_of),
    Column.BIRTH_YEAR: ("birth-year", cells_of.birth_year_of),
    Column.PHONE: ("phone", cells_of.phone_of),
    Column.EMAIL: ("email", cells_of.email_of),
}
"""What makes a value of a cell that is not plain text, and the slug of what cannot be one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellProblem:
    """What is wrong in one place. `row` counts rows of the sheet from 1; `column` is its heading, "" for the row."""

    row: int
    column: str
    detail: str
    slug: str = "invalid"
    context: Mapping[str, Any] = field(default_factory=dict)
    """What the translations of the slug name; `variant` tells several texts of one slug apart."""

    @property
    def place(self) -> str:
        """Row and column in English."""
        return f"row {self.row}" + (f", column {self.column}" if self.column else "")

    def as_field_error(self) -> FieldError:
        """As an error of the API; the pointer names row and column."""
        at = f"/rows/{self.row}" + (f"/{self.column}" if self.column else "")
        return FieldError(at, self.detail, self.slug, self.context)


@dataclass(frozen=True, slots=True, kw_only=True)
class RosterRow:
    """One entrant of the sheet. None: the sheet has no such column; "" or None of a number: the cell is empty."""

    row: int
    name: str
    external_id: str | None = None
    club: str | None = None
    seed: int | None = None
    seed_source: str | None = None
    seed_date: date | None = None
    members: tuple[str, ...] | None = None
    substitutes: tuple[str, ...] | None = None
    sex: str | None = None
    birth_year: int | None = None
    phone: str | None = None
    email: str | None = None
    notes: str | None = None
    problems: tuple[CellProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """A sheet that was understood; single rows may still have problems."""

    rows: tuple[RosterRow, ...]
    encoding: str
    """`utf-8`, `utf-8-sig` (with a byte order mark), `gb18030`, or `xlsx`."""
    delimiter: str
    """What stands between the cells; "" in a spreadsheet."""
    headings: Mapping[Column, str]
    """The columns that were recognised, as they are headed."""
    ignored: tuple[str, ...] = ()
    """Headings of columns that mean nothing here."""
    teams_heading: str | None = None
    """Heading of the names where it is one of teams and no other column has names."""


def read_roster(content: bytes) -> Roster:
    """The entrants of a roster. Raises `Invalid` or `TooLarge` where the sheet as a whole cannot be read."""
    if len(content) > MAX_BYTES:
        detail = f"The file has {len(content)} bytes; at most {MAX_BYTES} are taken."
        raise TooLarge("roster-too-large", detail, most_megabytes=MAX_BYTES >> 20, most_rows=MAX_ROWS)
    sheet = roster_xlsx.sheet(content) if roster_xlsx.is_xlsx(content) else roster_csv.sheet(content)
    header = sheet.header
    columns = columns_of(header.cells)
    _refuse_unclear(columns, header)
    headings = {column: tidy(header.cells[place]) for place, column in columns.items()}
    rows = tuple(_rows(sheet, columns=columns, headings=headings))
    if not rows:
        detail = f"Below the header in row {header.row} there is no entrant."
        raise Invalid("roster-empty", detail, row=header.row)
    ignored = tuple(tidy(cell) for place, cell in enumerate(header.cells) if place not in columns and tidy(cell))
    named_by = [cell for place, cell in enumerate(header.cells) if columns.get(place) is Column.NAME]
    return Roster(
        rows=rows,
        encoding=sheet.encoding,
        delimiter=sheet.delimiter,
        headings=_as_read(headings),
        ignored=ignored,
        teams_heading=next((tidy(cell) for cell in named_by if is_team_heading(cell)), None),
    )


def _as_read(headings: Mapping[Column, str]) -> Mapping[Column, str]:
    """Headings by what a row has in the end: a name in two columns is one."""
    parts = [heading for column, heading in headings.items() if column in _PARTS]
    if not parts:
        return headings
    rest: dict[Column, str] = {column: heading for column, heading in headings.items() if column not in _PARTS}
    return {Column.NAME: " + ".join(parts), **rest}


def _refuse_unclear(columns: Mapping[int, Column], header: Header) -> None:
    row = header.row
    if header.other is not None:
        detail = f"Rows {header.other} and {row} both head a list of names; keep one list, with one header above it."
        raise Invalid("roster-two-headers", detail, row=header.other, other=row)
    _refuse_twice(columns, header.cells, row)
    names = [tidy(header.cells[place]) for place, column in columns.items() if column in {Column.NAME, *_PARTS}]
    if Column.NAME in columns.values() and len(names) > 1:
        headed = " and ".join(f"“{name}”" for name in names)
        raise Invalid(
            "roster-name-parts",
            f"The header in row {row} has {headed}: head them “First name” and “Last name” where each is a part of the"
            " name, or leave the one that has all of it.",
            row=row,
            headings=" / ".join(names),
        )


def _refuse_twice(columns: Mapping[int, Column], cells: Sequence[str], row: int) -> None:
    for column in Column:
        places = [place for place, found in columns.items() if found is column]
        if len(places) > 1:
            headed = " and ".join(f"“{tidy(cells[place])}”" for place in places)
            raise Invalid(
                "roster-columns",
                f"The header in row {row} has two columns for the same thing: {headed}; leave one of them.",
                row=row,
                headings=" / ".join(tidy(cells[place]) for place in places),
            )


def _rows(sheet: Sheet, *, columns: Mapping[int, Column], headings: Mapping[Column, str]) -> Iterator[RosterRow]:
    count = 0
    header = sheet.header
    for number, cells in sheet.records():
        if number <= header.row or not any(cells) or tuple(cells) in header.rows or not any(map(_says, cells)):
            continue
        count += 1
        if count > MAX_ROWS:
            detail = f"The file has more than {MAX_ROWS} entrants."
            raise TooLarge("roster-too-large", detail, most_megabytes=MAX_BYTES >> 20, most_rows=MAX_ROWS)
        reader = _Row(number, _as_read(headings), is_workbook=not sheet.delimiter)
        yield reader.read(cells, columns=columns, width=len(header.cells))


def _says(cell: str) -> bool:
    """Whether the cell says something of its own row."""
    return bool(tidy(cell)) and not isinstance(cell, CoveredText)


class _Row:
    """Reads one row, noting what is wrong."""

    def __init__(self, number: int, headings: Mapping[Column, str], *, is_workbook: bool) -> None:
        self._number = number
        self._is_workbook = is_workbook
        self._headings = headings
        self._problems: list[CellProblem] = []

    def read(self, cells: Sequence[str], *, columns: Mapping[int, Column], width: int) -> RosterRow:
        values: dict[Column, Any] = {}
        for place, column in columns.items():
            values[column] = self._value(cells[place] if place < len(cells) else "", column)
        if len(cells) > width and any(map(tidy, cells[width:])):
            detail = f"has {len(cells)} cells, but the header has {width}: put quotation marks around the cell"
            if self._is_workbook:
                detail = f"has {len(cells)} cells, but the header has {width}: head the column, or empty the cell"
            said = {"variant": "workbook" if self._is_workbook else "cell", "count": len(cells), "width": width}
            problem = CellProblem(row=self._number, column="", detail=detail, slug="too-many-cells", context=said)
            self._problems.append(problem)
        if Column.NAME not in values:
            values[Column.NAME] = full_name(values.pop(Column.FIRST_NAME), values.pop(Column.LAST_NAME))
        if not is_visible(values[Column.NAME]) and not self._problems_before(Column.NAME):
            self._complain(Column.NAME, "is empty: an entrant has a name that can be seen", "missing")
        named = {column.value: value for column, value in values.items()}
        return RosterRow(row=self._number, problems=tuple(self._in_order(columns)), **named)

    def _problems_before(self, column: Column) -> bool:
        """Whether the column's own cell was refused already, or the row as a whole."""
        return any(problem.column in ("", self._headings[column]) for problem in self._problems)

    def _in_order(self, columns: Mapping[int, Column]) -> Iterable[CellProblem]:
        place = {self._heading(column): at for at, column in columns.items()}
        return sorted(self._problems, key=lambda problem: place.get(problem.column, -1))

    def _value(self, typed: str, column: Column) -> Any:
        text = self._text(typed, column)
        if column in (Column.MEMBERS, Column.SUBSTITUTES):
            people = people_of(text)
            if len(people) > MAX_MEMBERS:
                detail = f"has {len(people)} names; at most {MAX_MEMBERS} are taken"
                self._complain(column, detail, "too-many", count=len(people), most=MAX_MEMBERS)
            if not all(map(is_visible, people)):
                self._complain(column, "has a name of which nothing can be seen", "invisible")
            return people
        slug, value_of = _VALUES.get(column, ("", None))
        if value_of is None:
            return text
        if not text:
            return "" if column in (Column.PHONE, Column.EMAIL) else None
        try:
            return value_of(text)
        except Nonsense as error:
            self._complain(column, str(error), slug, value=text, high=cells_of.MAX_SEED)
            return "" if column in (Column.PHONE, Column.EMAIL) else None

    def _text(self, typed: str, column: Column) -> str:
        if isinstance(typed, CoveredText) and column in _NAMED:
            detail = "is merged with the cell above: each entrant has a row and a name of its own"
            self._complain(column, detail, "merged")
            return ""
        if isinstance(typed, FormulaText):
            detail = "is a formula without a value: open the sheet, save it and import that, or paste values over it"
            self._complain(column, detail, "formula")
            return ""
        neat = tidy_name if column in NAMES else tidy
        text = neat(NEUTRALISED.sub("", typed, count=1) if typed[:1] == "'" else typed)
        if column in NUMERIC:
            text = plain(text)
        longest = LONGEST.get(column, 200)
        if len(text) > longest:
            detail = f"has {len(text)} characters; at most {longest} are taken"
            self._complain(column, detail, "too-long", count=len(text), most=longest)
            return ""
        bad = unprintable(text)
        if bad is not None:
            detail = f"contains the character {bad}, which cannot be shown; the file may have been saved wrongly"
            self._complain(column, detail, "characters", character=bad)
            return ""
        return text

    def _heading(self, column: Column) -> str:
        return self._headings[Column.NAME if column in _PARTS else column]

    def _complain(self, column: Column, detail: str, slug: str, **said: Any) -> None:
        heading, context = self._heading(column), {"variant": "cell", **said}
        self._problems.append(CellProblem(row=self._number, column=heading, detail=detail, slug=slug, context=context))
