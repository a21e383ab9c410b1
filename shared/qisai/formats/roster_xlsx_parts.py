"""What the parts of a spreadsheet hold, looked at before a library builds objects of it.

A few kilobytes unpack to millions of elements, and each costs a reader far more than its bytes: they are counted by
what they cost, and refused above what the largest roster needs.
"""

from __future__ import annotations

import io
import lzma
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.parsers.expat import ExpatError, ParserCreate

from openpyxl.utils.cell import column_index_from_string

from qisai.errors import Invalid, TooLarge

MAX_UNPACKED: Final = 40 << 20
"""Bytes of all parts together."""
MAX_PARTS: Final = 500
MAX_COST: Final = 1_500_000
"""Of all parts together, in elements of cells: twenty thousand rows of thirteen columns need 1.2 million."""
MAX_CELLS: Final = 300_000
MAX_DEPTH: Final = 64
MAX_FORMULA: Final = 8192
"""Characters of a formula, as spreadsheets have it."""
MAX_MARK: Final = 128 << 10
"""Bytes of one tag or comment: a reader that is fed by and by starts each anew with every bite."""
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError)
"""What reading a zip raises: ends that do not fit, packed bytes that are none, names that are no text, a password or a
way of packing that this Python does not know."""
_BITE: Final = 64 << 10
_COSTS: Final[Mapping[str, int]] = {**dict.fromkeys(("row", "c", "v", "is", "t"), 1), "si": 3}
_OTHER_COST: Final = 20
"""Elements of styles, rules and names become objects that test themselves: 40 µs each, those of cells 2 µs."""


_MERGED: Final = re.compile("([A-Z]{1,3})([0-9]{1,7}):[A-Z]{1,3}([0-9]{1,7})")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedRows:
    """Rows that a cell of a column reaches over; rows and columns from 1."""

    column: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What is known of a spreadsheet before it is read."""

    has_formulas: bool
    merged: Mapping[str, Sequence[MergedRows]]
    """By part, where cells are merged over several rows."""


def inspect(content: bytes) -> Parts:
    """What the parts hold. Raises `TooLarge` or `Invalid` for what no roster holds.

    Every part is looked at, whatever its name: what a part is read as, the file itself says.
    """
    counted = _Count()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
            if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
                raise unpacks()
            for part in parts:
                _scan(archive, part, counted)
    except _BROKEN as error:
        raise unreadable() from error
    return Parts(has_formulas=counted.has_formulas, merged=counted.merged)


def unpacks() -> TooLarge:
    """The refusal of a spreadsheet that holds more than a roster can need."""
    return TooLarge("roster-unpacks", "The spreadsheet unpacks to more than is taken; import it as CSV.")


def unreadable() -> Invalid:
    """The refusal of what is no spreadsheet."""
    return Invalid(
        "roster-unreadable",
        "This is no spreadsheet that can be read, or a broken one; save it again as XLSX or as “CSV UTF-8”.",
    )


class _Count:
    """What the parts hold together."""

    def __init__(self) -> None:
        self.has_formulas = False
        self.merged: dict[str, list[MergedRows]] = defaultdict(list)
        self._part = ""
        self._cost = 0
        self._cells = 0
        self._depth = 0
        self._is_formula = False
        self._written = 0
        self._longest = 0

    def begin_part(self, name: str) -> None:
        self._part = name
        self._depth = 0
        self._is_formula = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = _local(tag)
        self._depth += 1
        cost = _COSTS.get(name)
        if cost is not None:
            self._cost += cost
            self._cells += name == "c"
        elif name == "f":
            self.has_formulas = self._is_formula = True
        else:  # a value may be a list of ranges, each of them an object
            self._cost += _OTHER_COST * (1 + sum(value.count(" ") for value in attributes.values()))
            if name == "mergeCell":
                self._merge(attributes.get("ref", ""))
        if self._cells > MAX_CELLS or self._depth > MAX_DEPTH:
            raise unpacks()
        self._refuse_above()

    def _merge(self, cells: str) -> None:
        """Takes note of `A2:B5`."""
        match = _MERGED.fullmatch(cells)
        if match is not None and int(match[2]) < int(match[3]):
            column = column_index_from_string(match[1])
            self.merged[self._part].append(MergedRows(column=column, first=int(match[2]), last=int(match[3])))

    def text(self, text: str) -> None:
        if self._is_formula:
            self._written += len(text)

    def end(self, tag: str) -> None:
        self._depth -= 1
        if self._is_formula and _local(tag) == "f":
            self._is_formula = False
            self._longest = max(self._longest, self._written)
            self._written = 0
            # a formula may stand for another one, however long, that is then rewritten for this cell
            self._cost += _OTHER_COST + self._longest // 2
            self._refuse_above()

    def _refuse_above(self) -> None:
        if self._cost > MAX_COST or self._longest > MAX_FORMULA:
            raise unpacks()


def _local(tag: str) -> str:
    return tag.rpartition(":")[2] if ":" in tag else tag


def _refuse_declaration(*_declared: object) -> None:
    """No spreadsheet declares anything; entities that stand for entities are a known attack."""
    raise unreadable()


def _scan(archive: zipfile.ZipFile, part: zipfile.ZipInfo, counted: _Count) -> None:
    """Reads a part as far as it is XML: no reader gets further than this one, which is what they are built on."""
    parser = ParserCreate()
    parser.StartElementHandler = counted.start
    parser.CharacterDataHandler = counted.text
    parser.EndElementHandler = counted.end
    parser.StartDoctypeDeclHandler = _refuse_declaration
    counted.begin_part(part.filename)
    fed = 0
    with archive.open(part) as stream:
        try:
            while bite := stream.read(_BITE):
                parser.Parse(bite, False)
                fed += len(bite)
                if fed - parser.CurrentByteIndex > MAX_MARK:
                    raise unpacks()
        except ExpatError:
            return
