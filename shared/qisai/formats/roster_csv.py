"""A roster as CSV: its encoding and delimiter are told from the content, in this order.

A byte order mark, strict UTF-8, GB18030; then whichever of comma, semicolon and tab lets the header be recognised best.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Final

from qisai.errors import FieldError, Invalid, TooLarge
from qisai.formats.roster_sheet import MAX_COLUMNS, MAX_RECORDS, Header, Sheet, find_header, no_header, too_many_rows

_DELIMITERS: Final = (",", ";", "\t")


def sheet(content: bytes) -> Sheet:
    """The table of a CSV file. Raises `Invalid` where it cannot be read."""
    text, encoding = _decode(content)
    delimiter, header = _header(text)
    _refuse_cut_off(text, delimiter, columns=len(header.cells))
    return Sheet(
        encoding=encoding,
        delimiter=delimiter,
        header=header,
        records=lambda: _records(text, delimiter),
    )


def _decode(content: bytes) -> tuple[str, str]:
    if content[:4] == b"\xd0\xcf\x11\xe0":
        raise Invalid("roster-no-csv", "This is a spreadsheet of the old kind; save it as XLSX or “CSV UTF-8”.")
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


def _header(text: str) -> tuple[str, Header]:
    """Delimiter and header: the way to read it that recognises most columns."""
    best: tuple[str, Header] | None = None
    refused: TooLarge | None = None
    for delimiter in _DELIMITERS:
        try:
            found = find_header(_records(text, delimiter))
        except TooLarge as error:
            refused = refused or error
            continue
        except Invalid:
            continue  # read with this delimiter the quotes do not close; the right one is among the others
        if found is not None and (best is None or found.known > best[1].known):
            best = delimiter, found
    if best is None:
        raise refused or no_header()
    return best


def _refuse_cut_off(text: str, delimiter: str, *, columns: int) -> None:
    """Raises `Invalid` where the file ends inside its last row: no line end, and fewer cells than the header has."""
    if text.endswith(("\n", "\r")):
        return
    last = text.rsplit("\n", 1)[-1]
    if last.strip() and last.count(delimiter) < columns - 1 and delimiter in text:
        row = text.count("\n") + 1
        place = f"row {row}"
        raise Invalid(
            "roster-cut-off",
            f"The file ends in the middle of {place}, as if it had been cut off. Save it again and import that; if the "
            "row is complete, end it with a line break.",
            errors=[
                FieldError(
                    f"/rows/{row}", f"{place}: fewer cells than the header, and no line end", "cut-off", {"row": row}
                )
            ],
            row=row,
        )


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with their numbers, at most `MAX_COLUMNS` cells each: what stands behind is blank.

    Raises `Invalid` where quotes do not fit, `TooLarge`.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    try:
        for number, cells in enumerate(reader, start=1):
            if number > MAX_RECORDS:
                raise too_many_rows()
            if any(cells[MAX_COLUMNS:]):
                raise _too_many_columns(number)
            yield number, cells[:MAX_COLUMNS]
    except csv.Error as error:
        place = f"row {number + 1}"
        if "field larger" in str(error):
            raise Invalid(
                "roster-cell-too-long",
                f"In {place} a cell has more than {csv.field_size_limit()} characters; if there is no such text, a "
                "quotation mark before it is not closed.",
                row=number + 1,
                most=csv.field_size_limit(),
            ) from None
        raise Invalid(
            "roster-quotes",
            f"In {place} the quotation marks do not fit ({error}); the file may have been cut off there.",
            errors=[FieldError(f"/rows/{number + 1}", f"{place}: {error}", "quotes", {"row": number + 1})],
            row=number + 1,
        ) from None


def _too_many_columns(row: int) -> TooLarge:
    detail = f"Row {row} has more than {MAX_COLUMNS} columns; leave those out that a roster does not need."
    return TooLarge("roster-too-many-columns", detail, row=row, most=MAX_COLUMNS)
