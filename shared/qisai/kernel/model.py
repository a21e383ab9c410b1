"""Values of the kernel: a tournament, a draw, and what they consist of.

Pure data, frozen; no clock, no database, no randomness. All scores are integers in half-points (a win of one point is
2). Entrants are named by their number everywhere. The JSON forms are in `tournament_file` and `draw_file`; the rules
that give the values meaning are quoted, where they are applied, from docs/rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

ALGORITHM: Final = "qisai/1"
"""Version of the pairing rules, stored in every draw; it changes whenever any draw could come out differently."""


class Result(StrEnum):
    """What a board reported. Not reported yet is `None`, never a member. `FIRST_FORFEIT`: the first side forfeits."""

    FIRST_WIN = "first_win"
    SECOND_WIN = "second_win"
    DRAW = "draw"
    FIRST_FORFEIT = "first_forfeit"
    SECOND_FORFEIT = "second_forfeit"
    DOUBLE_FORFEIT = "double_forfeit"
    ADJOURNED = "adjourned"
    VOID = "void"


class ByeKind(StrEnum):
    """Why an entrant has no board: odd field, requested half or full point, zero points, or absent."""

    PAIRING = "pairing"
    HALF = "half"
    FULL = "full"
    ZERO = "zero"
    ABSENT = "absent"


class System(StrEnum):
    """Pairing systems. A system is a list of criteria: see `pairing.systems`."""

    SCORE_GROUP = "score_group"
    DRAW_NUMBER = "draw_number"
    ROUND_ROBIN = "round_robin"


class Direction(StrEnum):
    """`draw_number` only: Z orders a group by number, up in odd rounds and down in even ones; U the reverse."""

    Z = "Z"
    U = "U"


class WithinGroup(StrEnum):
    """Order inside a score group: the ideal partner of place i."""

    ADJACENT = "adjacent"
    FOLD = "fold"
    SLIDE = "slide"


class SidePriority(StrEnum):
    """Where criterion 3 (`side_breaches`) stands: before the score criteria, or behind `cross_pairs`."""

    OVER_SCORE = "over_score"
    UNDER_SCORE = "under_score"


class FirstRoundMode(StrEnum):
    """How round 1 is paired (rules.md section 5)."""

    SYSTEM = "system"
    FOLD = "fold"
    SLIDE = "slide"
    ADJACENT = "adjacent"
    RANDOM = "random"


class CompensationKind(StrEnum):
    """What a round without a met opponent adds to `opponents`."""

    ZERO = "zero"
    LOWEST = "lowest"
    FIXED = "fixed"


class LateEntry(StrEnum):
    """The bye a late entrant gets for each round before entering."""

    ZERO = "zero"
    HALF = "half"


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Half-points for a win, a draw, a loss over the board, and the pairing bye."""

    win: int = 2
    draw: int = 1
    loss: int = 0
    bye: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRound:
    """First-round regulations. `avoid_same_club` puts `club_pairs` before `order` in round 1."""

    mode: FirstRoundMode = FirstRoundMode.FOLD
    avoid_same_club: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ByeCompensation:
    """`points` (half-points) only with kind `fixed`."""

    kind: CompensationKind = CompensationKind.ZERO
    points: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Budgets of the search as counts, never seconds; `None` takes the default by size of the field."""

    max_depth: int | None = None
    max_steps: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Regulations:
    """Everything an event may set about pairing, scoring and standings. Defaults are those of docs/rules.md."""

    profile: str | None = None
    system: System = System.SCORE_GROUP
    direction: Direction = Direction.Z
    within_group: WithinGroup = WithinGroup.ADJACENT
    first_move: bool = True
    balance_sides: bool = True
    seat_balance: bool = False
    side_priority: SidePriority = SidePriority.OVER_SCORE
    first_round: FirstRound = field(default_factory=FirstRound)
    lot_seed: int = 0
    allow_bye: bool = True
    points: Points = field(default_factory=Points)
    bye_compensation: ByeCompensation = field(default_factory=ByeCompensation)
    late_entry: LateEntry = LateEntry.ZERO
    rounds: int | None = None
    forfeit_counts_as_met: bool = False
    tie_breaks: tuple[str, ...] = ("opponents", "progressive", "direct")
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """Who is paired. `withdrawn_from: r` means not paired in round r or later. `seed` is a rating."""

    number: int
    name: str = ""
    club: str = ""
    seed: int | None = None
    withdrawn_from: int | None = None
    fixed_board: int | None = None
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenPair:
    """Two entrants (smaller number first) who must not meet in rounds `from_round` … `to_round` (None: to the end)."""

    entrants: tuple[int, int]
    from_round: int = 1
    to_round: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A board of a past round. `result` None: not reported yet."""

    board: int
    first: int
    second: int
    result: Result | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bye:
    """An entrant without a board in a round."""

    entrant: int
    kind: ByeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A past round. An entrant missing from both lists had an `absent` bye."""

    number: int
    boards: tuple[Board, ...] = ()
    byes: tuple[Bye, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """Points that the chief referee gave an entrant (below 0: took), in half-points, counted from `after_round` on.

    They move the place in standings only: neither pairing nor any tie-break reads them (docs/rules.md section 9).
    """

    entrant: int
    half_points: int
    after_round: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRound:
    """Who will not be paired in the round to draw: absent, or with a requested bye (`half`, `full`, `zero`)."""

    round: int
    absent: tuple[int, ...] = ()
    byes: tuple[Bye, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tournament:
    """One event as the kernel sees it: regulations, field, history. `next` is None in a file of a finished event."""

    regulations: Regulations = field(default_factory=Regulations)
    entrants: tuple[Entrant, ...] = ()
    forbidden_pairs: tuple[ForbiddenPair, ...] = ()
    lots: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    rounds: tuple[Round, ...] = ()
    next: NextRound | None = None
    algorithm: str = ALGORITHM
    adjustments: tuple[Adjustment, ...] = ()

    @property
    def next_round(self) -> int:
        """Number of the round to draw."""
        return len(self.rounds) + 1


class Stage(StrEnum):
    """What produced a draw."""

    FIRST_ROUND = "first_round"
    SEARCH = "search"
    OPTIMAL = "optimal"


class Source(StrEnum):
    """Where a draw came from: this computation, an earlier draw given again, or a person."""

    COMPUTED = "computed"
    REUSED = "reused"
    EDITED = "edited"
    MANUAL = "manual"


class LookAhead(StrEnum):
    """Whether a continuation of legal draws was looked for in a small field, and what came of it."""

    NONE = "none"
    KEPT = "kept"
    EXCLUDED = "excluded"
    OPEN = "open"
    """It was not looked for yet: the first draw of all, which has to come at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBoard:
    """A board of a draw: no result yet."""

    board: int
    first: int
    second: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A complete pairing of one round, with its whole cost, so that anyone can see what it cost.

    `cost` maps criterion names, in the order of the system, to integers (half-points where they are scores).
    `proven` lists the criteria whose value is proven to be the best possible given those before them.
    """

    round: int
    boards: tuple[DrawnBoard, ...]
    bye: int | None
    cost: Mapping[str, int]
    cross_cap: int
    optimal: bool
    proven: tuple[str, ...]
    relaxed: tuple[str, ...] = ()
    look_ahead: LookAhead = LookAhead.NONE
    stage: Stage = Stage.SEARCH
    source: Source = Source.COMPUTED
    budget_used: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    edits: tuple[Mapping[str, Any], ...] = ()
    tournament_sha256: str = ""
    algorithm: str = ALGORITHM
    flags: tuple[Mapping[str, Any], ...] = ()
    """Notes for the referee, as data: fixed boards that clashed, and the like."""
