"""Text as people type it or paste it from a spreadsheet, made fit to be stored: any script, no invisible characters."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_INVISIBLE: Final = frozenset(
    chr(code)
    for low, high in (
        (0x00AD, 0x00AD),  # soft hyphen
        (0x034F, 0x034F),  # combining grapheme joiner
        (0x061C, 0x061C),
        (0x115F, 0x1160),  # Hangul fillers
        (0x17B4, 0x17B5),  # Khmer vowels that nobody sees
        (0x180B, 0x180F),
        (0x200B, 0x200F),  # zero-width spaces, joiners, marks of direction
        (0x202A, 0x202E),
        (0x2060, 0x206F),
        (0xFEFF, 0xFEFF),  # byte order mark
        (0xFFF9, 0xFFFB),
        (0x1BCA0, 0x1BCA3),
        (0x1D173, 0x1D17A),
        (0xE0000, 0xE007F),  # tags
    )
    for code in range(low, high + 1)
)
"""Two names that look the same must be the same. Selectors of variants stay: rare Han need them."""
_UNSEEN: Final = re.compile(f"[{''.join(sorted(_INVISIBLE))}]")
_BLANK: Final = re.compile("[\u2800\u3164\uffa0]")
"""Letters and signs by their kind, but nothing is drawn: a Braille cell without dots, Hangul fillers."""
_SEEN: Final = frozenset("LNPS")
"""First letters of the categories of characters that are drawn by themselves."""
_HAN_PLANES: Final = range(0x20000, 0x3FFFE)
"""Where rare Han stand that this Python may not know yet."""
_HAN: Final = "\u3005\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""They choose the variant of the Han before them."""
_BETWEEN_HAN: Final = re.compile(f"(?<=[{_HAN}{_SELECTORS}])\\s+(?=[{_HAN}])")
_PLAIN: Final = {
    code: code - 0xFEE0
    for low, high in ((0xFF10, 0xFF19), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A))
    for code in range(low, high + 1)
}
"""Digits and letters of full width to those of ASCII."""
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\ufffd]")


def tidy(text: str) -> str:
    """NFC, without invisible characters, spaces of every width as single ones, none at the ends.

    Digits and letters stay as typed; of names of people and clubs `tidy_name` makes plain ones.
    """
    if text.isascii():
        return " ".join(text.split())
    return " ".join(unicodedata.normalize("NFC", _BLANK.sub(" ", _UNSEEN.sub("", text))).split())


def tidy_name(text: str) -> str:
    """As `tidy`, with plain letters and digits for full-width ones, and 陈一 for 陈　一.

    Sheets pad names of two characters with an ideographic space to the width of three: between two Han it goes. Other
    signs of full width stay, and so do ordinary spaces, which part names that are written apart.
    """
    return tidy(text) if text.isascii() else tidy(_BETWEEN_HAN.sub(_spacing, _UNSEEN.sub("", text)).translate(_PLAIN))


def name_key(name: str) -> str:
    """What two spellings of one name have in common: tidy, and no space at all between two Han."""
    return tidy_name(name) if name.isascii() else _BETWEEN_HAN.sub("", tidy_name(name))


def _spacing(between: re.Match[str]) -> str:
    return "" if "\u3000" in between.group() else " "


def full_name(first: str, last: str) -> str:
    """A name that stood in two cells: 欧阳 and 一 are 欧阳一, Ana and Ruiz are Ana Ruiz."""
    is_han = all(re.match(f"[{_HAN}]", part) for part in (first, last))
    return last + first if is_han else f"{first} {last}".strip()


def is_visible(text: str) -> bool:
    """Whether anything is drawn of tidy text: a name of marks that hang on nothing shows as nothing."""
    return any(_is_seen(character) for character in text)


def _is_seen(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in _SEEN or category == "Co" or (category == "Cn" and ord(character) in _HAN_PLANES)


def unprintable(text: str) -> str | None:
    """Name of the first character that no column can hold and no page can show, None where all is well."""
    found = _UNPRINTABLE.search(text)
    return None if found is None else f"U+{ord(found.group()):04X}"


_EMAIL: Final = re.compile(r"[^\s@<>(),;:]+@[^\s@<>(),;:]+\.[^\s@<>(),;:.]{2,}")
_PHONE: Final = re.compile(r"\+?[\d ()/.-]{5,40}(?:x\d{1,6})?")


def email_fits(text: str) -> bool:
    """Whether a message could be sent there: one @ between two parts, a domain with a dot."""
    return _EMAIL.fullmatch(text) is not None


def phone_fits(text: str) -> bool:
    """Whether somebody could be called there: at least five digits and nothing else than marks between them."""
    return _PHONE.fullmatch(text) is not None and sum(character.isdigit() for character in text) >= 5
