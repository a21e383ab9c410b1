"""Rounds, boards, standings and logs as the API shows them. Points are decimals, as in the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from qisai.client.reading import Json, moment
from qisai.kernel.model import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """An entrant at a board or with a bye, or a row of standings."""

    entrant_id: int | None
    number: int
    name: str
    club: str = ""
    seed: int | None = None
    members: tuple[str, ...] = ()
    """Of a team, where the answer lists them."""

    @classmethod
    def from_json(cls, body: Json) -> Player:
        """From the API's object."""
        return cls(
            entrant_id=body.get("entrant_id"),
            number=body["number"],
            name=body.get("name") or "",
            club=body.get("club") or "",
            seed=body.get("seed"),
            members=tuple(body.get("members") or ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ByeView:
    """An entrant without a board in a round; `kind` as in rules.md section 1."""

    player: Player
    kind: str

    @classmethod
    def from_json(cls, body: Json) -> ByeView:
        """From the API's object."""
        return cls(player=Player.from_json(body.get("entrant") or body), kind=body["kind"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockView:
    """The clock of a round at the server's time `now`: count on from there."""

    runs: bool
    left_seconds: float
    ends_at: datetime | None
    now: datetime | None

    @classmethod
    def from_json(cls, body: Json) -> ClockView:
        """From the API's object."""
        return cls(
            runs=body["runs"],
            left_seconds=body["left_seconds"],
            ends_at=moment(body.get("ends_at")),
            now=moment(body.get("now")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundView:
    """A round. `reported` counts the boards with a result."""

    number: int
    state: str
    version: int
    published_at: datetime | None = None
    closed_at: datetime | None = None
    boards: int = 0
    reported: int = 0
    byes: tuple[ByeView, ...] = ()
    clock: ClockView | None = None

    @classmethod
    def from_json(cls, body: Json) -> RoundView:
        """From the API's object."""
        boards = body.get("boards") or 0
        byes = body.get("byes") or ()
        return cls(
            number=body["number"],
            state=body["state"],
            version=body["version"],
            published_at=moment(body.get("published_at")),
            closed_at=moment(body.get("closed_at")),
            boards=boards if isinstance(boards, int) else len(boards),
            reported=body.get("reported") or 0,
            clock=None if body.get("clock") is None else ClockView.from_json(body["clock"]),
            byes=tuple(ByeView.from_json(bye) for bye in byes) if not isinstance(byes, int) else (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardView:
    """A board of a published round. `result` None: not reported yet; with `swapped` it speaks of sides as played."""

    id: int
    number: int
    first: Player
    second: Player
    result: Result | None
    version: int
    swapped: bool = False
    note: str = ""
    updated_at: datetime | None = None
    updated_by: str = ""

    @classmethod
    def from_json(cls, body: Json) -> BoardView:
        """From the API's object."""
        result = body.get("result")
        return cls(
            id=body["id"],
            number=body["number"],
            first=Player.from_json(body["first"]),
            second=Player.from_json(body["second"]),
            result=None if result is None else Result(result),
            version=body["version"],
            swapped=body.get("swapped", False),
            note=body.get("note") or "",
            updated_at=moment(body.get("updated_at")),
            updated_by=body.get("updated_by") or "",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Boards:
    """All boards of a round with its byes, in order of board numbers."""

    items: tuple[BoardView, ...]
    byes: tuple[ByeView, ...] = ()

    @classmethod
    def from_json(cls, body: Json) -> Boards:
        """From the API's object."""
        return cls(
            items=tuple(BoardView.from_json(board) for board in body["items"]),
            byes=tuple(ByeView.from_json(bye) for bye in body.get("byes") or ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingsRow:
    """One place. Equal on all criteria means equal `rank`. `values`: criterion → decimal, None where it has none."""

    rank: int
    player: Player
    points: float
    values: Mapping[str, float | None]
    withdrawn: bool = False

    @classmethod
    def from_json(cls, body: Json) -> StandingsRow:
        """From the API's object."""
        return cls(
            rank=body["rank"],
            player=Player.from_json(body),
            points=body["points"],
            values=body.get("values") or {},
            withdrawn=bool(body.get("withdrawn") or body.get("withdrawn_from")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """The table after a round. `criteria` are codes in the order in which they decide."""

    after: int
    criteria: tuple[str, ...]
    rows: tuple[StandingsRow, ...]

    @classmethod
    def from_json(cls, body: Json) -> Standings:
        """From the API's object."""
        return cls(
            after=body["after"],
            criteria=tuple(c["code"] if isinstance(c, Mapping) else str(c) for c in body["criteria"]),
            rows=tuple(StandingsRow.from_json(row) for row in body["rows"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardLog:
    """Every change of a board, and every result that was refused because it saw an older version."""

    changes: tuple[Json, ...]
    conflicts: tuple[Json, ...]

    @classmethod
    def from_json(cls, body: Json) -> BoardLog:
        """From the API's object."""
        return cls(changes=tuple(body["items"]), conflicts=tuple(body.get("conflicts") or ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """Points that the chief referee gave, or took (below 0), counted in standings after `after_round` and later."""

    id: int
    entrant: Player
    points: float
    after_round: int
    reason: str
    made_by: str
    version: int
    made_at: datetime | None = None
    taken_back_at: datetime | None = None
    taken_back_by: str | None = None
    taken_back_reason: str | None = None

    @classmethod
    def from_json(cls, body: Json) -> Adjustment:
        """From the API's object."""
        return cls(
            id=body["id"],
            entrant=Player.from_json(body["entrant"]),
            points=body["points"],
            after_round=body["after_round"],
            reason=body["reason"],
            made_by=body["made_by"],
            version=body["version"],
            made_at=moment(body.get("made_at")),
            taken_back_at=moment(body.get("taken_back_at")),
            taken_back_by=body.get("taken_back_by"),
            taken_back_reason=body.get("taken_back_reason"),
        )
