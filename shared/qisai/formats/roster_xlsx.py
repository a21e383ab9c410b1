"""A roster as a spreadsheet: the first sheet with a header that names the entrants, values only.

A spreadsheet is a zip of XML from strangers: how much it unpacks to, and what the XML may hold, is looked at first.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, Final

from openpyxl import load_workbook
from openpyxl.workbook.workbook import Workbook

from qisai.errors import Invalid, TooLarge
from qisai.formats.roster_sheet import HEADER_WITHIN, FormulaText, Record, Sheet, find_header, no_header

MAX_UNPACKED: Final = 40 << 20
"""Bytes of all parts together."""
MAX_PARTS: Final = 500
MAX_SHEETS: Final = 20
MAX_COLUMNS: Final = 100
MAX_RECORDS: Final = 60_000
"""Rows that are looked at, blank ones too."""
_CHUNK: Final = 1 << 20


def is_xlsx(content: bytes) -> bool:
    """Whether these bytes begin as a zip does."""
    return content[:4] == b"PK\x03\x04"


def sheet(content: bytes) -> Sheet:
    """The table of a spreadsheet. Raises `Invalid` or `TooLarge` where it cannot be read."""
    has_formulas = _inspect(content)
    try:
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        formulas = load_workbook(io.BytesIO(content), read_only=True) if has_formulas else None
        for name in [one.title for one in book.worksheets][:MAX_SHEETS]:
            records = list(_records(book, formulas, name))
            found = find_header(records[:HEADER_WITHIN])
            if found is not None:
                break
        else:
            raise no_header()
    except (Invalid, TooLarge):
        raise
    except Exception as error:
        raise _unreadable() from error
    _known, header_row, cells = found
    return Sheet(
        encoding="xlsx", delimiter="", header_row=header_row, header=tuple(cells), records=lambda: iter(records)
    )


def _unreadable() -> Invalid:
    return Invalid(
        "roster-unreadable",
        "This is no spreadsheet that can be read, or a broken one; save it again as XLSX or as “CSV UTF-8”.",
    )


def _inspect(content: bytes) -> bool:
    """Whether there are formulas, after testing size and XML of every part."""
    has_formulas = False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
            if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
                raise TooLarge("roster-unpacks", "The spreadsheet unpacks to more than is taken; import it as CSV.")
            for part in parts:
                if part.filename.endswith((".xml", ".rels")):
                    is_sheet = part.filename.startswith("xl/worksheets/")
                    has_formulas |= _scan(archive, part) and is_sheet
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise _unreadable() from error
    except Exception as error:
        if type(error).__module__ in ("zlib", "lzma"):
            raise _unreadable() from error
        raise
    return has_formulas


def _scan(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Reads a part once; whether it holds a formula. Raises `Invalid` for declarations that no spreadsheet has."""
    before, found = b"", False
    with archive.open(part) as stream:
        while chunk := stream.read(_CHUNK):
            window = before + chunk
            if b"<!DOCTYPE" in window or b"<!ENTITY" in window:
                raise _unreadable()
            found = found or b"<f>" in window or b"<f " in window
            before = chunk[-16:]
    return found


def _records(book: Workbook, formulas: Workbook | None, name: str) -> Iterator[Record]:
    rows = _values(book, name)
    written = _values(formulas, name) if formulas is not None else None
    for number, cells in enumerate(rows, start=1):
        if number > MAX_RECORDS:
            detail = f"The sheet has more than {MAX_RECORDS} rows, blank ones counted."
            raise TooLarge("roster-too-many-rows", detail, most=MAX_RECORDS)
        behind = next(written, ()) if written is not None else ()
        texts = [] if cells.count(None) == len(cells) and not any(behind) else [_text(cell) for cell in cells]
        for place, formula in enumerate(behind):
            if place < len(texts) and cells[place] is None and isinstance(formula, str) and formula.startswith("="):
                texts[place] = FormulaText(formula)
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
