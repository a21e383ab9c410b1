"""The crosstable: each entrant's rounds beside the place they led to, in the order of the standings.

It reads the same record as every tie-break, so a row's points and its rounds cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from qisai.kernel.model import ByeKind, Result
from qisai.kernel.outcomes import Award
from qisai.kernel.standings import Standings, StandingsRow
from qisai.kernel.standings_file import row_to_json, value_number
from qisai.kernel.tie_breaks.criterion import Scale
from qisai.kernel.tie_breaks.record import NOT_REPORTED, Cell, Meaning, Record


class Side(StrEnum):
    """Which side of the board the entrant had, as played."""

    FIRST = "first"
    SECOND = "second"


class Fate(StrEnum):
    """What a board's result was for the entrant. Both sides of a double forfeit lost by forfeit."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"
    FORFEIT_WIN = "forfeit_win"
    FORFEIT_LOSS = "forfeit_loss"
    ADJOURNED = "adjourned"
    VOID = "void"


_OVER_THE_BOARD: Final = {Award.WIN: Fate.WIN, Award.DRAW: Fate.DRAW, Award.LOSS: Fate.LOSS}


@dataclass(frozen=True, slots=True, kw_only=True)
class CrosstableCell:
    """One round of one entrant: at a board against an opponent, or without one (`bye`).

    `result` and `fate` None on a board: not reported yet. `points` in half-points, for standings.
    """

    round: int
    opponent: int | None
    side: Side | None
    result: Result | None
    fate: Fate | None
    bye: ByeKind | None
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrosstableRow:
    """A line of the standings with its rounds; `points` of the cells and `adjustment` (half-points) add up to it."""

    place: StandingsRow
    cells: tuple[CrosstableCell, ...]
    adjustment: int


def crosstable(standings: Standings) -> tuple[CrosstableRow, ...]:
    """The rounds counted in the standings, row by row in their order."""
    record = standings.record
    index = {number: i for i, number in enumerate(record.numbers)}
    return tuple(
        CrosstableRow(
            place=row,
            cells=tuple(_cell(record, cell) for cell in record.cells[index[row.number]]),
            adjustment=sum(one.half_points for one in record.adjustments[index[row.number]]),
        )
        for row in standings.rows
    )


def _cell(record: Record, cell: Cell) -> CrosstableCell:
    meaning = cell.meaning
    on_board = cell.opponent is not None
    is_reported = on_board and meaning.code != NOT_REPORTED
    return CrosstableCell(
        round=cell.round,
        opponent=None if cell.opponent is None else record.numbers[cell.opponent],
        side=(Side.SECOND if meaning.second else Side.FIRST) if on_board else None,
        result=Result(meaning.code) if is_reported else None,
        fate=_fate(meaning) if is_reported else None,
        bye=None if on_board else ByeKind(meaning.code),
        points=meaning.points,
    )


def _fate(meaning: Meaning) -> Fate:
    if meaning.forfeit:
        return Fate.FORFEIT_WIN if meaning.award is Award.WIN else Fate.FORFEIT_LOSS
    if not meaning.over_the_board:
        return Fate.VOID
    return _OVER_THE_BOARD[meaning.award] if meaning.decided else Fate.ADJOURNED


def crosstable_to_json(standings: Standings, *, with_sides: bool = True) -> list[dict[str, Any]]:
    """Rows as plain JSON values: those of the standings, with `adjustment` and `cells`.

    Without `with_sides` (games in which nobody moves first) the side of each cell is null.
    """
    return [
        {
            **row_to_json(row.place, standings),
            "adjustment": value_number(row.adjustment, Scale.HALF),
            "cells": [_cell_to_json(cell, with_sides=with_sides) for cell in row.cells],
        }
        for row in crosstable(standings)
    ]


def _cell_to_json(cell: CrosstableCell, *, with_sides: bool) -> dict[str, Any]:
    return {
        "round": cell.round,
        "opponent": cell.opponent,
        "side": cell.side.value if with_sides and cell.side is not None else None,
        "result": None if cell.result is None else cell.result.value,
        "fate": None if cell.fate is None else cell.fate.value,
        "bye": None if cell.bye is None else cell.bye.value,
        "points": value_number(cell.points, Scale.HALF),
    }
