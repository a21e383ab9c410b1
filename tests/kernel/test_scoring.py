"""What results and byes are worth, for pairing and for standings."""

from __future__ import annotations

import pytest

from qisai.kernel.model import ByeKind, Points, Result
from qisai.kernel.outcomes import (
    BYE_AWARDS,
    OUTCOMES,
    bye_half_points,
    gives_side,
    is_forfeit_win,
    is_meeting,
    over_the_board,
    pairing_half_points,
    standing_half_points,
)
from qisai.kernel.scoring import pairing_scores, running_pairing_scores, standing_scores
from tests.kernel.crosstable import tournament

UNUSUAL = Points(win=6, draw=3, loss=1, bye=4)


def test_every_result_and_bye_has_a_meaning() -> None:
    assert set(OUTCOMES) == set(Result)
    assert set(BYE_AWARDS) == set(ByeKind)


@pytest.mark.parametrize(
    ("result", "standing", "pairing"),
    [
        (Result.FIRST_WIN, (6, 1), (6, 1)),
        (Result.SECOND_WIN, (1, 6), (1, 6)),
        (Result.DRAW, (3, 3), (3, 3)),
        (Result.FIRST_FORFEIT, (0, 6), (0, 6)),
        (Result.SECOND_FORFEIT, (6, 0), (6, 0)),
        (Result.DOUBLE_FORFEIT, (0, 0), (0, 0)),
        (Result.ADJOURNED, (0, 0), (3, 3)),
        (Result.VOID, (0, 0), (0, 0)),
        (None, (0, 0), (0, 0)),
    ],
)
def test_a_result_is_worth(result: Result | None, standing: tuple[int, int], pairing: tuple[int, int]) -> None:
    assert standing_half_points(result, UNUSUAL) == standing
    assert pairing_half_points(result, UNUSUAL) == pairing


@pytest.mark.parametrize(("kind", "worth"), [("pairing", 4), ("half", 3), ("full", 6), ("zero", 0), ("absent", 0)])
def test_a_bye_is_worth(kind: str, worth: int) -> None:
    assert bye_half_points(ByeKind(kind), UNUSUAL) == worth


def test_only_games_over_the_board_give_a_side_and_adjourned_ones_do() -> None:
    played = {Result.FIRST_WIN, Result.SECOND_WIN, Result.DRAW, Result.ADJOURNED}
    assert {result for result in Result if gives_side(result)} == played
    assert {result for result in Result if over_the_board(result)} == played
    assert not gives_side(None)


def test_forfeits_count_as_met_only_where_the_event_says_so_and_void_never() -> None:
    forfeits = {Result.FIRST_FORFEIT, Result.SECOND_FORFEIT, Result.DOUBLE_FORFEIT}
    plain = {result for result in Result if is_meeting(result, forfeit_counts_as_met=False)}
    switched = {result for result in Result if is_meeting(result, forfeit_counts_as_met=True)}
    assert plain == {Result.FIRST_WIN, Result.SECOND_WIN, Result.DRAW, Result.ADJOURNED}
    assert switched == plain | forfeits
    assert not is_meeting(None, forfeit_counts_as_met=True)


def test_a_forfeit_is_won_by_the_side_that_came() -> None:
    assert is_forfeit_win(Result.SECOND_FORFEIT, first=True)
    assert is_forfeit_win(Result.FIRST_FORFEIT, first=False)
    assert not is_forfeit_win(Result.FIRST_FORFEIT, first=True)
    assert not is_forfeit_win(Result.DOUBLE_FORFEIT, first=True)
    assert not is_forfeit_win(None, first=True)


EVENT = tournament("""
    1: 2w1 3b= U
    2: 1b0 H   3wA
    3: 4wV 1w= 2bA
    4: 3bV -   Z
""")


def test_scores_before_each_round() -> None:
    assert running_pairing_scores(EVENT) == [
        {1: 0, 2: 0, 3: 0, 4: 0},
        {1: 2, 2: 0, 3: 0, 4: 0},
        {1: 3, 2: 1, 3: 1, 4: 0},
        {1: 5, 2: 2, 3: 2, 4: 0},
    ]
    assert pairing_scores(EVENT, before=3) == {1: 3, 2: 1, 3: 1, 4: 0}


def test_an_adjourned_game_is_a_draw_for_pairing_and_nothing_in_standings() -> None:
    assert pairing_scores(EVENT) == {1: 5, 2: 2, 3: 2, 4: 0}
    assert standing_scores(EVENT) == {1: 5, 2: 1, 3: 1, 4: 0}
    assert standing_scores(EVENT, before=1) == {1: 0, 2: 0, 3: 0, 4: 0}


def test_a_round_that_is_not_given_has_no_scores() -> None:
    for before in (0, 5):
        with pytest.raises(ValueError, match="rounds are given"):
            standing_scores(EVENT, before=before)
