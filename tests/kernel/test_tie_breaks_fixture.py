"""The fixture table of docs/rules.md section 9, every cell, and what its arithmetic says."""

from __future__ import annotations

import pytest

from qisai.kernel.standings import standings
from qisai.kernel.tie_breaks import TIE_BREAKS
from qisai.kernel.tie_breaks.criterion import Reason
from tests.kernel.crosstable import tournament, values

TABLE = """
    1: 4w1 2b= 3w1 6w1
    2: 5b1 1w= 6b1 4w1
    3: 6w1 H   1b0 U
    4: 1b0 5w+ U   2b0
    5: 2w0 4b- Z   Z
    6: 3b0 U   2w0 1b0
"""
EXPECTED = {
    "points": (3.5, 3.5, 2.5, 2, 0, 1),
    "bh": (9, 7.5, 8.5, 10, 3.5, 10.5),
    "bh_c1": (8, 6.5, 6.5, 9, 3.5, 9.5),
    "bh_c2": (6, 5.5, 5.5, 7, 3.5, 7),
    "bh_m1": (4.5, 3, 3, 5.5, 0, 6),
    "sb_fide": (7.25, 5.75, 4, 3, 0, 1),
    "progressive": (8.5, 8.5, 6.5, 5, 0, 3),
    "wins": (3, 3, 2, 2, 0, 1),
    "wins_played": (3, 3, 1, 0, 0, 0),
    "opponents": (9, 6.5, 4.5, 7, 3.5, 9.5),
    "sodos": (7.25, 4.75, 1, 0, 0, 0),
}
ALL = tuple(TIE_BREAKS)


@pytest.mark.parametrize("code", EXPECTED)
def test_the_fixture_table_comes_out_cell_by_cell(code: str) -> None:
    found = standings(tournament(TABLE, tie_breaks=ALL))
    assert values(found, code) == dict(enumerate(EXPECTED[code], start=1))


@pytest.mark.parametrize("code", [code for code in ("points", *ALL) if code not in ("aro", "direct", "lots")])
def test_the_counted_terms_add_up_to_the_value(code: str) -> None:
    found = standings(tournament(TABLE, tie_breaks=ALL))
    scale = int(found.scale(code))
    for number, value in values(found, code).items():
        terms = found.arithmetic(number, code)
        assert sum(term.value for term in terms if term.counted) / scale == value


def test_a_cut_takes_the_voluntarily_unplayed_round_before_a_lower_value() -> None:
    found = standings(tournament(TABLE, tie_breaks=ALL))
    lines = found.arithmetic(3, "bh_c1")
    dropped = [line for line in lines if not line.counted]
    assert [(line.round, line.value, line.reason, line.code) for line in dropped] == [
        (2, 4, Reason.DUMMY_VOLUNTARY, "half")
    ]
    assert min(line.value for line in lines) == 2, "a lower value stays in"


def test_the_dummy_of_a_forfeit_is_capped_at_the_scheduled_opponents_adjusted_score() -> None:
    found = standings(tournament(TABLE, tie_breaks=ALL))
    forfeit = next(line for line in found.arithmetic(4, "bh") if line.round == 2)
    assert (forfeit.value, forfeit.opponent, forfeit.reason) == (2, 5, Reason.DUMMY), (
        "entrant 5 counts 1 point as an opponent: two zero byes at the end are draws"
    )


def test_the_dummy_of_a_bye_is_capped_at_a_draw_in_every_round() -> None:
    found = standings(tournament("1: 2w1 3b1 U\n2: 1b0 H 3w1\n3: U 1w0 2b0", tie_breaks=("bh",)))
    bye = next(line for line in found.arithmetic(1, "bh") if line.round == 3)
    assert bye.value == 3, "1 has 3 points, but three rounds of draws are 1.5"


def test_a_requested_bye_before_a_played_round_keeps_its_points_and_at_the_end_it_is_a_draw() -> None:
    found = standings(tournament("1: 2w1 2b1\n2: 1b0 1w0\n3: Z 4w0\n4: U 3b1", tie_breaks=("bh",)))
    assert values(found, "bh")[4] == 0 + 1, "3 lost after a zero bye: 0; the dummy of 4's own bye is 1"
    found = standings(tournament("1: 2w1 -\n2: 1b0 -\n3: 4w0 Z\n4: 3b1 U", tie_breaks=("bh",)))
    assert values(found, "bh")[4] == 0.5 + 1, "3's zero bye at the end counts as a draw"
    assert values(found, "bh")[1] == 0.5 + 1, "so does an absence"


def test_void_games_are_unplayed_rounds_of_the_other_kind() -> None:
    found = standings(tournament("1: 2wV 3b1\n2: 1bV Z\n3: U 1w0", tie_breaks=("bh", "bh_c1", "sb_fide")))
    line = found.arithmetic(1, "bh")[0]
    assert (line.value, line.reason, line.code) == (2, Reason.DUMMY, "void")
    assert values(found, "sb_fide")[1] == 1, "the void game itself scored nothing"
