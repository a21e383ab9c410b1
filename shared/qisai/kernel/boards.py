"""Board numbers (docs/rules.md section 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qisai.kernel.model import DrawnBoard


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatedPair:
    """A pair with its sides: entrants' numbers, and their scores in half-points."""

    first: int
    second: int
    first_score: int
    second_score: int


@dataclass(frozen=True, slots=True)
class Numbered:
    """Boards in order of their numbers, and flags for the referee about fixed boards that clashed."""

    boards: tuple[DrawnBoard, ...]
    flags: tuple[Mapping[str, Any], ...]


def number_boards(pairs: Sequence[SeatedPair], fixed: Mapping[int, int]) -> Numbered:
    """Number the boards: higher score, then sum of scores, then smaller number; fixed boards are kept.

    `fixed` maps entrants to their fixed boards. The rest fill the other numbers in order, so a fixed number above the
    count leaves a hole. Two fixed entrants who meet sit at the lower one; of two pairs that want one board the higher
    pair keeps it and the other joins the rest; both are flagged.
    """
    in_order = sorted(pairs, key=_rank)
    taken: dict[int, SeatedPair] = {}
    rest: list[SeatedPair] = []
    flags: list[Mapping[str, Any]] = []
    for pair in in_order:
        wanted = sorted({fixed[entrant] for entrant in (pair.first, pair.second) if entrant in fixed})
        if len(wanted) > 1:
            flags.append({"flag": "fixed_boards_meet", "entrants": sorted((pair.first, pair.second)), "boards": wanted})
        if not wanted:
            rest.append(pair)
        elif wanted[0] in taken:
            rest.append(pair)
            flags.append(_board_taken(wanted[0], keeps=taken[wanted[0]], moves=pair))
        else:
            taken[wanted[0]] = pair
    number = 0
    for pair in rest:
        number += 1
        while number in taken:
            number += 1
        taken[number] = pair
    boards = tuple(
        DrawnBoard(board=board, first=taken[board].first, second=taken[board].second) for board in sorted(taken)
    )
    return Numbered(boards, tuple(flags))


def _rank(pair: SeatedPair) -> tuple[int, int, int]:
    higher = max(pair.first_score, pair.second_score)
    return -higher, -(pair.first_score + pair.second_score), min(pair.first, pair.second)


def _board_taken(board: int, *, keeps: SeatedPair, moves: SeatedPair) -> Mapping[str, Any]:
    return {
        "flag": "fixed_board_taken",
        "board": board,
        "keeps": sorted((keeps.first, keeps.second)),
        "moves": sorted((moves.first, moves.second)),
    }
