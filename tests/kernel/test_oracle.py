"""The judge itself, against small cases worked out by hand from docs/rules.md, and against its own slow paths."""

import hashlib
import random

import pytest

from tests.kernel.oracle import (
    Draw,
    best_draw,
    breaches,
    cost,
    cross_cap,
    has_legal_draw,
    legal_draws,
    read,
    seated_boards,
)
from tests.kernel.random_tournaments import random_tournament


def event_of(count, *rounds, regulations=None, coming=None, entrants=None, forbidden=()):
    return {
        "format": "qisai.tournament/1",
        "regulations": regulations or {},
        "entrants": [{"number": n} | (entrants or {}).get(n, {}) for n in range(1, count + 1)],
        "forbidden_pairs": list(forbidden),
        "rounds": [
            {
                "number": index,
                "boards": [
                    {"board": i, "first": a, "second": b, "result": result}
                    for i, (a, b, result) in enumerate(boards, start=1)
                ],
                "byes": [{"entrant": number, "kind": kind} for number, kind in byes],
            }
            for index, (boards, byes) in enumerate(rounds, start=1)
        ],
        "next": {"round": len(rounds) + 1, "absent": [], "byes": []} | (coming or {}),
    }


def lot(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:4], 16)


def test_four_who_played_two_rounds_have_one_draw_left():
    played = event_of(
        4, ([(1, 2, "draw"), (3, 4, "draw")], []), ([(1, 3, "draw"), (2, 4, "draw")], []), regulations={"rounds": 3}
    )
    assert list(legal_draws(read(played))) == [Draw(((1, 4), (2, 3)), None)]


def test_first_round_fold_pairs_strongest_with_weakest_and_the_last_has_the_bye():
    seeds = {1: {"seed": 1500}, 2: {"seed": 1900}, 3: {}, 4: {"seed": 1700}, 5: {"seed": 1700}}
    answer = best_draw(read(event_of(5, entrants=seeds)))
    assert answer.draws == [Draw(((1, 2), (4, 5)), 3)]
    assert answer.cost["order"] == 0
    assert answer.cost["float_places"] == 0
    assert answer.cost["float_lots"] == lot("0:1:3")
    assert answer.cost["pair_lots"] == lot("0:1:1:2") + lot("0:1:4:5")


def test_first_round_slide_and_adjacent():
    slide = best_draw(read(event_of(6, regulations={"first_round": {"mode": "slide"}})))
    assert slide.draws[0].pairs == ((1, 4), (2, 5), (3, 6))
    adjacent = best_draw(read(event_of(6, regulations={"first_round": {"mode": "adjacent"}})))
    assert adjacent.draws[0].pairs == ((1, 2), (3, 4), (5, 6))


def test_club_mates_are_kept_apart_before_order():
    clubs = {1: {"club": "East"}, 4: {"club": "East"}, 2: {"club": "West"}, 3: {"club": "West"}}
    event = read(event_of(4, regulations={"first_round": {"mode": "fold", "avoid_same_club": True}}, entrants=clubs))
    answer = best_draw(event)
    assert answer.cost["club_pairs"] == 0
    assert answer.cost["order"] == 2  # 1-2 and 3-4: (1+2-5)^2 = 4 and (3+4-5)^2 = 4; 1-3, 2-4: 1 and 1
    assert answer.draws[0].pairs == ((1, 3), (2, 4))
    assert cost(event, Draw(((1, 4), (2, 3)), None))["club_pairs"] == 2


def test_scores_count_each_result_and_each_bye():
    history = (
        [(1, 2, "first_forfeit"), (3, 4, "double_forfeit"), (5, 6, "void"), (7, 8, "adjourned")],
        [(9, "pairing"), (10, "half"), (11, "full"), (12, "zero")],
    )
    points = {"win": 3, "draw": 1, "loss": 0.5, "bye": 2}
    event = read(event_of(13, history, regulations={"points": points}))
    scores = {number: event.score(number) for number in range(1, 14)}
    assert scores == {1: 0, 2: 6, 3: 0, 4: 0, 5: 0, 6: 0, 7: 2, 8: 2, 9: 4, 10: 2, 11: 6, 12: 0, 13: 0}
    assert event.met == {(7, 8)}
    assert [number for number in scores if event.past[number].unplayed] == [*range(1, 7), *range(9, 14)]
    assert [number for number in scores if event.past[number].byes_counted] == [2, 9, 11]


def test_forfeits_count_as_met_only_where_set_and_void_never():
    history = ([(1, 2, "first_forfeit"), (3, 4, "double_forfeit"), (5, 6, "void")], [])
    assert read(event_of(6, history)).met == set()
    assert read(event_of(6, history, regulations={"forfeit_counts_as_met": True})).met == {(1, 2), (3, 4)}


def test_third_same_side_in_a_row_and_surplus_are_breaches_but_not_for_leaders_in_the_last_round():
    history = [([(1, 3, "draw"), (2, 4, "draw")], []), ([(1, 4, "draw"), (2, 3, "draw")], [])]
    both_first_twice = read(event_of(4, *history))
    values = cost(both_first_twice, Draw(((1, 2), (3, 4)), None))
    assert (values["side_breaches"], values["strong_clashes"], values["side_clashes"]) == (2, 2, 2)
    last = read(event_of(4, *history, regulations={"rounds": 3}))
    assert cost(last, Draw(((1, 2), (3, 4)), None))["side_breaches"] == 0
    assert cost(last, Draw(((1, 2), (3, 4)), None))["side_clashes"] == 2


def test_float_terms_of_one_cross_pair():
    event = read(event_of(4, ([(1, 3, "first_win"), (2, 4, "first_win")], [])))
    draw = Draw(((1, 4), (2, 3)), None)  # everybody crosses: scores 2 2 0 0
    values = cost(event, draw)
    assert values["leaders_apart"] == values["cross_pairs"] == 2
    assert (values["max_gap"], values["gap_squares"]) == (2, 8)
    assert values["float_places"] == (1 + 1) + (0 + 0)  # 1 is one above the bottom, 4 one below the top
    assert values["float_lots"] == lot("0:2:1>0") + lot("0:2:4>2") + lot("0:2:2>0") + lot("0:2:3>2")
    assert values["order"] == (0 - 1) ** 2 + (1 - 0) ** 2
    assert cross_cap(event, draw) == 2


def test_float_history_weighs_the_last_rounds_more():
    # 1 floats down against 3 in round 2 (2 against 0) and against 4 in round 3 (2 against 1)
    rounds = [
        ([(1, 2, "first_win"), (3, 4, "second_win")], []),
        ([(1, 3, "second_win"), (4, 2, "draw")], []),
        ([(3, 2, "draw"), (4, 1, "draw")], []),
    ]
    event = read(event_of(4, *rounds))
    assert event.past[1].floats == [(2, "down"), (3, "up")]
    assert event.past[4].floats == [(2, "down"), (3, "down")]
    # round 4: 4 (score 4) against 1 (score 3): 4 floated down at 8 and 4; 1 up at 8, down at 1
    values = cost(event, Draw(((1, 4), (2, 3)), None))
    assert [event.score(number) for number in (1, 2, 3, 4)] == [3, 2, 3, 4]
    # 3 (score 3) against 2 (score 2): 3 floated up in round 2 and down in round 3; 2 up in 2 and 3
    assert event.past[3].floats == [(2, "up"), (3, "down")]
    assert event.past[2].floats == [(2, "up"), (3, "up")]
    assert values["float_history"] == (8 + 4) + (8 + 1) + (8 + 1) + (8 + 4)


def test_card_teams_descend_with_fold_in_even_rounds_under_z_and_in_odd_ones_under_u():
    rules = {"system": "draw_number", "first_move": False}
    played = ([(1, 8, "draw"), (2, 7, "draw"), (3, 6, "draw"), (4, 5, "draw")], [])
    z = best_draw(read(event_of(8, played, regulations=rules)))
    assert z.cost["order"] > 0  # fold is 1-8, 2-7 …, and all of these have met
    u_first = best_draw(read(event_of(8, regulations=rules | {"direction": "U"})))
    assert u_first.draws[0].pairs == ((1, 8), (2, 7), (3, 6), (4, 5))
    u_second = best_draw(read(event_of(8, played, regulations=rules | {"direction": "U"})))
    assert u_second.draws[0].pairs == ((1, 2), (3, 4), (5, 6), (7, 8))
    assert list(z.cost) == [
        "bye_score",
        "max_gap",
        "gap_squares",
        "cross_pairs",
        "repeat_floats",
        "float_places",
        "float_lots",
        "order",
        "pair_lots",
    ]


def test_descending_groups_count_places_from_the_highest_number():
    rules = {"system": "draw_number", "first_move": False}
    event = read(event_of(5, ([(1, 2, "draw"), (3, 4, "draw")], [(5, "zero")]), regulations=rules))
    assert cost(event, Draw(((2, 3), (4, 5)), 1))["float_places"] == (0**2) + (0**2) + (3**2)


def test_the_bye_goes_to_those_with_fewest_even_if_that_leaves_no_draw():
    history = ([(1, 2, "draw")], [(3, "pairing")])
    event = read(event_of(3, history))
    assert {draw.bye for draw in legal_draws(event)} == {1, 2}
    stuck = read(event_of(3, history, forbidden=[{"entrants": [1, 3]}, {"entrants": [3, 2], "from_round": 2}]))
    assert list(legal_draws(stuck)) == []
    assert not has_legal_draw(stuck)


def test_sides_follow_limits_then_wishes_then_surplus_then_alternation():
    two_rounds = [([(1, 3, "draw"), (4, 2, "draw")], []), ([(1, 4, "draw"), (2, 3, "draw")], [])]
    event = read(event_of(4, *two_rounds))
    boards = seated_boards(event, Draw(((1, 2), (3, 4)), None))
    assert [(board["first"], board["second"]) for board in boards] == [(2, 1), (3, 4)]
    assert [(b["first"], b["second"]) for b in seated_boards(read(event_of(4)), Draw(((1, 4), (2, 3)), None))] == [
        (1, 4),
        (3, 2),
    ]


def test_look_ahead_passes_over_a_cheaper_draw_that_runs_dry():
    # two rounds of six make a ring 1-2-3-4-5-6; drawing 1-4, 2-5, 3-6 (ideal for `slide`) would leave two triangles
    ring = [
        ([(1, 2, "draw"), (3, 4, "draw"), (5, 6, "draw")], []),
        ([(2, 3, "draw"), (4, 5, "draw"), (6, 1, "draw")], []),
    ]
    rules = {"first_move": False, "within_group": "slide"}
    last = best_draw(read(event_of(6, *ring, regulations=rules | {"rounds": 3})))
    assert (last.draws[0].pairs, last.cost["order"], last.look_ahead) == (((1, 4), (2, 5), (3, 6)), 0, "none")
    one_more = best_draw(read(event_of(6, *ring, regulations=rules | {"rounds": 4})))
    assert one_more.look_ahead == "excluded"
    assert one_more.cost["order"] == 2  # 1-5, 2-4, 3-6 or its like: 1 + 1 + 0
    two_more = best_draw(read(event_of(6, *ring, regulations=rules | {"rounds": 6})))
    assert (two_more.draws[0].pairs, two_more.look_ahead) == (last.draws[0].pairs, "none")  # nothing lasts that long


def test_boards_are_ordered_by_scores_and_fixed_boards_are_kept():
    fixed = {2: {"fixed_board": 3}, 6: {"fixed_board": 3}}
    history = ([(1, 2, "first_win"), (3, 4, "first_win"), (5, 6, "draw")], [])
    event = read(event_of(6, history, entrants=fixed))
    boards = seated_boards(event, Draw(((1, 3), (2, 4), (5, 6)), None))
    assert [(board["board"], min(board["first"], board["second"])) for board in boards] == [(1, 1), (2, 2), (3, 5)]


def test_breaches_name_everything_that_is_wrong():
    event = read(event_of(5, ([(1, 2, "draw"), (3, 4, "draw")], [(5, "pairing")]), forbidden=[{"entrants": [3, 5]}]))
    drawn = {
        "boards": [{"board": 1, "first": 2, "second": 1}, {"board": 1, "first": 3, "second": 5}],
        "bye": 5,
    }
    assert breaches(event, drawn) == [
        "4 appears 0 times",
        "5 appears 2 times",
        "(1, 2) met before",
        "(3, 5) is forbidden in round 2",
        "the bye may not go to 5",
        "a board number is used twice",
    ]


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_the_best_draw_is_the_least_of_all_legal_draws(first):
    for seed in range(first, first + 50):
        event = read(random_tournament(random.Random(seed), largest=7))
        answer = best_draw(event)
        draws = list(legal_draws(event))
        assert bool(draws) == (answer is not None)
        if draws and answer.look_ahead != "excluded":
            least = min(draws, key=lambda draw: tuple(cost(event, draw).values()))
            assert cost(event, least) == answer.cost
        if event.regulations["allow_bye"]:
            assert has_legal_draw(event) == bool(draws)
