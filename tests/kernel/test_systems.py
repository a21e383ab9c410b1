"""Systems are lists: the shipped ones, one added without touching other code, and the round robin."""

import random
import re
from itertools import combinations
from pathlib import Path

import pytest

from qisai.kernel import pair_round
from qisai.kernel.check import violations
from qisai.kernel.model import FirstRound, FirstRoundMode, SidePriority, Stage, System
from qisai.kernel.pairing.cost import cost_of
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.round_robin import berger_round, rounds_needed
from qisai.kernel.pairing.small_fields import draws_best_first, legal_draws
from qisai.kernel.pairing.systems import SYSTEMS, system_for
from qisai.kernel.pairing.view import view_of
from tests.kernel.short_events import event, opponents, played, sides

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-pairing-system.md"


def names(**settings):
    return [criterion.name for criterion in system_for(compile_field(event(2, **settings))).criteria]


def test_score_group_has_the_criteria_of_the_rules_in_their_order():
    assert names() == [
        *("bye_score", "bye_unplayed", "side_breaches", "leaders_apart", "max_gap", "gap_squares", "cross_pairs"),
        *("strong_clashes", "side_clashes", "float_history", "float_places", "float_lots", "order", "pair_lots"),
    ]


def test_draw_number_has_fewer_and_spreads_floats():
    expected = ["bye_score", "max_gap", "gap_squares", "cross_pairs", "repeat_floats", "float_places", "float_lots"]
    assert names(system=System.DRAW_NUMBER) == [*expected, "order", "pair_lots"]


def test_under_score_keeps_all_criteria():
    assert sorted(names(side_priority=SidePriority.UNDER_SCORE)) == sorted(names())


def test_every_system_of_an_event_is_a_list():
    assert set(SYSTEMS) == set(System)


def example():
    """The code block of the how-to page, run as a module of its own."""
    module = {"__name__": "even_floats"}
    code = re.search(r"```python\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL)[1]
    exec(compile(code, "even_floats.py", "exec"), module)
    return module["EVEN_FLOATS"]


@pytest.mark.parametrize("stage", list(Stage)[1:])
def test_a_new_system_draws_without_touching_other_code(stage):
    system = example()
    for seed in range(25):
        rng = random.Random(seed)
        tournament = event(rng.choice([6, 7, 8]), system=System.DRAW_NUMBER, first_move=False, lot_seed=seed)
        for _ in range(3):
            draw = pair_round(tournament, system=system, stage=stage)
            assert list(draw.cost) == [criterion.name for criterion in system.criteria]
            assert violations(tournament, draw) == []
            if stage is Stage.OPTIMAL:
                assert tuple(draw.cost.values()) == least(tournament, system)
            marks = [f"{b.first}{rng.choice('><=]')}{b.second}" for b in draw.boards]
            tournament = played(tournament, draw, " ".join(marks))


def least(tournament, system):
    field = compile_field(tournament)
    return min(tuple(cost_of(field, *drawn, system=system).values()) for drawn in legal_draws(view_of(field)))


def test_small_fields_list_every_legal_draw_the_cheapest_first():
    for seed in range(6):
        tournament = event(7, "1>2 3=4 5<6 7U", "1=3 2=5 4>7 6H", lot_seed=seed)
        field = compile_field(tournament)
        view, system = view_of(field), system_for(field)
        costs = [tuple(cost_of(field, *drawn).values()) for drawn in draws_best_first(view, system)]
        assert costs == sorted(costs)
        assert len(costs) == len(legal_draws(view)) > 20


@pytest.mark.parametrize("size", range(2, 13))
def test_berger_tables_let_everybody_meet_everybody_once(size):
    numbers = list(range(1, size + 1))
    tables = [berger_round(numbers, round_number) for round_number in range(1, rounds_needed(size) + 1)]
    met = [tuple(sorted(pair)) for table in tables for pair in table]
    assert sorted(met) == list(combinations(numbers, 2))
    for table in tables:
        assert len({number for pair in table for number in pair}) == size - size % 2
    for number in numbers:
        firsts = sum(number == first for table in tables for first, _ in table)
        assert abs(2 * firsts - sum(number in pair for table in tables for pair in table)) <= 1


def test_berger_table_of_six_is_the_known_one():
    assert [set(berger_round(range(1, 7), r)) for r in (1, 2, 3)] == [
        {(1, 6), (2, 5), (3, 4)},
        {(6, 4), (5, 3), (1, 2)},
        {(2, 6), (3, 1), (4, 5)},
    ]


@pytest.mark.parametrize("size", [4, 5, 8, 9])
@pytest.mark.parametrize("stage", ["optimal", "search"])
def test_a_round_robin_is_drawn_by_the_table_to_the_end(size, stage):
    rng = random.Random(size)
    rounds = rounds_needed(size)
    tournament = event(
        size, system=System.ROUND_ROBIN, rounds=rounds, first_round=FirstRound(mode=FirstRoundMode.SYSTEM)
    )
    for round_number in range(1, rounds + 1):
        draw = pair_round(tournament, stage=stage)
        assert sides(draw) == set(berger_round(range(1, size + 1), round_number))
        marks = [f"{b.first}{rng.choice('><=')}{b.second}" for b in draw.boards]
        tournament = played(tournament, draw, " ".join(marks))


def test_a_round_robin_stays_legal_when_somebody_leaves():
    tournament = event(6, system=System.ROUND_ROBIN, rounds=5, entrants={4: {"withdrawn_from": 3}})
    for _ in range(5):
        draw = pair_round(tournament)
        assert violations(tournament, draw) == []
        table = {tuple(sorted(pair)) for pair in berger_round(range(1, 7), draw.round)}
        assert len(opponents(draw) - table) == draw.cost["table_misses"]
        tournament = played(tournament, draw)
    assert all(len(round_.byes) == 1 for round_ in tournament.rounds[2:])
