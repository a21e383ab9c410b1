"""Sentences of docs/rules.md that could be read in two ways, and sentences no other test is about."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

import qisai.kernel
from qisai.kernel import pair_round
from qisai.kernel.model import (
    ForbiddenPair,
    LookAhead,
    Points,
    Regulations,
    SidePriority,
    System,
    WithinGroup,
)
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.no_legal_draw import NoLegalDraw
from qisai.kernel.regulations_file import parse_regulations, regulations_to_json, used_fields
from qisai.kernel.sides import SideRule, seat_pair
from qisai.kernel.standings import standings
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.random_tournaments import tournaments
from tests.kernel.short_events import event, opponents, played, sides


def place(field, number):
    return field.number.index(number)


@settings(max_examples=60, deadline=None)
@given(tournaments(smallest=3, largest=7))
def test_regulations_that_an_event_does_not_use_decide_nothing(document):
    """Section 2: an event does not keep them. Whatever they say, the draw is the same."""
    tournament = parse_tournament(document)
    complete = regulations_to_json(tournament.regulations)
    kept = parse_regulations(used_fields(complete), profile_defaults=Regulations(profile=complete["profile"]))
    try:
        drawn = pair_round(tournament)
    except NoLegalDraw:
        return
    again = pair_round(replace(tournament, regulations=kept))
    assert (again.boards, again.bye, again.cost) == (drawn.boards, drawn.bye, drawn.cost)


@pytest.mark.parametrize("within", WithinGroup)
@pytest.mark.parametrize("rounds_played", [0, 1, 2])
def test_draw_number_takes_its_order_from_the_direction_alone(within, rounds_played):
    """Section 4: "ascending uses `adjacent`, descending `fold`", whatever `within_group` says."""
    history = ("1=2 3=4 5=6 7=8", "1=8 2=7 3=6 4=5")[:rounds_played]
    usual = pair_round(event(8, *history, system=System.DRAW_NUMBER, first_move=False))
    other = pair_round(event(8, *history, system=System.DRAW_NUMBER, first_move=False, within_group=within))
    assert (other.boards, other.cost) == (usual.boards, usual.cost)


def test_look_ahead_gives_byes_in_later_rounds_where_byes_are_off():
    """Section 4: a continuation is legal by rules 1 to 4 of section 3; `allow_bye` is none of them.

    Five are not withdrawn, one is absent now. Later rounds have five, whom a house player may make six by then.
    """
    drawn = pair_round(event(5, absent=[5], allow_bye=False, rounds=3))
    assert drawn.look_ahead is LookAhead.KEPT


def test_a_full_bye_asked_for_now_counts_in_the_rounds_look_ahead_tries():
    """Rule 4: full-point byes count. In round 2 nobody may meet 5, so 5 would have to have the bye."""
    alone = [ForbiddenPair(entrants=(other, 5), from_round=2) for other in (1, 2, 3, 4)]
    assert pair_round(event(5, byes="5H", rounds=2, forbidden=alone)).look_ahead is LookAhead.KEPT
    assert pair_round(event(5, byes="5F", rounds=2, forbidden=alone)).look_ahead is LookAhead.NONE


def test_an_adjourned_game_was_played():
    """Section 3: "paired but not played (forfeit, void) is no meeting"; an adjourned game is neither."""
    drawn = pair_round(event(4, "1~2 3=4", rounds=3))
    assert (1, 2) not in opponents(drawn)
    field = compile_field(event(4, "1~2 3/4"))
    assert field.met[place(field, 1)] == {place(field, 2)}
    assert field.met[place(field, 3)] == frozenset()
    assert [field.unplayed[place(field, n)] for n in (1, 3)] == [0, 1]
    assert [field.sides[place(field, n)] for n in (1, 2, 3)] == [(1,), (-1,), ()]


def test_an_adjourned_game_is_a_draw_for_pairing_and_nothing_in_standings_but_a_meeting():
    adjourned = event(4, "1~2 3>4")
    assert compile_field(adjourned).score == (2, 1, 1, 0)
    rows = {row.number: row for row in standings(adjourned).rows}
    assert rows[1].points == 0
    assert rows[1].values["opponents"] == 0


def test_lists_of_sides_are_compared_as_far_as_both_go():
    """6.4: "game by game"; a game that only one has had is no difference."""
    # 1 has had +, 2 has had − − +: the latest of both is +, then 1 has no more.
    tournament = event(8, "5=2 1A", "6=2 1A", "2=7 1=8", balance_sides=False)
    field = compile_field(tournament)
    assert [field.sides[place(field, n)] for n in (1, 2)] == [(1,), (-1, -1, 1)]
    seating = seat_pair(field, place(field, 1), place(field, 2))
    assert (field.number[seating.first], seating.rule) == (1, SideRule.NUMBER)


def test_leaders_of_the_last_round_are_seated_by_the_limits_all_the_same():
    """Criterion 3 stops counting such a pair as a breach; 6.1 still goes by the limits themselves."""
    # 1 was first twice (++), 2 was first and second (+-) and both lead.
    tournament = event(6, "1>3 2>4 5=6", "1>4 5<2 6=3", rounds=3)
    field = compile_field(tournament)
    assert field.last_round
    assert field.may_first[place(field, 1)] is False
    seating = seat_pair(field, place(field, 1), place(field, 2))
    assert (field.number[seating.first], seating.rule) == (2, SideRule.LIMITS)


def test_in_a_row_skips_rounds_without_a_side():
    """Section 4: a bye or a forfeit between two games as first does not break the row."""
    field = compile_field(event(6, "1=2 3=4 5=6", "1H 2=3 4=5 6A", "1]6 2=4 3=5", "1=4 2=5 3=6"))
    assert field.sides[place(field, 1)] == (1, 1)
    assert field.may_first[place(field, 1)] is False


def test_last_round_of_a_float_is_the_round_before_this_one_not_the_last_one_played():
    """Section 4: weight 8 for a float in the round just before; who was absent then has it one round older."""
    floated = ("1>2 3=4", "1=3 2=4")
    field = compile_field(event(4, *floated))
    assert field.down_weight[place(field, 1)] == 8
    older = compile_field(event(4, *floated, "1A 2=3 4A"))
    assert older.down_weight[place(older, 1)] == 4
    oldest = compile_field(event(4, *floated, "1A 2=3 4A", "1A 3=4 2A"))
    assert oldest.down_weight[place(oldest, 1)] == 2


@pytest.mark.parametrize("system", System)
def test_after_round_1_ratings_play_no_part(system):
    """Section 5: "Beyond the number, seeds do not influence later rounds"."""
    plain = event(8, "1>8 2=7 3<6 4=5", system=system)
    rated = replace(plain, entrants=tuple(replace(e, seed=1000 + 37 * (e.number % 5)) for e in plain.entrants))
    assert (pair_round(rated).boards, pair_round(rated).cost) == (pair_round(plain).boards, pair_round(plain).cost)


def test_under_score_a_smaller_gap_outweighs_a_breach_and_over_score_a_breach_outweighs_any_gap():
    """Section 4, `side_priority`. 3 and 4 were first twice and share a score; 2 and 6 have met neither."""
    history = ("5>6 4<2 3<1", "3<6 4<5 2<1")
    over = pair_round(event(6, *history))
    under = pair_round(event(6, *history, side_priority=SidePriority.UNDER_SCORE))
    assert (opponents(over), opponents(under)) == ({(1, 5), (2, 3), (4, 6)}, {(1, 5), (2, 6), (3, 4)})
    assert (over.cost["side_breaches"], over.cost["max_gap"]) == (0, 2)
    assert (under.cost["side_breaches"], under.cost["max_gap"]) == (1, 0)


def test_sides_never_change_opponents_in_draw_number():
    """Section 4: there sides "follow section 6 and do not influence opponents"."""
    history = ("1=2 3=4", "1=4 3=2")
    with_sides = pair_round(event(4, *history, system=System.DRAW_NUMBER, rounds=9))
    without = pair_round(event(4, *history, system=System.DRAW_NUMBER, first_move=False, rounds=9))
    assert opponents(with_sides) == opponents(without) == {(1, 3), (2, 4)}
    assert "side_breaches" not in with_sides.cost


def test_seats_never_change_opponents():
    """Section 6: with `seat_balance` the seats change, "opponents do not change"."""
    history = ("1=2 3=4", "1=4 3=2")
    usual = pair_round(event(4, *history, first_move=False))
    balanced = pair_round(event(4, *history, first_move=False, seat_balance=True))
    assert opponents(usual) == opponents(balanced)
    assert sides(usual) == sides(balanced) == {(1, 3), (2, 4)}
    turned = pair_round(event(4, "1=2 4=3", "1=4 3=2", first_move=False, seat_balance=True))
    assert sides(turned) == {(3, 1), (2, 4)}


def test_undoing_a_withdrawal_before_the_draw_gives_the_draw_as_if_it_had_not_been():
    """Section 8: a withdrawal "keeps all history, and can be undone before the next pairing"."""
    before = event(6, "1>2 3>4 5>6")
    gone = event(6, "1>2 3>4 5>6", entrants={6: {"withdrawn_from": 2}})
    back = replace(gone, entrants=tuple(replace(e, withdrawn_from=None) for e in gone.entrants))
    assert 6 not in {n for pair in opponents(pair_round(gone)) for n in pair} | {pair_round(gone).bye}
    assert pair_round(back) == pair_round(before)


def test_a_pairing_bye_that_wins_counts_in_wins_and_one_that_draws_does_not():
    """Section 9: `wins` counts "rounds with a win's points", played or not."""
    full = standings(event(3, "1=2 3U", tie_breaks=("wins",)))
    assert {row.number: row.values["wins"] for row in full.rows} == {1: 0, 2: 0, 3: 1}
    half = standings(event(3, "1=2 3U", tie_breaks=("wins",), points=Points(win=2, draw=1, loss=0, bye=1)))
    assert {row.number: row.values["wins"] for row in half.rows} == {1: 0, 2: 0, 3: 0}


def test_the_same_draw_comes_again_after_it_was_played_and_taken_back():
    """Section 8: "re-pairing the unchanged tournament gives the same draw"."""
    tournament = event(9, "1>2 3>4 5=6 7<8 9U", rounds=5)
    draw = pair_round(tournament)
    taken_back = replace(played(tournament, draw), rounds=tournament.rounds, next=tournament.next)
    assert pair_round(taken_back) == draw


def test_the_kernel_reads_no_clock_and_draws_no_lots_of_its_own():
    """Section 3, rule 6; only simulated results are random, from a seed."""
    root = Path(qisai.kernel.__file__).parent
    for path in root.rglob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
        forbidden = {"time", "datetime", "os", "socket", "secrets", "uuid", "threading"}
        forbidden |= set() if path.name == "simulation.py" else {"random"}
        assert not names & forbidden, path
