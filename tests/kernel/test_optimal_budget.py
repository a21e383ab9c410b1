"""Budgets: whatever is cut short is a legal draw that claims no more than it proved."""

from __future__ import annotations

import pytest

from bench.fields import swiss_field
from qisai.kernel.pairing import optimal
from qisai.kernel.pairing.cost import cost_of
from qisai.kernel.pairing.field import Field, compile_field
from qisai.kernel.pairing.systems import system_for


def legal(field: Field, found: optimal.OptimalResult) -> bool:
    placed = [index for pair in found.pairs for index in pair] + ([] if found.bye is None else [found.bye])
    return (
        sorted(placed) == list(range(field.size))
        and all(i < j and j not in field.barred[i] for i, j in found.pairs)
        and (found.bye is None or field.bye_eligible[found.bye])
    )


@pytest.mark.parametrize("entrants", [20, 200])
def test_with_any_budget_the_draw_is_legal_and_what_it_says_is_proven_is_the_best(entrants: int) -> None:
    field = compile_field(swiss_field(entrants, rounds_played=6))
    best = optimal.solve(field)
    assert best.optimal
    best_cost = cost_of(field, best.pairs, best.bye)
    seen = set()
    for budget in [0, 1, 3, 10, 30, 100, 200, 300, 400, 500, 700, 1000, 2000, best.steps, best.steps + 1]:
        found = optimal.solve(field, budget=budget)
        assert legal(field, found)
        cost = cost_of(field, found.pairs, found.bye)
        assert list(cost.values()) >= list(best_cost.values())
        assert [cost[name] for name in found.proven] == [best_cost[name] for name in found.proven]
        assert found.optimal == (len(found.proven) == len(cost))
        if found.optimal:
            assert found.pairs == best.pairs
        seen.add(len(found.proven))
    assert {0, len(best_cost)} <= seen


def test_with_just_the_steps_it_takes_the_draw_is_optimal() -> None:
    field = compile_field(swiss_field(200, rounds_played=6))
    steps = optimal.solve(field).steps
    assert optimal.solve(field, budget=steps).optimal
    assert not optimal.solve(field, budget=steps // 2).optimal


def test_improve_yields_draws_that_do_not_get_worse_and_ends_with_the_best() -> None:
    for entrants in (30, 150):
        field = compile_field(swiss_field(entrants, rounds_played=4))
        found = list(optimal.improve(field))
        costs = [list(cost_of(field, draw.pairs, draw.bye).values()) for draw in found]
        assert len(found) > 1
        assert costs == sorted(costs, reverse=True)
        assert found[0].proven == tuple(criterion.name for criterion in system_for(field).stage_a)
        assert found[-1].optimal


def test_a_field_without_a_legal_draw_is_refused_whatever_the_budget() -> None:
    small = compile_field(swiss_field(4, rounds_played=2))
    everybody = frozenset(range(small.size))
    for size in (small.size, 60):
        field = compile_field(swiss_field(size, rounds_played=1)) if size == 60 else small
        stuck = frozenset(range(field.size)) if size == 60 else everybody
        barred = (stuck - {0}, *(other | {0} for other in field.barred[1:]))
        lonely = _with_barred(field, barred)
        for budget in (None, 0, 50):
            with pytest.raises(optimal.InfeasibleField):
                optimal.solve(lonely, budget=budget)


def _with_barred(field: Field, barred: tuple[frozenset[int], ...]) -> Field:
    values = {name: getattr(field, name) for name in field.__slots__}
    eligible = (False, *field.bye_eligible[1:])
    return Field(**{**values, "barred": barred, "bye_eligible": eligible})
