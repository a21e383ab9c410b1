"""Hard fields: still exact and proven, in a number of steps that stays far below exponential, with bounded memory."""

from __future__ import annotations

import tracemalloc

import pytest

from bench.hostile_fields import all_draw, anybody_wins, chained, first_wins, round_robin_field, stronger_wins
from qisai.kernel import pair_round
from qisai.kernel.check import violations
from qisai.kernel.model import FirstRound, FirstRoundMode, Regulations, System, Tournament
from qisai.kernel.pairing import optimal
from qisai.kernel.pairing.cost import cost_of
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.optimal.dense import improve_dense
from qisai.kernel.pairing.optimal.sparse import improve_sparse
from qisai.kernel.pairing.systems import system_for

STEPS_PER_ENTRANT = 1500
"""Far more than any of these needs, far fewer than anything exponential."""

FIELDS = {
    "nearly all met": round_robin_field(120, rounds_played=113, outcome=anybody_wins(1)),
    "nearly all met, scores far apart": round_robin_field(60, rounds_played=54, outcome=stronger_wins),
    "one score": round_robin_field(200, rounds_played=9, outcome=all_draw),
    "one score, most met": round_robin_field(200, rounds_played=150, outcome=all_draw),
    "two scores": round_robin_field(1000, rounds_played=1, outcome=first_wins),
    "card teams with one score": round_robin_field(
        400, rounds_played=3, outcome=all_draw, regulations=Regulations(system=System.DRAW_NUMBER, first_move=False)
    ),
    "forty rounds played": round_robin_field(200, rounds_played=40, outcome=anybody_wins(1)),
    "a float through every group": chained(120, rounds_played=8, width=4),
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_hard_field_gets_its_best_draw_in_few_steps(name: str) -> None:
    tournament = FIELDS[name]
    draw = pair_round(tournament)
    assert draw.optimal
    assert draw.proven == tuple(draw.cost)
    assert violations(tournament, draw) == []
    assert draw.budget_used["steps"] < STEPS_PER_ENTRANT * len(tournament.entrants)


@pytest.mark.parametrize("name", [name for name, field in FIELDS.items() if len(field.entrants) <= 120])
def test_in_a_hard_field_both_solvers_agree(name: str) -> None:
    field = compile_field(FIELDS[name])
    *_, plain = improve_dense(field, system_for(field))
    *_, sparse = improve_sparse(field, system_for(field))
    assert (sparse.pairs, sparse.bye) == (plain.pairs, plain.bye)


def test_a_chain_of_forbidden_pairs_sends_a_floater_out_of_every_group() -> None:
    field = compile_field(FIELDS["a float through every group"])
    found = optimal.solve(field)
    crossing = {field.group[i] for i, j in found.pairs if field.group[i] != field.group[j]}
    assert len(crossing) >= len(field.group_size) // 2
    assert cost_of(field, found.pairs, found.bye)["cross_pairs"] >= len(crossing)


def test_a_field_of_thousands_in_one_group_needs_little_memory() -> None:
    """Looking at all its pairs at once would take 130 MB; the solver looks at blocks of them."""
    adjacent = Regulations(first_round=FirstRound(mode=FirstRoundMode.ADJACENT))
    tournament: Tournament = round_robin_field(
        1200, rounds_played=0, outcome=all_draw, regulations=adjacent, forbidden=((1, 2), (701, 702))
    )
    field = compile_field(tournament)
    tracemalloc.start()
    try:
        found = optimal.solve(field)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.optimal
    assert cost_of(field, found.pairs, found.bye)["order"] == 4
    assert peak < 30_000_000
