"""The tie-breaks that are sums: what each counts, with byes, forfeits and compensation."""

from __future__ import annotations

import pytest

from qisai.kernel.model import ByeCompensation, CompensationKind, Points
from qisai.kernel.standings import standings
from tests.kernel.crosstable import ranks, tournament, values

TABLE = """
    1: 2w1 3b= U   4w+
    2: 1b0 4w1 H   3bX
    3: 4w= 1w= 5b1 2wX
    4: 3b= 2b0 -   1b-
    5: U   Z   3w0 F
"""
"""Points: 3.5, 1.5, 2, 0.5, 2."""


def column(code: str, **settings: object) -> dict[int, float | None]:
    tie_breaks = () if code == "points" else (code,)
    return values(standings(tournament(TABLE, tie_breaks=tie_breaks, **settings)), code)


def test_the_points_of_the_table() -> None:
    assert column("points") == {1: 3.5, 2: 1.5, 3: 2, 4: 0.5, 5: 2}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("opponents", {1: 3.5, 2: 4, 3: 6, 4: 3.5, 5: 2}),
        ("progressive", {1: 1 + 1.5 + 2.5 + 3.5, 2: 0 + 1 + 1.5 + 1.5, 3: 0.5 + 1 + 2 + 2, 4: 2, 5: 1 + 1 + 1 + 2}),
        ("progressive_cut1", {1: 7.5, 2: 4, 3: 5, 4: 1.5, 5: 4}),
        ("wins", {1: 3, 2: 1, 3: 1, 4: 0, 5: 2}),
        ("wins_played", {1: 1, 2: 1, 3: 1, 4: 0, 5: 0}),
        ("second_games", {1: 1, 2: 1, 3: 1, 4: 2, 5: 0}),
        ("second_wins", {1: 0, 2: 0, 3: 1, 4: 0, 5: 0}),
        ("sodos", {1: 1.5 + 1, 2: 0.5, 3: 0.25 + 1.75 + 2, 4: 1, 5: 0}),
        ("sosos", {1: 4 + 6, 2: 3.5 + 3.5, 3: 3.5 + 3.5 + 2, 4: 6 + 4, 5: 6}),
    ],
)
def test_what_each_tie_break_counts(code: str, expected: dict[int, float]) -> None:
    assert column(code) == expected


def test_forfeits_that_count_as_met_bring_the_opponents_score() -> None:
    found = column("opponents", forfeit_counts_as_met=True)
    assert found == {1: 3.5 + 0.5, 2: 4 + 2, 3: 6 + 1.5, 4: 3.5 + 3.5, 5: 2}


def test_a_round_without_a_met_opponent_adds_the_events_compensation() -> None:
    fixed = ByeCompensation(kind=CompensationKind.FIXED, points=3)
    assert column("opponents", bye_compensation=fixed) == {1: 3.5 + 3, 2: 4 + 3, 3: 6 + 1.5, 4: 3.5 + 3, 5: 2 + 4.5}
    lowest = ByeCompensation(kind=CompensationKind.LOWEST)
    assert column("opponents", bye_compensation=lowest) == {1: 3.5 + 1, 2: 4 + 1, 3: 6 + 0.5, 4: 3.5 + 1, 5: 2 + 1.5}


def test_the_lowest_compensation_looks_at_entrants_with_a_played_game_only() -> None:
    table = "1: 2w1 U\n2: 1b0 H\n3: - -"
    lowest = ByeCompensation(kind=CompensationKind.LOWEST)
    found = standings(tournament(table, tie_breaks=("opponents",), bye_compensation=lowest))
    assert values(found, "opponents") == {1: 0.5 + 0.5, 2: 2 + 0.5, 3: 1}, "3 has 0 points and never played"
    nobody = standings(tournament("1: U\n2: -", tie_breaks=("opponents",), bye_compensation=lowest))
    assert values(nobody, "opponents") == {1: 0, 2: 0}


def test_other_points_reach_every_sum() -> None:
    points = Points(win=6, draw=2, loss=0, bye=4)
    assert column("points", points=points) == {1: 3 + 1 + 2 + 3, 2: 3 + 1, 3: 1 + 1 + 3, 4: 1, 5: 2 + 0 + 0 + 3}
    assert column("wins", points=points) == {1: 2, 2: 1, 3: 1, 4: 0, 5: 1}, "a bye worth less than a win is no win"


def test_a_void_game_counts_as_nothing_anywhere() -> None:
    found = standings(
        tournament("1: 2wV\n2: 1bV", tie_breaks=("opponents", "wins", "second_games", "sodos", "sosos", "progressive"))
    )
    for row in found.rows:
        assert set(row.values.values()) == {0}


def test_the_mean_rating_of_opponents_met_over_the_board_rounds_half_up() -> None:
    table = "1: 2w1 3b0 4w+\n2: 1b0 - -\n3: - 1w1 -\n4: - - 1b-"
    found = standings(tournament(table, tie_breaks=("aro",), seeds={1: 1500, 2: 1801, 3: 1800, 4: 2500}))
    assert values(found, "aro") == {1: 1801, 2: 1500, 3: 1500, 4: None}
    unrated = standings(tournament(table, tie_breaks=("aro",), seeds={2: 1800}))
    assert values(unrated, "aro") == {1: 1800, 2: None, 3: None, 4: None}


def test_an_entrant_without_a_value_ranks_behind_those_with_one() -> None:
    found = standings(tournament("1: 2w=\n2: 1b=\n3: H", tie_breaks=("aro",), seeds={1: 0, 2: 1000}))
    assert ranks(found) == {1: 1, 2: 2, 3: 3}


def test_the_lower_lot_ranks_first() -> None:
    event = tournament("1: H\n2: H\n3: H\n4: H", tie_breaks=("lots",))
    drawn = type(event)(
        regulations=event.regulations, entrants=event.entrants, rounds=event.rounds, lots={1: 9, 2: 4, 4: 7}
    )
    assert ranks(standings(drawn)) == {2: 1, 4: 2, 1: 3, 3: 4}
