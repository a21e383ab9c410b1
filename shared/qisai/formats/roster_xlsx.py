"""A roster as a spreadsheet: the first sheet with a header that names the entrants, values only.

A spreadsheet is a zip of XML from strangers: what its parts hold is looked at first (`roster_xlsx_parts`).
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import chain, islice
from typing import Any, Final

from openpyxl.reader.excel import ExcelReader
from openpyxl.workbook.workbook import Workbook

from qisai.errors import Invalid, TooLarge
from qisai.formats.roster_sheet import (
    HEADER_WITHIN,
    MAX_COLUMNS,
    MAX_RECORDS,
    CoveredText,
    FormulaText,
    Record,
    Sheet,
    find_header,
    no_header,
    too_many_rows,
)
from qisai.formats.roster_xlsx_parts import MergedRows, inspect, unpacks, unreadable

MAX_SHEETS: Final = 20
MAX_TEXT: Final = 10_000_000
"""Characters of all cells together: each of them may point at one long text."""


def is_xlsx(content: bytes) -> bool:
    """Whether these bytes begin as a zip does."""
    return content[:4] == b"PK\x03\x04"


def sheet(content: bytes) -> Sheet:
    """The table of a spreadsheet. Raises `Invalid` or `TooLarge` where it cannot be read."""
    parts = inspect(content)
    try:
        reader = _opened(content, data_only=True)
        book: Workbook = reader.wb
        formulas: Workbook | None = _opened(content, data_only=False).wb if parts.has_formulas else None
        for name in [one.title for one in book.worksheets][:MAX_SHEETS]:
            merged = parts.merged.get(reader.part_of.get(name, ""), ())
            records = _covered(_records(book, formulas, name), merged)
            top = list(islice(records, HEADER_WITHIN))
            found = find_header(top)
            if found is not None:
                whole = list(chain(top, records))
                break
        else:
            raise no_header()
    except (Invalid, TooLarge):
        raise
    except Exception as error:
        raise unreadable() from error
    return Sheet(encoding="xlsx", delimiter="", header=found, records=lambda: iter(whole))


class _Reader(ExcelReader):  # type: ignore[misc]  # it has no types
    """Reads each part once: a workbook may name one large part as any number of sheets."""

    def read_worksheets(self) -> None:
        """Raises `Invalid` where two sheets are one part."""
        links = list(self.parser.find_sheets())
        self.part_of: dict[str, str] = {sheet.name: link.target for sheet, link in links}
        if len({link.target for _sheet, link in links}) < len(links):
            raise unreadable()
        super().read_worksheets()


def _opened(content: bytes, *, data_only: bool) -> _Reader:
    reader = _Reader(io.BytesIO(content), read_only=True, data_only=data_only, keep_links=False)
    reader.read()
    return reader


def _covered(records: Iterator[Record], merged: Sequence[MergedRows]) -> Iterator[Record]:
    """The rows, with what a merged cell says in each row below its first: only there does the file hold it.

    Cells to the right of a merged one stay blank: a note over the whole width is not the name, club and rating too.
    """
    begins: dict[int, list[MergedRows]] = defaultdict(list)
    for cell in merged:
        if cell.column <= MAX_COLUMNS:
            begins[cell.first].append(cell)
    reaching: dict[int, tuple[str, int]] = {}
    left = MAX_TEXT
    for number, texts in records:
        for column, (text, last) in list(reaching.items()):
            if number > last:
                del reaching[column]
                continue
            texts += [""] * (column - len(texts))
            texts[column - 1] = texts[column - 1] or CoveredText(text)
            left -= len(text)
            if left < 0:
                raise unpacks()
        for cell in begins.get(number, ()):
            text = texts[cell.column - 1] if cell.column <= len(texts) else ""
            if text:
                reaching[cell.column] = text, cell.last
        yield number, texts


def _records(book: Workbook, formulas: Workbook | None, name: str) -> Iterator[Record]:
    rows = _values(book, name)
    written = _values(formulas, name) if formulas is not None else None
    left = MAX_TEXT
    for number, cells in enumerate(rows, start=1):
        if number > MAX_RECORDS:
            raise too_many_rows()
        behind = next(written, ()) if written is not None else ()
        texts = [] if cells.count(None) == len(cells) and not any(behind) else [_text(cell) for cell in cells]
        for place, formula in enumerate(behind):
            if place < len(texts) and cells[place] is None and isinstance(formula, str) and formula.startswith("="):
                texts[place] = FormulaText(formula)
        left -= sum(map(len, texts))
        if left < 0:
            raise unpacks()
        while texts and not texts[-1]:
            texts.pop()
        yield number, texts


def _values(book: Workbook, name: str) -> Iterator[tuple[Any, ...]]:
    values: Iterator[tuple[Any, ...]] = book[name].iter_rows(values_only=True, max_col=MAX_COLUMNS)
    return values


def _text(value: Any) -> str:
    """A cell as somebody would type it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return str(value)
