"""Writing a spreadsheet as CSV that opens with Chinese intact and never runs what somebody typed as a name.

UTF-8 with BOM, lines ended by CR LF. Text that a spreadsheet would take for a formula gets an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final

Cell = str | int | float | None
"""Numbers are ours and stay numbers; None is an empty cell."""

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Also in full width: some spreadsheets read those alike."""


def neutral(text: str) -> str:
    """The text with an apostrophe in front where a spreadsheet would take it for a formula."""
    return f"'{text}" if text.lstrip(" \u3000").startswith(FORMULA_STARTS) else text


BOM: Final = b"\xef\xbb\xbf"


def csv_bytes(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """A sheet with one line of headers."""
    return BOM + csv_lines([head]) + csv_lines(rows)


def csv_lines(rows: Iterable[Sequence[Cell]]) -> bytes:
    """Lines of a sheet, for one that is sent in parts: `BOM`, then the line of headers, then the others."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows([_written(cell) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8")


def _written(cell: Cell) -> str | int | float:
    if cell is None:
        return ""
    return neutral(cell) if isinstance(cell, str) else cell
