"""Each criterion: its plain form on cases worked by hand, and its array form equal to the plain one."""

import hashlib
import random

import numpy as np
import pytest

from qisai.kernel.model import FirstRound, FirstRoundMode, SidePriority, System, WithinGroup
from qisai.kernel.pairing.cost import cost_of, cross_cap
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.lots import Lots
from qisai.kernel.pairing.systems import system_for
from qisai.kernel.pairing.view import view_of
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.random_tournaments import random_tournament
from tests.kernel.short_events import event


def cost(tournament, pairs, bye=None):
    """The whole tuple of a draw given by numbers."""
    field = compile_field(tournament)
    at = {number: index for index, number in enumerate(field.number)}
    indexes = [tuple(sorted((at[a], at[b]))) for a, b in pairs]
    return cost_of(field, indexes, None if bye is None else at[bye])


def lot(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:4], 16)


def test_array_form_equals_plain_form_for_every_criterion():
    rng = random.Random(5)
    compared = set()
    for seed in range(250):
        field = compile_field(parse_tournament(random_tournament(random.Random(seed), smallest=3)))
        order = rng.sample(range(field.size), field.size)
        bye = order.pop() if field.odd else None
        pairs = sorted(tuple(sorted(order[at : at + 2])) for at in range(0, len(order), 2))
        view = view_of(field).settle(pairs)
        i = np.array([pair[0] for pair in pairs], dtype=np.int64)
        j = np.array([pair[1] for pair in pairs], dtype=np.int64)
        for criterion in system_for(field).criteria:
            plain = [criterion.of_pair(view, *pair) for pair in pairs]
            assert criterion.of_pairs(view, i, j).tolist() == plain, criterion.name
            assert bye is None or criterion.of_bye(view, bye) >= 0
            compared.add(criterion.name)
    assert len(compared) == 16


def test_round_robin_criterion_has_equal_forms():
    field = compile_field(event(5, system=System.ROUND_ROBIN))
    view = view_of(field)
    i, j = np.triu_indices(5, 1)
    misses = system_for(field).criteria[0]
    assert misses.of_pairs(view, i, j).tolist() == [misses.of_pair(view, a, b) for a, b in zip(i, j, strict=True)]


def test_array_forms_take_arrays_of_any_shape():
    field = compile_field(event(6, "1>2 3=4 5>6"))
    view = view_of(field).settle([(0, 1), (2, 3), (4, 5)])
    i, j = np.array([[0, 1], [2, 3]]), np.array([[4, 5], [4, 5]])
    for criterion in system_for(field).criteria:
        assert criterion.of_pairs(view, i, j).shape == (2, 2), criterion.name
        assert criterion.of_pairs(view, i[:0], j[:0]).shape == (0, 2), criterion.name


def test_score_criteria_by_hand():
    # Scores 2 2 1 1 0 0 for 2 5 3 4 1 6.
    value = cost(event(6, "1<2 3=4 5>6"), [(2, 3), (5, 4), (1, 6)])
    assert value["leaders_apart"] == 2
    assert value["max_gap"] == 1
    assert value["gap_squares"] == 2
    assert value["cross_pairs"] == 2
    assert cost(event(6, "1<2 3=4 5>6"), [(2, 1), (5, 6), (3, 4)])["gap_squares"] == 8


def test_side_criteria_by_hand():
    # Sides after three rounds: 1 ++-, 2 --+, 3 +--, 4 -++.
    tournament = event(6, "1>2 3>4", "1=3 4>2", "2=3 4=1", rounds=9)
    value = cost(tournament, [(1, 4), (2, 3), (5, 6)])
    assert value["side_breaches"] == 0
    assert value["side_clashes"] == 2
    assert value["strong_clashes"] == 2
    breach = event(4, "1>2 3>4", "1>4 3=2", rounds=9)
    assert cost(breach, [(1, 3), (2, 4)])["side_breaches"] == 2


def test_leaders_of_the_last_round_are_never_in_breach():
    history = ("1=2 3=4", "1=4 3=2")  # both 1 and 3 were first twice, 2 and 4 second twice, all on one score
    assert cost(event(4, *history, rounds=9), [(1, 3), (2, 4)])["side_breaches"] == 2
    assert cost(event(4, *history, rounds=3), [(1, 3), (2, 4)])["side_breaches"] == 0
    lower = ("1>2 3>4", "1>4 3>2")  # 2 and 4 are not leaders
    assert cost(event(4, *lower, rounds=3), [(1, 3), (2, 4)])["side_breaches"] == 1


def test_wish_at_surplus_zero_is_no_strong_clash():
    value = cost(event(4, "1=2 3=4", "2=3 4=1"), [(1, 3), (2, 4)])
    assert value["side_clashes"] == 2
    assert value["strong_clashes"] == 0


def test_float_history_counts_age_and_direction():
    # Round 2: 1 floats down to 3 (up-float), 4 down to 2. Round 3 to draw, scores 4 1 1 2 for 1 2 3 4.
    tournament = event(4, "1>2 3=4", "1>3 4=2")
    value = cost(tournament, [(1, 4), (2, 3)])
    # Scores after round 2: 1 has 4, 4 has 2, 2 and 3 have 1. Cross pair 1–4: down 8 of 1; up 0, down 1 of 4.
    assert value["float_history"] == 8 + 1
    assert value["cross_pairs"] == 1


def test_repeat_floats_counts_both_entrants_in_either_direction():
    tournament = event(4, "1>2 3=4", "1>3 4=2", system=System.DRAW_NUMBER)
    assert cost(tournament, [(1, 4), (2, 3)])["repeat_floats"] == 1 + 1


def test_float_places_and_lots_by_hand():
    tournament = event(5, "1>2 3>4 5U", lot_seed=7)
    # Group of 2 half-points: 1 3 5, group of 0: 2 4.
    value = cost(tournament, [(1, 3), (5, 2)], bye=4)
    assert value["float_places"] == 0 + 0 + 0
    assert value["float_lots"] == lot("7:2:5>0") + lot("7:2:2>2") + lot("7:2:4")
    assert value["pair_lots"] == lot("7:2:1:3") + lot("7:2:2:5")
    other = cost(tournament, [(3, 5), (1, 4)], bye=2)
    assert other["float_places"] == 2**2 + 1**2 + 1**2
    assert other["bye_score"] == 0
    assert other["bye_unplayed"] == 0


@pytest.mark.parametrize(
    ("within", "pairs", "value"),
    [
        (WithinGroup.ADJACENT, [(1, 2), (3, 4), (5, 6)], 0),
        (WithinGroup.ADJACENT, [(1, 3), (2, 4), (5, 6)], 2),
        (WithinGroup.FOLD, [(1, 6), (2, 5), (3, 4)], 0),
        (WithinGroup.FOLD, [(1, 5), (2, 6), (3, 4)], 2),
        (WithinGroup.SLIDE, [(1, 4), (2, 5), (3, 6)], 0),
        (WithinGroup.SLIDE, [(1, 6), (2, 5), (3, 4)], 4 + 0 + 4),
    ],
)
def test_order_inside_a_group(within, pairs, value):
    first = FirstRound(mode=FirstRoundMode.SYSTEM)
    assert cost(event(6, within_group=within, first_round=first), pairs)["order"] == value


def test_order_renumbers_those_left_and_compares_floaters_between_two_groups():
    # Scores: 1 3 5 7 have 2, 2 4 6 8 have 0.
    tournament = event(8, "1>2 3>4 5>6 7>8")
    straight = cost(tournament, [(1, 5), (3, 2), (7, 4), (6, 8)])
    assert straight["order"] == 0
    crossed = cost(tournament, [(1, 5), (3, 4), (7, 2), (6, 8)])
    assert crossed["order"] == 1 + 1


def test_club_pairs_stands_before_order_in_round_one_only():
    clubs = {1: {"club": "East"}, 2: {"club": "East"}, 3: {"club": ""}, 4: {"club": ""}}
    avoid = FirstRound(mode=FirstRoundMode.ADJACENT, avoid_same_club=True)
    value = cost(event(4, entrants=clubs, first_round=avoid), [(1, 2), (3, 4)])
    assert list(value)[-3:] == ["club_pairs", "order", "pair_lots"]
    assert value["club_pairs"] == 1
    assert "club_pairs" not in cost(event(4, "1=2 3=4", entrants=clubs, first_round=avoid), [(1, 3), (2, 4)])


def test_side_priority_moves_breaches_behind_cross_pairs():
    usual = list(cost(event(2), [(1, 2)]))
    under = list(cost(event(2, side_priority=SidePriority.UNDER_SCORE), [(1, 2)]))
    assert usual.index("side_breaches") == 2
    assert under[under.index("side_breaches") - 1] == "cross_pairs"
    assert sorted(usual) == sorted(under)


def test_cross_cap_is_the_most_one_group_gave_away_as_the_upper_side():
    field = compile_field(event(8, "1>2 3>4 5>6 7=8"))
    # 1 3 5 | 7 8 | 2 4 6
    assert cross_cap(field, [(0, 3), (1, 4), (2, 5), (6, 7)]) == 3
    assert cross_cap(field, [(0, 1), (2, 3), (4, 5), (6, 7)]) == 1


def test_lots_are_the_first_16_bits_of_sha256():
    lots = Lots(lot_seed=42, round_number=3, number=(9, 4))
    assert lots.bye(0) == lot("42:3:9")
    assert lots.floater(1, 5) == lot("42:3:4>5")
    assert lots.pair(0, 1) == lots.pair(1, 0) == lot("42:3:4:9")
    ones, zeros = np.array([1, 0]), np.array([0, 1])
    assert lots.pairs(ones, zeros).tolist() == [lot("42:3:4:9")] * 2
    assert lots.floaters(zeros, np.array([2, 3])).tolist() == [lot("42:3:9>2"), lot("42:3:4>3")]


def test_a_draw_of_nobody_but_the_bye_costs_only_the_bye():
    value = cost(event(1), [], bye=1)
    assert value["float_lots"] == lot("0:1:1")
    assert sum(value.values()) == value["float_lots"]


def test_order_without_settled_floats_is_a_mistake():
    field = compile_field(event(2))
    order = next(c for c in system_for(field).criteria if c.name == "order")
    with pytest.raises(ValueError, match="settle"):
        order.of_pair(view_of(field), 0, 1)
