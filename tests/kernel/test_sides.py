"""Section 6: who moves first, rule by rule, and seats where there is no first move."""

import pytest

from qisai.kernel.model import System
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.sides import SideRule, seat_pair
from tests.kernel.short_events import event


def seat(tournament, a, b):
    """(number that moves first, rule), asked both ways round."""
    field = compile_field(tournament)
    at = {number: index for index, number in enumerate(field.number)}
    one, other = seat_pair(field, at[a], at[b]), seat_pair(field, at[b], at[a])
    assert one == other
    return field.number[one.first], one.rule


def test_limits_decide_when_only_one_assignment_is_inside():
    # 1 was first twice, 3 once and second once: 1 must be second.
    assert seat(event(4, "1=2 3=4", "1=4 2=3"), 1, 3) == (3, SideRule.LIMITS)


def test_limits_do_not_decide_where_each_assignment_puts_one_outside():
    tournament = event(6, "1=2 3=4 5=6", "1=4 3=2 5A 6A", "1=6 3/5 2A 4A")
    field = compile_field(tournament)
    assert not field.may_first[field.number.index(1)]
    assert not field.may_first[field.number.index(3)]
    assert seat(tournament, 1, 3) == (3, SideRule.SURPLUS)


def test_two_outside_against_one_is_decided_by_limits():
    # 2 was second four times, so it is outside on either side; 1 is outside only as first.
    history = ("1=3 4=2", "1=4 3=2", "3=1 4=2", "4=1 3=2", "1=3 2A 4A", "1=4 2A 3A")
    field = compile_field(event(4, *history))
    two = field.number.index(2)
    assert field.surplus[two] == -4
    assert not field.may_first[two]
    assert not field.may_second[two]
    assert seat(event(4, *history), 1, 2) == (2, SideRule.LIMITS)


def test_wishes_that_differ_are_granted():
    assert seat(event(4, "1=2 3=4"), 1, 4) == (4, SideRule.WISHES)
    assert seat(event(4, "1=2 3=4"), 2, 3) == (2, SideRule.WISHES)


def test_one_wish_alone_is_granted():
    tournament = event(4, "1=2 3U 4H")
    assert seat(tournament, 1, 3) == (3, SideRule.WISHES)
    assert seat(tournament, 2, 3) == (2, SideRule.WISHES)


def test_smaller_surplus_moves_first_where_wishes_clash():
    # 1: + - + wants second by surplus, 3: - + by its last side.
    assert seat(event(6, "1=2 4=3", "5=1 3=6", "1=6 3A"), 1, 3) == (3, SideRule.SURPLUS)


def test_alternation_goes_back_game_by_game_as_far_as_both_lists_go():
    tournament = event(8, "1=5 6=2", "7=1 2=8", "2=5 1A", "8=2 1A")
    field = compile_field(tournament)
    named = dict(zip(field.number, field.sides, strict=True))
    assert named[1] == (1, -1)
    assert named[2] == (-1, 1, 1, -1)
    # Latest: both second. Before: both first. 1 has no more, so there is no difference: 1 is odd and smaller.
    assert seat(tournament, 1, 2) == (1, SideRule.NUMBER)


def test_alternate_decides_by_the_first_difference():
    # 1: + - + -, 2: - + + -: latest two agree, the third from the end differs (1 second, 2 first): 1 moves first.
    tournament = event(9, "1=5 6=2", "7=1 2=8", "1=6 2=5", "8=1 9=2")
    assert seat(tournament, 1, 2) == (1, SideRule.ALTERNATE)


@pytest.mark.parametrize(("a", "b", "first"), [(1, 2, 1), (2, 3, 3), (3, 4, 3), (2, 4, 4)])
def test_without_games_smaller_number_moves_first_if_odd_larger_if_it_is_even(a, b, first):
    assert seat(event(4), a, b) == (first, SideRule.NUMBER)


def test_without_balance_only_the_last_rule_holds():
    history = ("1=2 3=4", "1=4 2=3")
    assert seat(event(4, *history, balance_sides=False), 1, 3) == (3, SideRule.ALTERNATE)
    assert seat(event(4, "1=2 3=4", balance_sides=False), 1, 3) == (1, SideRule.NUMBER)


def test_forfeited_games_give_no_side():
    assert seat(event(4, "1]2 3x4"), 1, 3) == (1, SideRule.NUMBER)


def test_side_actually_played_counts():
    assert seat(event(4, "2=1 3=4"), 1, 3) == (1, SideRule.WISHES)


def test_draw_number_with_a_first_move_follows_the_same_rules():
    assert seat(event(4, "1=2 3=4", system=System.DRAW_NUMBER), 1, 4) == (4, SideRule.WISHES)


def test_seats_go_to_the_smaller_number_or_by_seat_balance():
    history = ("1=2 3=4", "1=4 2]3")
    assert seat(event(4, *history, first_move=False), 1, 3) == (1, SideRule.SMALLER_LEFT)
    balanced = event(4, *history, first_move=False, seat_balance=True)
    assert seat(balanced, 1, 3) == (3, SideRule.LEFT_SEATS)
    assert seat(balanced, 2, 4) == (2, SideRule.SMALLER_LEFT)
    assert seat(event(2, first_move=False, seat_balance=True), 1, 2) == (1, SideRule.SMALLER_LEFT)


def test_round_robin_pairs_take_the_sides_of_the_table():
    assert seat(event(4, system=System.ROUND_ROBIN), 2, 3) == (2, SideRule.TABLE)
    assert seat(event(4, "1=4 2=3", system=System.ROUND_ROBIN), 4, 3) == (4, SideRule.TABLE)
