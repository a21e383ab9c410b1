"""Crosstable, one entrant's history and prizes as the API shows them. Points are decimals, as in the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qisai.client.reading import Json
from qisai.client.rounds import Player, Standings, StandingsRow
from qisai.kernel.crosstable import Fate
from qisai.kernel.model import ByeKind, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCell:
    """One round of one entrant. Without an opponent: `bye`; `result` None on a board: not reported yet.

    `side` is `first` or `second` as played, None where the game shows none; `fate`: the result as the entrant sees it.
    """

    round: int
    opponent: int | None
    side: str | None
    result: Result | None
    fate: Fate | None
    bye: ByeKind | None
    points: float

    @classmethod
    def from_json(cls, body: Json) -> RoundCell:
        """From the API's object."""
        opponent = body["opponent"]
        return cls(
            round=body["round"],
            opponent=opponent["number"] if isinstance(opponent, Mapping) else opponent,
            side=body["side"],
            result=None if body["result"] is None else Result(body["result"]),
            fate=None if body["fate"] is None else Fate(body["fate"]),
            bye=None if body["bye"] is None else ByeKind(body["bye"]),
            points=body["points"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrosstableRow:
    """A place of the standings with its rounds; cells and `adjustment` add up to its points."""

    place: StandingsRow
    cells: tuple[RoundCell, ...]
    adjustment: float

    @classmethod
    def from_json(cls, body: Json) -> CrosstableRow:
        """From the API's object."""
        return cls(
            place=StandingsRow.from_json(body),
            cells=tuple(RoundCell.from_json(cell) for cell in body["cells"]),
            adjustment=body["adjustment"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosstable:
    """All rounds of all entrants, ranked. `sides`: whether the game shows who moved first."""

    after: int
    criteria: tuple[str, ...]
    sides: bool
    rows: tuple[CrosstableRow, ...]

    @classmethod
    def from_json(cls, body: Json) -> Crosstable:
        """From the API's object."""
        return cls(
            after=body["after"],
            criteria=tuple(criterion["code"] for criterion in body["criteria"]),
            sides=body["sides"],
            rows=tuple(CrosstableRow.from_json(row) for row in body["rows"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRound:
    """One round in an entrant's history: the opponent by name, and the total after it."""

    cell: RoundCell
    opponent: Player | None
    total: float

    @classmethod
    def from_json(cls, body: Json) -> HistoryRound:
        """From the API's object."""
        opponent = body["opponent"]
        return cls(
            cell=RoundCell.from_json(body),
            opponent=None if opponent is None else Player.from_json(opponent),
            total=body["total"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One entrant's rounds up to `after`, and where they led."""

    after: int
    sides: bool
    place: StandingsRow
    adjustment: float
    rounds: tuple[HistoryRound, ...]

    @classmethod
    def from_json(cls, body: Json) -> History:
        """From the API's object."""
        return cls(
            after=body["after"],
            sides=body["sides"],
            place=StandingsRow.from_json(body),
            adjustment=body["adjustment"],
            rounds=tuple(HistoryRound.from_json(round_) for round_ in body["rounds"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeRow:
    """A member of a category: `place` among its members, beside the row of the whole table."""

    place: int
    row: StandingsRow


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeTable:
    """The members of a category in the order of the standings. `category`: what they have in common."""

    table: Standings
    category: Mapping[str, Any]
    rows: tuple[PrizeRow, ...]

    @classmethod
    def from_json(cls, body: Json) -> PrizeTable:
        """From the API's object; without a category it is the whole table."""
        table = Standings.from_json(body)
        places = [row.get("category_rank", row["rank"]) for row in body["rows"]]
        return cls(
            table=table,
            category=body.get("category") or {},
            rows=tuple(PrizeRow(place=place, row=row) for place, row in zip(places, table.rows, strict=True)),
        )
