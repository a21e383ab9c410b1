"""The compiled field: what pairing knows about each present entrant."""

from dataclasses import replace

import pytest

from qisai.errors import Invalid
from qisai.kernel.model import (
    Direction,
    FirstRound,
    FirstRoundMode,
    ForbiddenPair,
    NextRound,
    Points,
    System,
    WithinGroup,
)
from qisai.kernel.pairing.field import compile_field
from tests.kernel.short_events import event, past_round


def by_number(field, column):
    return dict(zip(field.number, getattr(field, column), strict=True))


def test_entrants_are_ordered_by_score_then_number_and_grouped():
    field = compile_field(event(6, "1<2 3=4 5>6"))
    assert field.number == (2, 5, 3, 4, 1, 6)
    assert field.score == (2, 2, 1, 1, 0, 0)
    assert field.group == (0, 0, 1, 1, 2, 2)
    assert field.place == (0, 1, 0, 1, 0, 1)
    assert field.group_size == (2, 2, 2)
    assert field.group_start == (0, 2, 4)


def test_every_result_and_bye_scores_as_the_rules_say():
    tournament = event(16, "1[2 3]4 5x6 7~8 9/10 11U 12H 13F 14Z 15A", points=Points(win=4, draw=2, loss=1, bye=3))
    score = by_number(compile_field(tournament), "score")
    assert score == {
        1: 0,
        2: 4,
        3: 4,
        4: 0,
        5: 0,
        6: 0,
        7: 2,
        8: 2,
        9: 0,
        10: 0,
        11: 3,
        12: 2,
        13: 4,
        14: 0,
        15: 0,
        16: 0,
    }


def test_sides_look_at_games_over_the_board_only():
    field = compile_field(event(4, "1>2 3>4", "3[1 2/4", "1=4 2U 3H", "1~3 2>4"))
    assert by_number(field, "sides") == {1: (1, 1, 1), 2: (-1, 1), 3: (1, -1), 4: (-1, -1, -1)}
    assert by_number(field, "surplus") == {1: 3, 2: 0, 3: 0, 4: -3}
    assert by_number(field, "wish") == {1: -1, 2: -1, 3: 1, 4: 1}


def test_side_limits_are_third_in_a_row_and_surplus_beyond_two():
    field = compile_field(event(4, "1>2 3>4", "1=3 4>2", "2=3 4=1"))
    assert by_number(field, "sides") == {1: (1, 1, -1), 2: (-1, -1, 1), 3: (1, -1, -1), 4: (-1, 1, 1)}
    assert by_number(field, "may_first") == {1: True, 2: True, 3: True, 4: False}
    assert by_number(field, "may_second") == {1: True, 2: True, 3: False, 4: True}
    after_four = compile_field(event(2, "1=2", "1=2", "2=1", "1=2"))
    assert by_number(after_four, "surplus") == {1: 2, 2: -2}
    assert by_number(after_four, "may_first") == {1: False, 2: True}
    assert by_number(after_four, "may_second") == {1: True, 2: False}


def test_wish_goes_by_surplus_then_by_the_last_side_then_by_nothing():
    assert by_number(compile_field(event(3, "1=2 3H")), "wish") == {1: -1, 2: 1, 3: 0}
    assert by_number(compile_field(event(2, "1=2", "2=1")), "wish") == {1: 1, 2: -1}


def test_last_round_only_where_rounds_are_planned():
    assert [compile_field(event(2, rounds=rounds)).last_round for rounds in (None, 1, 2)] == [False, True, False]


def test_left_seats_are_counted_on_played_boards():
    field = compile_field(event(4, "1=2 3]4", "1~3 2/4", "2=1 4=3", first_move=False))
    assert by_number(field, "left_seats") == {1: 2, 2: 1, 3: 0, 4: 1}


def test_clubs_are_read_in_round_one_and_only_where_they_are_avoided():
    clubs = {1: {"club": "East"}, 2: {"club": "West"}, 3: {"club": "East"}}
    avoiding = FirstRound(mode=FirstRoundMode.SYSTEM, avoid_same_club=True)
    assert compile_field(event(4, entrants=clubs, first_round=avoiding)).club == (0, 1, 0, -1)
    assert set(compile_field(event(4, entrants=clubs)).club) == {-1}
    assert set(compile_field(event(4, "1=2 3=4", entrants=clubs, first_round=avoiding)).club) == {-1}


@pytest.mark.parametrize("off", [{"first_move": False}, {"balance_sides": False}])
def test_without_first_move_or_balance_nobody_has_a_wish_or_a_limit(off):
    field = compile_field(event(4, "1>2 3>4", "1=3 2=4", "1>4 3>2", **off))
    assert set(field.wish) == {0}
    assert not field.balances_sides
    assert all(field.may_first)
    assert all(field.may_second)


def test_unbalanced_sides_are_still_known():
    assert by_number(compile_field(event(2, "1>2", balance_sides=False)), "sides") == {1: (1,), 2: (-1,)}
    assert by_number(compile_field(event(2, "1>2", first_move=False)), "sides") == {1: (), 2: ()}


def test_floats_are_weighted_by_age_and_count_unplayed_boards():
    field = compile_field(event(4, "1>2 3=4", "1>3 4=2", "1/4 3=2"))
    # Scores before round 2: 2 0 1 1, before round 3: 4 1 1 2.
    assert by_number(field, "down_weight") == {1: 4 + 8, 2: 0, 3: 0, 4: 4}
    assert by_number(field, "up_weight") == {1: 0, 2: 4, 3: 4, 4: 8}
    assert by_number(field, "down_count") == {1: 2, 2: 0, 3: 0, 4: 1}
    assert by_number(field, "up_count") == {1: 0, 2: 1, 3: 1, 4: 1}
    older = compile_field(event(4, "1>2 3=4", "1>3 4=2", "1/4 3=2", "1A 2A 3A 4A"))
    assert by_number(older, "down_weight") == {1: 2 + 4, 2: 0, 3: 0, 4: 2}


def test_floats_follow_a_correction_of_an_earlier_result():
    before = compile_field(event(4, "1>2 3>4", "1=3 2=4"))
    corrected = compile_field(event(4, "1<2 3>4", "1=3 2=4"))
    assert set(before.down_count) == {0}
    assert by_number(corrected, "down_count") == {1: 0, 2: 1, 3: 1, 4: 0}


def test_byes_that_count_are_pairing_full_and_forfeit_wins():
    field = compile_field(event(11, "1U 2H 3F 4Z 5A 6]7 8/9 10[11"))
    assert by_number(field, "bye_count") == {1: 1, 2: 0, 3: 1, 4: 0, 5: 0, 6: 1, 7: 0, 8: 0, 9: 0, 10: 0, 11: 1}
    assert {number for number, may in by_number(field, "bye_eligible").items() if may} == {2, 4, 5, 7, 8, 9, 10}


def test_nobody_is_eligible_for_a_bye_in_an_even_field():
    assert not any(compile_field(event(4, "1=2 3=4")).bye_eligible)


def test_unplayed_counts_every_round_without_a_game_over_the_board():
    field = compile_field(event(6, "1>2 3]4 5H", "1~2 3/4 5=6"))
    assert by_number(field, "unplayed") == {1: 0, 2: 0, 3: 2, 4: 2, 5: 1, 6: 1}


def test_barred_are_met_and_forbidden_and_forfeits_only_by_regulation():
    forbidden = (ForbiddenPair(entrants=(1, 4), from_round=2, to_round=2), ForbiddenPair(entrants=(1, 5), from_round=3))
    tournament = event(5, "1>2 3]4 5U", forbidden=forbidden)
    field = compile_field(tournament)
    named = {field.number[i]: {field.number[j] for j in others} for i, others in enumerate(field.barred)}
    assert named == {1: {2, 4}, 2: {1}, 3: set(), 4: {1}, 5: set()}
    strict = compile_field(event(5, "1>2 3]4 5U", forfeit_counts_as_met=True))
    assert {strict.number[j] for j in strict.met[strict.number.index(3)]} == {4}
    open_end = compile_field(event(4, "1=2 3=4", forbidden=[ForbiddenPair(entrants=(1, 3))]))
    assert 2 in open_end.barred[0]
    gone = compile_field(event(4, forbidden=[ForbiddenPair(entrants=(1, 3))], absent=[3]))
    assert set(gone.barred) == {frozenset()}
    void = compile_field(event(4, "1/2 3=4", forfeit_counts_as_met=True))
    assert void.met[void.number.index(1)] == frozenset()


def test_present_leaves_out_withdrawn_absent_and_requested_byes():
    tournament = event(
        6, "1=2 3=4 5=6", entrants={2: {"withdrawn_from": 2}, 3: {"withdrawn_from": 3}}, absent=[4], byes="5H"
    )
    assert sorted(compile_field(tournament).number) == [1, 3, 6]


def test_input_order_changes_nothing():
    tournament = event(6, "1<2 3=4 5>6", "2=5 3>4 1>6")
    turned = replace(
        tournament,
        entrants=tournament.entrants[::-1],
        rounds=tuple(replace(r, boards=r.boards[::-1]) for r in tournament.rounds),
    )
    one, other = compile_field(tournament), compile_field(turned)
    for column in type(one).__dataclass_fields__:
        assert getattr(one, column) == getattr(other, column), column


@pytest.mark.parametrize(
    ("direction", "rounds", "numbers", "within"),
    [
        (Direction.Z, 2, (1, 2, 3, 4), WithinGroup.ADJACENT),
        (Direction.Z, 1, (4, 3, 2, 1), WithinGroup.FOLD),
        (Direction.U, 1, (1, 2, 3, 4), WithinGroup.ADJACENT),
        (Direction.U, 2, (4, 3, 2, 1), WithinGroup.FOLD),
    ],
)
def test_draw_number_turns_its_order_every_round(direction, rounds, numbers, within):
    history = ["1=2 3=4", "1=3 2=4"][:rounds]
    field = compile_field(event(4, *history, system=System.DRAW_NUMBER, direction=direction))
    assert field.number == numbers
    assert field.within is within


def test_first_round_modes_order_by_seed_with_the_unrated_last():
    seeds = {1: {"seed": 0}, 2: {}, 3: {"seed": 1700}, 4: {"seed": 1700}}
    fold = compile_field(event(4, entrants=seeds, first_round=FirstRound(mode=FirstRoundMode.FOLD)))
    assert (fold.number, fold.within) == ((3, 4, 1, 2), WithinGroup.FOLD)
    system = compile_field(event(4, entrants=seeds, first_round=FirstRound(mode=FirstRoundMode.SYSTEM)))
    assert (system.number, system.within) == ((1, 2, 3, 4), WithinGroup.ADJACENT)
    later = compile_field(event(4, "1=2 3=4", entrants=seeds, first_round=FirstRound(mode=FirstRoundMode.FOLD)))
    assert later.number == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("tournament", "slug", "words"),
    [
        (event(4, "1>2 3?4"), "past-rounds-incomplete", "round 1, board 2 (3–4): no result yet"),
        (event(4, "1>1 3=4"), "past-rounds-incomplete", "entrant 1 sits against itself"),
        (event(4, "1>9 3=4"), "past-rounds-incomplete", "entrant 9 is not in the event"),
        (event(4, "1>2 2=4"), "past-rounds-incomplete", "entrant 2 already has a place"),
        (event(4, "1>2 2H"), "past-rounds-incomplete", "entrant 2 already has a place"),
        (event(2, "1=2", rounds=1), "round-beyond-rounds", "round 2 is beyond the 1 rounds"),
        (event(2, absent=[1, 2]), "empty-pool", "nobody is present in round 1"),
        (event(2, absent=[7]), "pool-invalid", "entrant 7"),
        (replace(event(2), next=NextRound(round=3)), "pool-invalid", "round 3"),
    ],
)
def test_what_cannot_be_paired_is_refused_by_name(tournament, slug, words):
    with pytest.raises(Invalid) as refused:
        compile_field(tournament)
    assert refused.value.slug == slug
    assert words in refused.value.detail
    assert refused.value.errors


def test_withdrawal_of_the_whole_field_is_refused():
    gone = event(2, "1=2", entrants={1: {"withdrawn_from": 2}, 2: {"withdrawn_from": 2}})
    with pytest.raises(Invalid, match="nobody is present"):
        compile_field(gone)


def test_every_place_of_an_unreadable_history_is_named():
    with pytest.raises(Invalid) as refused:
        compile_field(event(4, "1?2 3?4"))
    assert [error.pointer for error in refused.value.errors] == ["/rounds/0/boards/0", "/rounds/0/boards/1"]


def test_short_form_reads_byes():
    assert [bye.entrant for bye in past_round(1, "3U 4H").byes] == [3, 4]
