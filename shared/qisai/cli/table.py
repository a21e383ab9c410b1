"""Plain text tables whose columns line up with Chinese characters, which take two cells of a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def width(text: str) -> int:
    """Terminal cells of a text: two for wide characters, none for combining ones."""
    return sum(_cells(character) for character in text)


def render(headers: Sequence[str], rows: Sequence[Sequence[object]], *, left: Sequence[str] = ()) -> str:
    """A table with a header line; columns named in `left` are flush left, all others flush right."""
    table = [list(headers), *([_text(value) for value in row] for row in rows)]
    widths = [max(width(line[column]) for line in table) for column in range(len(headers))]
    flush_left = [header in left for header in headers]
    return "\n".join(_line(line, widths, flush_left) for line in table)


def _line(line: Sequence[str], widths: Sequence[int], flush_left: Sequence[bool]) -> str:
    cells: list[str] = []
    for text, wanted, is_left in zip(line, widths, flush_left, strict=True):
        padding = " " * (wanted - width(text))
        cells.append(text + padding if is_left else padding + text)
    return "  ".join(cells).rstrip()


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _text(value: object) -> str:
    return "–" if value is None else str(value)
