"""Section 7: board numbers and fixed boards."""

from qisai.kernel import pair_round
from qisai.kernel.boards import SeatedPair, number_boards
from tests.kernel.short_events import event


def pair(first, second, scores=(0, 0)):
    return SeatedPair(first=first, second=second, first_score=scores[0], second_score=scores[1])


def numbered(pairs, fixed=None):
    result = number_boards(pairs, fixed or {})
    return {board.board: (board.first, board.second) for board in result.boards}, result.flags


def test_higher_score_then_sum_then_smaller_number():
    pairs = [pair(7, 8), pair(3, 9, (2, 2)), pair(5, 4, (2, 2)), pair(6, 1, (1, 4)), pair(2, 10, (4, 0))]
    boards, flags = numbered(pairs)
    assert boards == {1: (6, 1), 2: (2, 10), 3: (3, 9), 4: (5, 4), 5: (7, 8)}
    assert flags == ()


def test_fixed_board_is_kept_and_the_rest_fill_the_other_numbers():
    boards, flags = numbered([pair(1, 2), pair(3, 4), pair(5, 6)], {3: 1})
    assert boards == {1: (3, 4), 2: (1, 2), 3: (5, 6)}
    assert flags == ()


def test_fixed_number_above_the_count_leaves_a_hole():
    assert numbered([pair(1, 2), pair(3, 4)], {1: 9})[0] == {1: (3, 4), 9: (1, 2)}


def test_two_fixed_entrants_who_meet_sit_at_the_lower_board_and_are_flagged():
    boards, flags = numbered([pair(1, 2), pair(3, 4)], {3: 7, 4: 5})
    assert boards == {1: (1, 2), 5: (3, 4)}
    assert flags == ({"flag": "fixed_boards_meet", "entrants": [3, 4], "boards": [5, 7]},)


def test_two_pairs_that_want_one_board():
    boards, flags = numbered([pair(1, 2), pair(3, 4, (2, 0)), pair(5, 6)], {1: 2, 3: 2})
    assert boards == {1: (1, 2), 2: (3, 4), 3: (5, 6)}
    assert flags == ({"flag": "fixed_board_taken", "board": 2, "keeps": [3, 4], "moves": [1, 2]},)


def test_one_fixed_board_for_both_is_no_clash():
    assert numbered([pair(1, 2)], {1: 3, 2: 3}) == ({3: (1, 2)}, ())


def test_draw_carries_flags_and_the_bye_is_last():
    tournament = event(5, entrants={1: {"fixed_board": 2}, 2: {"fixed_board": 2}}, rounds=None)
    draw = pair_round(tournament)
    assert sorted(board.board for board in draw.boards) == [1, 2]
    assert draw.bye == 5
    fixed_pairs = [board.board for board in draw.boards if {1, 2} & {board.first, board.second}]
    assert 2 in fixed_pairs
    assert [flag["flag"] for flag in draw.flags] == (["fixed_board_taken"] if len(fixed_pairs) == 2 else [])


def test_fixed_board_of_an_absent_entrant_is_free():
    tournament = event(5, entrants={5: {"fixed_board": 1}}, absent=[5])
    assert [board.board for board in pair_round(tournament).boards] == [1, 2]
