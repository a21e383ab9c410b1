"""What went wrong in systems of this kind, on pairing, byes and corrections: none of it may happen here."""

import random
from dataclasses import replace

import pytest

from qisai.errors import Invalid
from qisai.kernel import NoLegalDraw, forecast, pair_round
from qisai.kernel.check import violations
from qisai.kernel.model import Bye, ByeKind, NextRound, Points, Result
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.forecast import Outlook
from qisai.kernel.sides import SideRule, seat_pair
from qisai.kernel.standings import standings
from tests.kernel.short_events import event, opponents, played

STAGES = ["optimal", "search"]


@pytest.mark.parametrize("stage", STAGES)
def test_four_players_find_their_one_round_left(stage):
    assert opponents(pair_round(event(4, "1=2 3=4", "1=3 2=4"), stage=stage)) == {(1, 4), (2, 3)}
    assert opponents(pair_round(event(4, "1>2 3<4", "1>3 2<4"), stage=stage)) == {(1, 4), (2, 3)}


def test_eight_players_seven_rounds_are_told_before_round_one():
    answer = forecast(event(8, rounds=7))
    assert answer.outlook is Outlook.MAY_RUN_DRY
    assert answer.round_robin == 7


def test_whole_field_withdrawn_is_refused():
    gone = event(3, "1=2 3U", entrants={number: {"withdrawn_from": 2} for number in (1, 2, 3)})
    with pytest.raises(Invalid, match="nobody is present"):
        pair_round(gone)


def test_one_malformed_board_stops_pairing_and_is_named():
    with pytest.raises(Invalid, match="round 2, board 1"):
        pair_round(event(4, "1=2 3=4", "1?3 2=4"))


def test_failed_pairing_can_be_asked_again():
    stuck = event(4, "1=2 3=4", "1=3 2=4", "1=4 2=3")
    for _ in range(2):
        with pytest.raises(NoLegalDraw):
            pair_round(stuck)
    joined = event(6, "1=2 3=4 5Z 6Z", "1=3 2=4 5Z 6Z", "1=4 2=3 5Z 6Z", absent=[3, 4])
    assert opponents(pair_round(joined)) in ({(1, 5), (2, 6)}, {(1, 6), (2, 5)})


@pytest.mark.parametrize("stage", STAGES)
def test_bye_goes_to_whoever_had_fewest_then_to_the_lowest_score(stage):
    # 3 has the lowest score but had a bye; of the others 2 is lowest.
    draw = pair_round(event(5, "1=2 4=5 3U", "1>3 4>2 5A", points=Points(bye=0)), stage=stage)
    assert draw.bye == 2


def test_nobody_gets_a_second_bye_while_someone_has_none():
    for seed in range(15):
        rng = random.Random(seed)
        size = rng.choice([5, 7, 9, 11])
        tournament = event(size, lot_seed=seed)
        for _ in range(size // 2):
            draw = pair_round(tournament, stage=rng.choice(STAGES))
            marks = [f"{b.first}{rng.choice('><=]')}{b.second}" for b in draw.boards]
            tournament = played(tournament, draw, " ".join(marks))
        pairing_byes = [bye.entrant for round_ in tournament.rounds for bye in round_.byes]
        assert len(set(pairing_byes)) == len(pairing_byes)


def test_bye_requested_bye_absence_and_forfeit_win_are_four_things():
    tournament = event(8, "1]2 3U 4H 5A 6F 7=8", "1A 2A 3A 4A 5A 6A 7A 8A", points=Points(win=4, draw=2, bye=3))
    field = compile_field(tournament)
    score = dict(zip(field.number, field.score, strict=True))
    assert (score[1], score[3], score[4], score[5], score[6]) == (4, 3, 2, 0, 4)
    byes = dict(zip(field.number, field.bye_count, strict=True))
    assert (byes[1], byes[3], byes[4], byes[5], byes[6]) == (1, 1, 0, 0, 1)


def test_odd_field_plus_requested_byes_in_round_one():
    draw = pair_round(event(9, byes="2H 3Z", absent=[1]))
    assert violations(event(9, byes="2H 3Z", absent=[1]), draw) == []
    assert draw.bye is None
    assert len(draw.boards) == 3
    odd = pair_round(event(9, byes="2H 3F"))
    assert odd.bye == 9


def test_withdraw_and_return_cannot_farm_byes():
    tournament = event(5, "1=2 3=4 5U")
    away = replace(tournament, next=NextRound(round=2, absent=(5,)))
    back = played(away, pair_round(away))
    draw = pair_round(back)
    assert draw.bye != 5
    assert violations(back, draw) == []


def test_full_point_byes_asked_for_count_as_byes():
    asked = event(5, byes="5F")
    after = played(asked, pair_round(asked))
    assert pair_round(after).bye != 5


def test_bye_points_follow_the_regulations():
    half = event(3, "1=2 3U", points=Points(bye=1))
    assert compile_field(half).score == (1, 1, 1)
    assert standings(half).rows[0].points == 1


def test_forfeits_do_not_count_as_sides():
    field = compile_field(event(4, "1]2 3]4"))
    assert seat_pair(field, field.number.index(1), field.number.index(3)).rule is SideRule.NUMBER


def test_a_drop_after_a_result_never_pairs_anyone_with_itself():
    for stage in STAGES:
        tournament = event(4, "1>2 3>4", entrants={2: {"withdrawn_from": 2}})
        draw = pair_round(tournament, stage=stage)
        assert all(board.first != board.second for board in draw.boards)
        assert violations(tournament, draw) == []


@pytest.mark.parametrize("stage", STAGES)
def test_pairing_again_after_unpairing_gives_the_same_draw(stage):
    tournament = event(10, "1>2 3=4 5<6 7>8 9=10", "1=3 2<4 5=7 6>9 8=10")
    assert pair_round(tournament, stage=stage) == pair_round(tournament, stage=stage)


def test_a_withdrawn_opponent_in_someones_history_is_no_error():
    tournament = event(6, "1=2 3=4 5=6", entrants={2: {"withdrawn_from": 2}, 4: {"withdrawn_from": 2}})
    draw = pair_round(tournament)
    assert violations(tournament, draw) == []
    assert compile_field(tournament).size == 4


def test_a_correction_three_rounds_back_changes_the_next_draw_and_every_float():
    tournament = event(8, "1>2 3>4 5>6 7>8", "1=3 5=7 2=4 6=8", "1=5 3=7 2=6 4=8", "1=7 3=5 2=8 4=6")
    first, *rest = tournament.rounds
    boards = (replace(first.boards[0], result=Result.SECOND_WIN), *first.boards[1:])
    corrected = replace(tournament, rounds=(replace(first, boards=boards), *rest))
    before, after = compile_field(tournament), compile_field(corrected)
    assert set(before.down_count) == {0}
    # With 2 ahead of 1 since round 1, rounds 2 to 4 of both were floats.
    floats = {after.number[i]: (after.down_count[i], after.up_count[i]) for i in range(8)}
    assert floats[1] == (0, 3)
    assert floats[2] == (3, 0)
    assert after.number != before.number
    assert tournament.rounds[1:] == corrected.rounds[1:]


def test_a_late_entry_keeps_numbers_and_is_paired_from_its_round_on():
    late = event(5, "1=2 3=4 5H", "1=3 2=4 5H")
    draw = pair_round(late)
    assert violations(late, draw) == []
    placed = {number for board in draw.boards for number in (board.first, board.second)} | {draw.bye}
    assert placed == {1, 2, 3, 4, 5}


def test_a_requested_bye_is_not_repeated_in_the_draw():
    tournament = event(5, byes="2H")
    draw = pair_round(tournament)
    assert draw.bye is None
    assert 2 not in {number for board in draw.boards for number in (board.first, board.second)}


def test_a_single_entrant_gets_the_bye_and_nobody_else_is_invented():
    for stage in STAGES:
        draw = pair_round(event(1), stage=stage)
        assert (draw.boards, draw.bye, draw.optimal) == ((), 1, True)
    last_one = event(3, "1>2 3U", "3=1 2U", absent=[1, 2])
    assert pair_round(last_one).bye == 3


def test_late_result_in_an_earlier_round_reopens_pairing():
    waiting = event(4, "1?2 3=4")
    with pytest.raises(Invalid):
        pair_round(waiting)
    assert pair_round(event(4, "1>2 3=4")).boards


def test_pool_of_another_round_is_refused():
    with pytest.raises(Invalid, match="the pool is for round 1"):
        pair_round(replace(event(4, "1=2 3=4"), next=NextRound(round=1, byes=(Bye(entrant=1, kind=ByeKind.HALF),))))
