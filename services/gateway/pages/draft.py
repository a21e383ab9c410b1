"""A draft in words: what each pair means, from the rounds before it, worked out by the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qisai.client import DrawView, Player
from qisai.errors import QisaiError
from qisai.kernel import parse_tournament
from qisai.kernel.pairing.field import Field, compile_field


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A drawn board. Scores are points before the round, None where they are not known; `floats`: who meets whom.

    `clash`: both want the same side; `strong`: and neither is balanced.
    """

    board: int
    first: Player
    second: Player
    first_score: float | None = None
    second_score: float | None = None
    clash: bool = False
    strong: bool = False

    @property
    def gap(self) -> float:
        """Difference of their points."""
        if self.first_score is None or self.second_score is None:
            return 0.0
        return abs(self.first_score - self.second_score)


def pairs_of(draw: DrawView, tournament: Mapping[str, Any] | None) -> list[Pair]:
    """The draw's pairs in order of boards. `tournament`: the event as `qisai.tournament/1`, before this round."""
    field = _field(draw, tournament)
    index = {} if field is None else {number: position for position, number in enumerate(field.number)}
    return [_pair(board, field, index) for board in draw.boards]


def _field(draw: DrawView, tournament: Mapping[str, Any] | None) -> Field | None:
    """The field the draw was made for, None where the event has gone on since."""
    if tournament is None:
        return None
    try:
        parsed = parse_tournament(tournament)
        return compile_field(parsed) if parsed.next_round == draw.document.get("round") else None
    except QisaiError:  # past rounds are being corrected right now: the pairs are shown without their meaning
        return None


def _pair(board: Mapping[str, Any], field: Field | None, index: Mapping[int, int]) -> Pair:
    first, second = Player.from_json(board["first"]), Player.from_json(board["second"])
    number = board.get("number") or board["board"]
    if field is None or first.number not in index or second.number not in index:
        return Pair(board=number, first=first, second=second)
    i, j = index[first.number], index[second.number]
    clash = field.balances_sides and field.wish[i] != 0 and field.wish[i] == field.wish[j]
    return Pair(
        board=number,
        first=first,
        second=second,
        first_score=field.score[i] / 2,
        second_score=field.score[j] / 2,
        clash=clash,
        strong=clash and field.surplus[i] != 0 and field.surplus[j] != 0,
    )
