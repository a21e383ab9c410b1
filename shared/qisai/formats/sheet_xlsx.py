"""Writing a spreadsheet as XLSX: every text as text, never as a formula, with the guard that CSV has too."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.utils import get_column_letter

from qisai.formats.sheet_csv import Cell, neutral
from qisai.formats.typed_text import unprintable


def xlsx_bytes(title: str, head: Sequence[str], rows: Iterable[Sequence[Cell]], *, widths: Sequence[int] = ()) -> bytes:
    """A workbook of one sheet with one line of headers, which stays in sight. `widths`: of columns, in characters."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)
    sheet.freeze_panes = "A2"
    for place, width in enumerate(widths, start=1):
        sheet.column_dimensions[get_column_letter(place)].width = width

    def written(cell: Cell) -> object:
        if not isinstance(cell, str) or not cell:
            return cell
        made = WriteOnlyCell(sheet, value="".join(c for c in neutral(cell) if unprintable(c) is None))
        made.data_type = "s"  # the library would make a formula of a text that begins with =
        return made

    sheet.append(list(head))
    for row in rows:
        sheet.append([written(cell) for cell in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()
