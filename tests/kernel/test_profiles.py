"""The game profiles against the table of docs/rules.md section 2, and that a new one is a row."""

from __future__ import annotations

import pytest

from qisai.kernel.model import FirstRoundMode, System
from qisai.kernel.names import Language
from qisai.kernel.profiles import POINTS_PRESETS, PROFILES, TIE_BREAK_PRESETS, Profile, Unit
from qisai.kernel.regulations_file import parse_regulations, regulations_to_json
from qisai.kernel.tie_breaks import TIE_BREAKS
from qisai.kernel.tournament_file import parse_tournament

GO = ("opponents", "sodos", "direct")
ASSOCIATION = ("opponents", "progressive", "direct")
TABLE = [
    ("xiangqi", "中国象棋", True, "红", "黑", System.SCORE_GROUP, (2, 1, 0, 2), ASSOCIATION, 1),
    ("weiqi", "围棋", True, "黑", "白", System.SCORE_GROUP, (2, 1, 0, 2), GO, 1),
    ("gomoku", "五子棋", True, "黑", "白", System.SCORE_GROUP, (2, 1, 0, 2), GO, 1),
    ("chess", "国际象棋", True, "白", "黑", System.SCORE_GROUP, (2, 1, 0, 2), ("bh_c1", "bh", "sb_fide", "direct"), 1),
    ("shengji", "升级", False, "左座", "右座", System.DRAW_NUMBER, (4, 2, 0, 4), ASSOCIATION, 2),
    ("tuolaji", "拖拉机", False, "左座", "右座", System.DRAW_NUMBER, (4, 2, 0, 4), ASSOCIATION, 2),
    ("poker_team", "扑克", False, "左座", "右座", System.DRAW_NUMBER, (4, 2, 0, 4), ASSOCIATION, 0),
]


@pytest.mark.parametrize(("code", "name", "first_move", "first", "second", "system", "points", "ties", "size"), TABLE)
def test_a_profile_is_its_row_of_the_rules(
    code: str,
    name: str,
    first_move: bool,
    first: str,
    second: str,
    system: System,
    points: tuple[int, int, int, int],
    ties: tuple[str, ...],
    size: int,
) -> None:
    found = PROFILES[code]
    assert found.names[Language.ZH_HANS] == name
    assert (found.first_move, found.system, found.tie_breaks, found.team_size) == (first_move, system, ties, size)
    assert tuple(side[Language.ZH_HANS] for side in found.sides) == (first, second)
    assert (found.points.win, found.points.draw, found.points.loss, found.points.bye) == points
    assert (found.unit is Unit.INDIVIDUAL) == first_move


def test_the_table_is_complete() -> None:
    assert list(PROFILES) == [row[0] for row in TABLE]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_every_text_of_a_profile_exists_in_every_language(profile: Profile) -> None:
    for names in (profile.names, *profile.sides, profile.board):
        assert all(names[language] for language in Language)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_the_regulations_a_profile_proposes_are_valid(profile: Profile) -> None:
    regulations = profile.regulations()
    assert parse_regulations(regulations_to_json(regulations)) == regulations
    expected = FirstRoundMode.FOLD if profile.system is System.SCORE_GROUP else FirstRoundMode.SYSTEM
    assert regulations.first_round.mode is expected


def test_every_preset_names_known_tie_breaks_and_whole_half_points() -> None:
    assert all(code in TIE_BREAKS for codes in TIE_BREAK_PRESETS.values() for code in codes)
    for preset in POINTS_PRESETS.values():
        assert preset.bye == preset.win > preset.draw > preset.loss == 0


def test_every_tie_break_has_a_name_in_every_language() -> None:
    for criterion in TIE_BREAKS.values():
        assert all(criterion.names[language] for language in Language), criterion.code


def test_a_new_game_is_a_row_of_data() -> None:
    checkers = Profile(
        code="checkers",
        names=PROFILES["chess"].names,
        unit=Unit.INDIVIDUAL,
        first_move=True,
        sides=PROFILES["weiqi"].sides,
        board=PROFILES["chess"].board,
        system=System.SCORE_GROUP,
        points=POINTS_PRESETS["2-1-0"],
        tie_breaks=("opponents", "sosos"),
    )
    obj = {"format": "qisai.tournament/1", "regulations": {"profile": "checkers"}, "entrants": []}
    found = parse_tournament(obj, profiles={**PROFILES, "checkers": checkers}).regulations
    assert (found.profile, found.points.win, found.tie_breaks) == ("checkers", 4, ("opponents", "sosos"))
