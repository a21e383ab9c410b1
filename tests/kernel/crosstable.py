"""Tournaments in one line per entrant, so that a test reads like a crosstable.

A cell is opponent, side (w first, b second) and outcome: `4w1` won as first against 4, `2b=` drew, `1b0` lost,
`5w+` and `4b-` won and lost by forfeit, `4wX` both forfeited, `4wV` void, `4wA` adjourned, `4w?` not reported.
Byes: `U` pairing, `H` half, `F` full, `Z` zero, `-` absent (left out). Each board is written on both lines.
"""

from __future__ import annotations

from typing import Any

from qisai.kernel.model import Board, Bye, ByeKind, Entrant, Regulations, Result, Round, Tournament

BYES = {"U": ByeKind.PAIRING, "H": ByeKind.HALF, "F": ByeKind.FULL, "Z": ByeKind.ZERO}
OUTCOMES = {
    "w1": Result.FIRST_WIN,
    "w0": Result.SECOND_WIN,
    "w=": Result.DRAW,
    "w+": Result.SECOND_FORFEIT,
    "w-": Result.FIRST_FORFEIT,
    "wX": Result.DOUBLE_FORFEIT,
    "wV": Result.VOID,
    "wA": Result.ADJOURNED,
    "w?": None,
}
MIRROR = {"1": "0", "0": "1", "+": "-", "-": "+"}


def tournament(
    table: str, *, tie_breaks: tuple[str, ...] = (), seeds: dict[int, int] | None = None, **settings: Any
) -> Tournament:
    """The tournament of a table with lines `number: cell cell …`; `settings` are other regulations."""
    rows = {}
    for line in filter(None, (line.strip() for line in table.strip().splitlines())):
        number, cells = line.split(":")
        rows[int(number)] = cells.split()
    lengths = {len(cells) for cells in rows.values()}
    assert len(lengths) == 1, "every line needs the same number of rounds"
    return Tournament(
        regulations=Regulations(tie_breaks=tie_breaks, **settings),
        entrants=tuple(Entrant(number=number, seed=(seeds or {}).get(number)) for number in rows),
        rounds=tuple(_round(rows, k) for k in range(lengths.pop())),
    )


def _round(rows: dict[int, list[str]], k: int) -> Round:
    boards: list[Board] = []
    byes: list[Bye] = []
    for number, cells in rows.items():
        cell = cells[k]
        if cell in BYES:
            byes.append(Bye(entrant=number, kind=BYES[cell]))
        elif cell != "-":
            opponent, side, outcome = int(cell[:-2]), cell[-2], cell[-1]
            other = rows[opponent][k]
            assert other == f"{number}{'b' if side == 'w' else 'w'}{MIRROR.get(outcome, outcome)}", (number, k, other)
            if side == "w":
                boards.append(
                    Board(board=len(boards) + 1, first=number, second=opponent, result=OUTCOMES["w" + outcome])
                )
    return Round(number=k + 1, boards=tuple(boards), byes=tuple(byes))


def values(found: Any, code: str) -> dict[int, float | None]:
    """The column of a criterion as points (or counts), by number."""
    scale = int(found.scale(code))
    column: dict[int, float | None] = {}
    for row in found.rows:
        value = row.points if code == "points" else row.values[code]
        column[row.number] = None if value is None else value / scale
    return column


def ranks(found: Any) -> dict[int, int]:
    """Rank of each entrant by number."""
    return {row.number: row.rank for row in found.rows}
