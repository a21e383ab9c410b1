"""`direct`: mini-tables among equals, whole, partial and repeated."""

from __future__ import annotations

from qisai.kernel.model import Points
from qisai.kernel.standings import Standings, standings
from qisai.kernel.tie_breaks.criterion import Reason
from tests.kernel.crosstable import ranks, tournament, values


def direct(table: str, **settings: object) -> Standings:
    return standings(tournament(table, tie_breaks=("direct",), **settings))


def test_of_two_equal_the_winner_of_their_game_is_ahead() -> None:
    found = direct("1: 2w0 3w1\n2: 1b1 4w0\n3: 4w0 1b0\n4: 3b1 2b1")
    assert ranks(found) == {4: 1, 2: 2, 1: 3, 3: 4}
    assert values(found, "direct") == {1: 0, 2: 1, 3: None, 4: None}, "only equals have a mini-table"


def test_a_circle_of_three_stays_equal() -> None:
    found = direct("1: 2w1 3b0 4w1\n2: 1b0 4b1 3w1\n3: 4w1 1w1 2b0\n4: 3b0 2w0 1b0")
    assert ranks(found) == {1: 1, 2: 1, 3: 1, 4: 4}
    assert values(found, "direct") == {1: 1, 2: 1, 3: 1, 4: None}


def test_a_mini_table_splits_and_is_applied_again_to_who_is_still_equal() -> None:
    # All four have 2 points and met each other: the mini-table gives 2, 2, 1, 1; the games 1-2 and 3-4 decide the rest.
    found = direct("""
        1: 2w1 3w0 4w1 - -
        2: 1b0 4b1 3w1 - -
        3: 4w0 1b1 2b0 F -
        4: 3b1 2w0 1b0 F -
    """)
    assert values(found, "points") == dict.fromkeys((1, 2, 3, 4), 2)
    assert values(found, "direct") == {1: 2, 2: 2, 3: 1, 4: 1}
    assert ranks(found) == {1: 1, 2: 2, 4: 3, 3: 4}
    again = [line for line in found.arithmetic(1, "direct") if line.reason is Reason.MINI_TABLE_AGAIN]
    assert [(line.opponent, line.value, line.counted) for line in again] == [(2, 2, False)]


def test_who_has_not_met_everyone_but_is_ahead_whatever_the_missing_results_is_first() -> None:
    # 1 beat 2 and 3; the game 2-3 is missing and can give neither of them two points.
    found = direct("1: 2w1 3b1 - -\n2: 1b0 - F F\n3: - 1w0 F F")
    assert ranks(found) == {1: 1, 2: 2, 3: 2}
    assert values(found, "direct") == {1: 2, 2: None, 3: None}


def test_a_leader_who_could_still_be_caught_is_not_placed_first() -> None:
    found = direct("1: 2w1 - F\n2: 1b0 F F\n3: F F -")
    assert values(found, "points") == {1: 2, 2: 2, 3: 2}
    assert ranks(found) == {1: 1, 2: 1, 3: 1}, "3 met nobody: two missing games might be two wins"
    assert set(values(found, "direct").values()) == {None}


def test_a_missing_game_is_feared_lost_and_a_loss_may_be_worth_something() -> None:
    # In the mini-table 1 has 6 and 1 more even for losing to 3; 3 has 4 and would then have 7: level, not behind.
    found = direct(
        """
        1: 2w1 2b1 -   -   -
        2: 1b0 1w0 3w= 3b= -
        3: -   -   2b= 2w= H
        """,
        points=Points(win=6, draw=4, loss=2, bye=6),
    )
    assert values(found, "points") == {1: 6, 2: 6, 3: 6}
    assert ranks(found) == {1: 1, 2: 1, 3: 1}


def test_after_a_certain_leader_the_rest_are_compared_among_themselves() -> None:
    # 1 beat 2, 3 and 4; of these 2 beat 3 and 4, and 3-4 is missing.
    found = direct("""
        1: 2w1 3w1 4w1 - - - -
        2: 1b0 - - 3w1 4w1 F -
        3: - 1b0 - 2b0 F F F
        4: - - 1b0 F 2b0 F F
    """)
    assert values(found, "points") == dict.fromkeys((1, 2, 3, 4), 3)
    assert ranks(found) == {1: 1, 2: 2, 3: 3, 4: 3}
    assert values(found, "direct") == {1: 3, 2: 2, 3: None, 4: None}


def test_the_arithmetic_of_an_incomplete_table_names_who_was_not_met() -> None:
    # 1 beat 2 twice and has not met 3, who lost to 2 and so cannot reach 1's two points.
    found = direct("""
        1: 2w1 2b1 -   - -
        2: 1b0 1w0 3w1 F -
        3: -   -   2b0 F F
    """)
    assert (ranks(found), values(found, "direct")) == ({1: 1, 2: 2, 3: 3}, {1: 2, 2: 1, 3: 0})
    missing = [(line.opponent, line.counted) for line in found.arithmetic(1, "direct") if line.reason is Reason.NOT_MET]
    assert missing == [(3, False)]


def test_all_mutual_games_count() -> None:
    found = direct("1: 2w1 2b=\n2: 1b0 1w=\n3: - -")
    assert values(found, "points") == {1: 1.5, 2: 0.5, 3: 0}
    found = direct("1: 2w1 2b= -\n2: 1b0 1w= F")
    assert (ranks(found), values(found, "direct")) == ({1: 1, 2: 2}, {1: 1.5, 2: 0.5})


def test_forfeits_void_adjourned_and_unreported_games_are_missing_results() -> None:
    for first, second in (("2w+", "1b-"), ("2wV", "1bV"), ("2wA", "1bA"), ("2w?", "1b?")):
        rest = ("-", "F") if first == "2w+" else ("F", "F")
        found = direct(f"1: {first} {rest[0]}\n2: {second} {rest[1]}")
        assert ranks(found) == {1: 1, 2: 1}, first
        assert values(found, "direct") == {1: None, 2: None}, first


def test_forfeits_stay_missing_where_they_count_as_met() -> None:
    found = direct("1: 2w+ -\n2: 1b- F", forfeit_counts_as_met=True)
    assert values(found, "direct") == {1: None, 2: None}


def test_equal_means_equal_on_everything_before() -> None:
    table = "1: 2w0 3w1\n2: 1b1 4w0\n3: 4w0 1b0\n4: 3b1 2b1"
    found = standings(tournament(table, tie_breaks=("progressive", "direct")))
    assert values(found, "progressive")[2] != values(found, "progressive")[1]
    assert set(values(found, "direct").values()) == {None}
