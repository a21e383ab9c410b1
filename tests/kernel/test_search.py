"""The search: a valid draw wherever one exists, within limits, and honest about what it relaxed."""

import random

import pytest
import rustworkx

from qisai.kernel.model import ForbiddenPair, Limits, System
from qisai.kernel.pairing import NoLegalDraw
from qisai.kernel.pairing.cost import cost_of
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.legal_graph import legal_graph
from qisai.kernel.pairing.maximum_matching import NOBODY, bits, complete_matching
from qisai.kernel.pairing.search import ANY, LEVELS, search
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.random_tournaments import random_tournament
from tests.kernel.short_events import event


def found(tournament, **limits):
    """Pairs and bye of the search by number, and its report."""
    field = compile_field(tournament)
    result = search(field, Limits(**limits) if limits else None)
    pairs = {tuple(sorted((field.number[i], field.number[j]))) for i, j in result.pairs}
    return pairs, None if result.bye is None else field.number[result.bye], result


def is_legal(field, result):
    placed = sorted([index for pair in result.pairs for index in pair] + [result.bye] * field.odd)
    return (
        placed == list(range(field.size))
        and all(j not in field.barred[i] for i, j in result.pairs)
        and (result.bye is None or field.bye_eligible[result.bye])
    )


def test_pairs_inside_score_groups_in_their_order():
    assert found(event(8, "1>2 3>4 5>6 7>8"))[:2] == ({(1, 3), (5, 7), (2, 4), (6, 8)}, None)


def test_an_odd_group_gives_one_away_without_relaxing_anything():
    pairs, bye, result = found(event(6, "1>2 3>4 5>6"))
    assert (pairs, bye, result.relaxed) == ({(1, 3), (2, 5), (4, 6)}, None, ())


def test_earlier_pairs_are_reopened_where_the_last_two_have_met():
    pairs, _, result = found(event(4, "1=2 3=4", "1=3 2=4"))
    assert pairs == {(1, 4), (2, 3)}
    assert result.relaxed == ()


def test_four_after_two_rounds_find_their_one_legal_round():
    pairs, _, _ = found(event(4, "1>2 3>4", "1>3 2<4"))
    assert pairs == {(1, 4), (2, 3)}


def test_side_limits_give_way_first_and_this_is_said():
    history = ("1=2 3=4", "1=4 3=2")
    _, _, strict = found(event(4, *history))
    assert strict.relaxed == ("sides",)


def test_relaxing_follows_the_order_of_the_rules():
    assert [(level.name, level.sides, level.cap) for level in LEVELS] == [
        ("", True, 0),
        ("sides", False, 0),
        ("score:1", False, 1),
        ("score:2", False, 2),
        ("score:3", False, 3),
        ("score:4", False, 4),
        ("score:any", False, ANY),
    ]


# 1 2 7 8 were first twice, 3 4 5 6 second twice.
FIRSTS_AND_SECONDS = ("1=5 2=6 7=3 8=4", "1=6 2=5 8=3 7=4")


def test_side_limits_hold_where_they_can():
    pairs, _, result = found(event(8, *FIRSTS_AND_SECONDS))
    assert pairs == {(1, 3), (2, 4), (5, 7), (6, 8)}
    assert result.relaxed == ()


def test_agreeing_wishes_come_before_the_order():
    pairs, _, _ = found(event(4, "1=2 3=4"))
    assert pairs == {(1, 4), (2, 3)}


def test_sides_do_not_influence_opponents_in_a_system_without_side_criteria():
    pairs, _, result = found(event(8, *FIRSTS_AND_SECONDS, system=System.DRAW_NUMBER))
    assert pairs == {(1, 2), (3, 4), (5, 6), (7, 8)}
    assert result.relaxed == ()


def test_the_search_is_strict_again_once_a_dead_end_is_passed():
    # Above, 1 to 4 can only be paired in breach; below, 5 to 12 can keep the limits.
    rounds = ("1=2 3=4 5=9 6=10 11=7 12=8", "1=4 3=2 5=10 6=9 12=7 11=8")
    byes = "1F 2F 3F 4F 5Z 6Z 7Z 8Z 9Z 10Z 11Z 12Z"
    pairs, _, result = found(event(12, byes, *rounds))
    assert pairs == {(1, 3), (2, 4), (5, 7), (6, 8), (9, 11), (10, 12)}
    assert result.relaxed == ("sides",)


def test_cross_pairs_give_way_when_a_group_cannot_pair_inside():
    # 1 2 | 3 4 by score, and both have met: one group must give two away.
    pairs, _, result = found(event(4, "1=2 3=4", "1>3 2>4"))
    assert pairs == {(1, 4), (2, 3)}
    assert result.relaxed == ("sides", "score:1", "score:2")


def test_bye_goes_to_the_lowest_score_then_most_games_then_the_bottom_place():
    assert found(event(5, "1>2 3>4 5U"))[1] == 4
    assert found(event(5, "1>2 3]4 5A"))[1] == 2
    assert found(event(3))[1] == 3
    assert found(event(3, "2>1 3A"))[1] == 1


@pytest.mark.parametrize("size", [3, 4])
def test_byes_off_refuse_only_odd_fields(size):
    field = compile_field(event(size, allow_bye=False))
    if size % 2:
        with pytest.raises(NoLegalDraw, match="gives no byes"):
            search(field)
    else:
        assert is_legal(field, search(field))


def test_a_round_robin_keeps_what_it_can_of_the_table():
    whole = compile_field(event(6, system=System.ROUND_ROBIN))
    assert not search(whole).exact_finish
    # Round 2 of the table is 6–4 5–3 1–2, of which two were played by hand in round 1.
    field = compile_field(event(6, "1=2 3=5 4H 6H", system=System.ROUND_ROBIN))
    result = search(field)
    assert result.exact_finish
    assert is_legal(field, result)
    assert (field.number.index(4), field.number.index(6)) in result.pairs
    away = compile_field(event(6, "1=6 2=5 3=4", system=System.ROUND_ROBIN, absent=[3]))
    assert away.number[search(away).bye] == 5
    assert not search(away).exact_finish


def test_bye_moves_where_the_likely_one_leaves_no_draw():
    # 3 is the likely bye, but 1 and 2 have met: the bye must go to one of them.
    field = compile_field(event(3, "1=2 3F"))
    assert is_legal(field, search(field))
    trapped = event(5, "1=2 3=4 5U", "1=3 2=4 5A", "1=4 2=3 5A")
    with pytest.raises(NoLegalDraw):
        found(trapped)


def test_zero_depth_and_one_step_still_end_in_a_legal_draw():
    for limits in ({"max_depth": 0}, {"max_steps": 1}, {"max_depth": 0, "max_steps": 0}):
        for seed in range(40):
            tournament = parse_tournament(random_tournament(random.Random(seed), smallest=4))
            field = compile_field(tournament)
            try:
                assert is_legal(field, search(field, Limits(**limits)))
            except NoLegalDraw:
                assert not has_draw(field)


def test_used_up_steps_are_reported():
    result = found(event(40), max_steps=3)[2]
    assert result.exact_finish
    assert result.steps == 3


def test_steps_stay_inside_the_limit():
    hostile = everybody_met_but_few(60)
    result = found(hostile, max_steps=500)[2]
    assert result.steps <= 500


def has_draw(field):
    """By another matching library than the one under test."""
    graph = rustworkx.PyGraph()
    size = field.size + field.size % 2
    graph.add_nodes_from(range(size))
    edges = [(i, j) for i in range(field.size) for j in range(i) if j not in field.barred[i]]
    edges += [(i, field.size) for i in range(field.size) if field.bye_eligible[i]]
    graph.add_edges_from_no_data(edges)
    return 2 * len(rustworkx.max_weight_matching(graph, max_cardinality=True)) == size


def test_a_legal_draw_is_found_exactly_where_one_exists():
    outcomes = set()
    for seed in range(600):
        field = compile_field(parse_tournament(random_tournament(random.Random(seed), smallest=3, largest=14)))
        if field.odd and not field.regulations.allow_bye:
            continue
        try:
            result = search(field)
        except NoLegalDraw:
            assert not has_draw(field), seed
            outcomes.add("none")
        else:
            assert is_legal(field, result), seed
            outcomes.add("exact" if result.exact_finish else "search")
    assert outcomes == {"none", "exact", "search"}


def everybody_met_but_few(size):
    """A round robin played until three rounds are left."""
    places = list(range(1, size + 1))
    rounds = []
    for _ in range(size - 4):
        rounds.append(" ".join(f"{places[at]}={places[-1 - at]}" for at in range(size // 2)))
        places = [places[0], places[-1], *places[1:-1]]
    return event(size, *rounds, balance_sides=False)


def test_a_field_where_nearly_everyone_has_met_is_still_drawn():
    field = compile_field(everybody_met_but_few(40))
    assert is_legal(field, search(field))


def test_deep_fields_use_no_recursion():
    field = compile_field(event(3000, system=System.DRAW_NUMBER))
    assert len(search(field).pairs) == 1500


def test_the_draw_is_no_worse_than_the_limits_allow():
    tight, loose = everybody_met_but_few(20), everybody_met_but_few(20)
    field = compile_field(tight)
    few, many = search(field, Limits(max_steps=20)), search(compile_field(loose))
    assert cost_of(field, many.pairs, many.bye)["max_gap"] <= cost_of(field, few.pairs, few.bye)["max_gap"]


def random_graph(rng, size):
    density = rng.random()
    adjacent = [0] * size
    edges = []
    for i in range(size):
        for j in range(i):
            if rng.random() < density:
                adjacent[i] |= 1 << j
                adjacent[j] |= 1 << i
                edges.append((i, j))
    return adjacent, edges


def test_maximum_matching_agrees_with_another_library_and_proves_what_is_missing():
    rng = random.Random(11)
    for _ in range(1500):
        size = rng.randint(1, 14)
        adjacent, edges = random_graph(rng, size)
        mate = [NOBODY] * size
        for i, j in rng.sample(edges, len(edges) // 3):
            if mate[i] == mate[j] == NOBODY:
                mate[i], mate[j] = j, i
        obstacle = complete_matching(adjacent, mate)
        graph = rustworkx.PyGraph()
        graph.add_nodes_from(range(size))
        graph.add_edges_from_no_data(edges)
        largest = len(rustworkx.max_weight_matching(graph, max_cardinality=True))
        assert sum(partner != NOBODY for partner in mate) == 2 * largest
        assert all(partner == NOBODY or adjacent[v] >> partner & 1 for v, partner in enumerate(mate))
        if obstacle is None:
            assert 2 * largest == size
        else:
            assert obstacle.missing == size - 2 * largest
            assert_cut_off(adjacent, obstacle)


def assert_cut_off(adjacent, obstacle):
    """Without `needed`, every component is odd and has no neighbour outside itself."""
    needed = set(obstacle.needed)
    for component in obstacle.components:
        assert len(component) % 2 == 1
        for v in component:
            assert set(bits(adjacent[v])) <= needed | set(component)


def test_legal_graph_lifts_one_rule_at_a_time():
    field = compile_field(event(3, "1=2 3F"))
    assert field.number == (3, 1, 2)
    assert legal_graph(field) == [0b0110, 0b1001, 0b1001, 0b0110]
    assert legal_graph(field, any_bye=True)[3] == 0b111
    assert legal_graph(field, rematches=True)[1] == 0b1101
    banned = compile_field(event(2, forbidden=[ForbiddenPair(entrants=(1, 2))]))
    assert legal_graph(banned) == [0, 0]
    assert legal_graph(banned, forbidden=True) == [0b10, 0b01]
