"""Draws of other origin: completed with today's sides, boards and cost; and `improve`."""

from dataclasses import replace

import pytest

from qisai.errors import Invalid
from qisai.kernel import complete_draw, improve, pair_round
from qisai.kernel.check import Breach, violations
from qisai.kernel.model import ForbiddenPair, Source, Stage
from tests.kernel.short_events import event, opponents, sides

TOURNAMENT = event(7, "1>2 3>4 5=6 7U", "1=3 5>2 4>6 7H")


def test_completing_the_computed_opponents_gives_the_same_draw_back():
    draw = pair_round(TOURNAMENT)
    pairs = [(board.second, board.first) for board in draw.boards][::-1]
    again = complete_draw(TOURNAMENT, pairs, draw.bye, source=Source.REUSED, stage=Stage.OPTIMAL)
    assert (again.boards, again.bye, dict(again.cost), again.cross_cap) == (
        draw.boards,
        draw.bye,
        dict(draw.cost),
        draw.cross_cap,
    )
    assert again.source is Source.REUSED
    assert again.tournament_sha256 == draw.tournament_sha256
    assert not again.optimal
    assert again.proven == ()


def test_a_rule_breaking_edit_is_completed_and_left_to_violations():
    edited = complete_draw(
        TOURNAMENT, [(1, 2), (3, 7), (5, 4)], 6, source=Source.EDITED, edits=({"what": "swap", "why": "late"},)
    )
    assert [violation.breach for violation in violations(TOURNAMENT, edited)] == [Breach.REMATCH]
    assert edited.edits == ({"what": "swap", "why": "late"},)
    assert edited.cost["max_gap"] == 3


def test_sides_set_by_a_person_stand_and_the_others_follow_the_rules():
    draw = pair_round(TOURNAMENT)
    board = draw.boards[0]
    pairs = [(b.first, b.second) for b in draw.boards]
    turned = complete_draw(TOURNAMENT, pairs, draw.bye, source=Source.EDITED, kept_sides=[(board.second, board.first)])
    assert (board.second, board.first) in sides(turned)
    assert sides(turned) - {(board.second, board.first)} == sides(draw) - {(board.first, board.second)}
    assert dict(turned.cost) == dict(draw.cost)


@pytest.mark.parametrize(
    ("pairs", "bye", "words"),
    [
        ([(1, 2), (3, 4)], None, "entrant 5 is missing"),
        ([(1, 2), (3, 1)], 4, "entrant 1 appears twice"),
        ([(1, 2), (3, 4)], 9, "entrant 9 is not present"),
        ([(1, 1), (3, 4)], 5, "entrant 1 appears twice"),
    ],
)
def test_a_draw_that_does_not_hold_everybody_once_is_refused_by_name(pairs, bye, words):
    with pytest.raises(Invalid) as refused:
        complete_draw(event(5), pairs, bye, source=Source.MANUAL)
    assert refused.value.slug == "draw-incomplete"
    assert words in [error.detail.split(" in round")[0] for error in refused.value.errors]


def test_improve_yields_strictly_better_valid_draws_and_ends_with_the_best():
    tournament = event(30, " ".join(f"{a}{'><='[a % 3]}{a + 15}" for a in range(1, 16)), rounds=9)
    draws = list(improve(tournament))
    assert draws
    assert all(violations(tournament, draw) == [] for draw in draws)
    keys = [(tuple(draw.cost.values()), not draw.optimal) for draw in draws]
    assert keys == sorted(set(keys), reverse=True)
    assert draws[-1].optimal
    assert draws[-1] == pair_round(tournament)
    assert opponents(draws[0]) == opponents(pair_round(tournament, stage="search"))


def test_improve_says_when_the_first_draw_was_the_best():
    tournament = event(4, "1=2 3=4", "1=3 2=4")
    draws = list(improve(tournament))
    assert [draw.optimal for draw in draws] == [False, True]
    assert draws[0].boards == draws[1].boards


def test_stage_is_named_in_the_draw():
    tournament = event(6, "1>2 3=4 5<6")
    assert pair_round(tournament).stage is Stage.OPTIMAL
    search = pair_round(tournament, stage="search")
    assert search.stage is Stage.SEARCH
    assert not search.optimal
    assert set(search.budget_used) == {"steps", "depth"}


def test_draw_and_replay_are_equal_whatever_the_order_of_the_input():
    bans = (ForbiddenPair(entrants=(1, 5)), ForbiddenPair(entrants=(3, 6)))
    tournament = replace(TOURNAMENT, forbidden_pairs=bans)
    turned = replace(
        tournament,
        entrants=tournament.entrants[::-1],
        forbidden_pairs=bans[::-1],
        rounds=tuple(replace(r, boards=r.boards[::-1], byes=r.byes[::-1]) for r in tournament.rounds),
    )
    assert pair_round(turned) == pair_round(tournament)
    assert pair_round(turned, stage="search") == pair_round(tournament, stage="search")
