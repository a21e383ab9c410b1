"""The game profiles as data (docs/rules.md section 2): what drives forms, pairing, scoring and standings of a game.

A profile is a row, never an `if`. The database is seeded from these rows, and an event keeps a frozen copy of its own.
How to add one: docs/how-to/add-a-game-profile.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from qisai.kernel.model import FirstRound, FirstRoundMode, Points, Regulations, System
from qisai.kernel.names import Names, names


class Unit(StrEnum):
    """Who enters: one person, a team of partners at one table, or a team whose members play elsewhere."""

    INDIVIDUAL = "individual"
    PARTNERS = "partners"
    TEAM = "team"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One game: who plays, whether somebody moves first, how sides are called, and the regulations it proposes."""

    code: str
    names: Names
    unit: Unit
    first_move: bool
    sides: tuple[Names, Names]
    """Names of first and second; of the left and right seat where nobody moves first."""
    board: Names
    """What a board is called: board or table."""
    system: System
    points: Points
    tie_breaks: tuple[str, ...]
    team_size: int = 1
    """Members of one entrant; 0 where the regulations of the event say how many."""
    units_per_table: int = 2
    """Entrants that sit at one board or table."""

    def regulations(self) -> Regulations:
        """The regulations this game proposes; everything not said here has the default of docs/rules.md."""
        return Regulations(
            profile=self.code,
            system=self.system,
            first_move=self.first_move,
            points=self.points,
            tie_breaks=self.tie_breaks,
            first_round=FirstRound(mode=default_first_round_mode(self.system)),
        )


def default_first_round_mode(system: System) -> FirstRoundMode:
    """`fold` under `score_group`; every other system pairs round 1 by its own rule (docs/rules.md section 5)."""
    return FirstRoundMode.FOLD if system is System.SCORE_GROUP else FirstRoundMode.SYSTEM


POINTS_PRESETS: Final[Mapping[str, Points]] = MappingProxyType(
    {
        "1-half-0": Points(win=2, draw=1, loss=0, bye=2),
        "2-1-0": Points(win=4, draw=2, loss=0, bye=4),
        "3-1-0": Points(win=6, draw=2, loss=0, bye=6),
    }
)
"""Win, draw, loss that a form offers; any other steps of half a point may be typed in."""

TIE_BREAK_PRESETS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "association": ("opponents", "progressive", "direct"),
        "prc_opponents": ("opponents", "wins", "second_wins", "second_games"),
        "prc_progressive": ("progressive", "wins", "second_wins"),
        "fide": ("bh_c1", "bh", "sb_fide", "direct"),
        "go": ("opponents", "sosos"),
    }
)
"""Lists of tie-breaks after points that a form offers."""

_RED_BLACK = (names("红", "紅", "Red"), names("黑", "黑", "Black"))
_BLACK_WHITE = (names("黑", "黑", "Black"), names("白", "白", "White"))
_WHITE_BLACK = (names("白", "白", "White"), names("黑", "黑", "Black"))
_SEATS = (names("左座", "左座", "Left seat"), names("右座", "右座", "Right seat"))
_BOARD = names("台", "檯", "Board")
_TABLE = names("桌", "桌", "Table")


def _board_game(code: str, title: Names, sides: tuple[Names, Names], tie_breaks: tuple[str, ...]) -> Profile:
    return Profile(
        code=code,
        names=title,
        unit=Unit.INDIVIDUAL,
        first_move=True,
        sides=sides,
        board=_BOARD,
        system=System.SCORE_GROUP,
        points=POINTS_PRESETS["1-half-0"],
        tie_breaks=tie_breaks,
    )


def _card_game(code: str, title: Names, unit: Unit, team_size: int) -> Profile:
    return Profile(
        code=code,
        names=title,
        unit=unit,
        first_move=False,
        sides=_SEATS,
        board=_TABLE,
        system=System.DRAW_NUMBER,
        points=POINTS_PRESETS["2-1-0"],
        tie_breaks=TIE_BREAK_PRESETS["association"],
        team_size=team_size,
    )


_GO_LIKE = ("opponents", "sodos", "direct")
_ROWS: Final[tuple[Profile, ...]] = (
    _board_game("xiangqi", names("中国象棋", "中國象棋", "Xiangqi"), _RED_BLACK, TIE_BREAK_PRESETS["association"]),
    _board_game("weiqi", names("围棋", "圍棋", "Weiqi (Go)"), _BLACK_WHITE, _GO_LIKE),
    _board_game("gomoku", names("五子棋", "五子棋", "Gomoku"), _BLACK_WHITE, _GO_LIKE),
    _board_game("chess", names("国际象棋", "國際象棋", "Chess"), _WHITE_BLACK, TIE_BREAK_PRESETS["fide"]),
    _card_game("shengji", names("升级", "升級", "Shengji"), Unit.PARTNERS, 2),
    _card_game("tuolaji", names("拖拉机", "拖拉機", "Tuolaji"), Unit.PARTNERS, 2),
    _card_game("poker_team", names("扑克", "撲克", "Team poker"), Unit.TEAM, 0),
)

PROFILES: Final[Mapping[str, Profile]] = MappingProxyType({row.code: row for row in _ROWS})
"""Every game by its code."""
