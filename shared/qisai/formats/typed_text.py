"""Text as people type it or paste it from a spreadsheet, made fit to be stored: any script, no invisible characters."""

from __future__ import annotations

import unicodedata
from typing import Final

_INVISIBLE: Final = frozenset(
    chr(code)
    for low, high in (
        (0x00AD, 0x00AD),  # soft hyphen
        (0x180E, 0x180E),
        (0x200B, 0x200F),  # zero-width spaces, joiners, marks of direction
        (0x202A, 0x202E),
        (0x2060, 0x2064),
        (0x2066, 0x206F),
        (0xFEFF, 0xFEFF),  # byte order mark
    )
    for code in range(low, high + 1)
)
"""Two names that look the same must be the same."""


def tidy(text: str) -> str:
    """NFC, without invisible characters, spaces of every width as single ones, none at the ends.

    Digits and letters stay as typed: a name may hold full-width ones on purpose.
    """
    visible = "".join(character for character in text if character not in _INVISIBLE)
    return " ".join(unicodedata.normalize("NFC", visible).split())


def unprintable(text: str) -> str | None:
    """Name of the first character that no column can hold and no page can show, None where all is well."""
    for character in text:
        code = ord(character)
        if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code <= 0xDFFF or code in (0x2028, 0x2029, 0xFFFD):
            return f"U+{code:04X}"
    return None
