"""The sparse solver against the plain one: the same draw, whatever the settings and the size."""

from __future__ import annotations

import pytest

from qisai.kernel.pairing.cost import cost_of
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.optimal import InfeasibleField
from qisai.kernel.pairing.optimal.dense import improve_dense
from qisai.kernel.pairing.optimal.result import OptimalResult
from qisai.kernel.pairing.optimal.sparse import any_draw, improve_sparse
from qisai.kernel.pairing.systems import system_for
from tests.kernel.random_fields import random_fields


def best(field: Field, *, sparse: bool) -> OptimalResult | None:
    solver = improve_sparse if sparse else improve_dense
    try:
        *_, last = solver(field, system_for(field))
    except InfeasibleField:
        return None
    return last


def check_same(seed: int, field: Field) -> None:
    expected, found = best(field, sparse=False), best(field, sparse=True)
    assert (expected is None) == (found is None), seed
    if expected is None or found is None:
        return
    assert found.optimal
    assert found.proven == tuple(cost_of(field, found.pairs, found.bye)) == expected.proven
    assert cost_of(field, found.pairs, found.bye) == cost_of(field, expected.pairs, expected.bye), seed
    assert (found.pairs, found.bye) == (expected.pairs, expected.bye), seed


@pytest.mark.parametrize("batch", range(4))
def test_small_fields_with_every_setting_get_the_same_draw(batch: int) -> None:
    for seed, field in random_fields(range(batch * 150, batch * 150 + 150), smallest=2, largest=12):
        check_same(seed, field)


@pytest.mark.parametrize("batch", range(4))
def test_fields_of_twenty_to_sixty_get_the_same_draw(batch: int) -> None:
    for seed, field in random_fields(range(batch * 45, batch * 45 + 45), smallest=20, largest=60):
        check_same(seed, field)


def test_fields_of_a_hundred_and_more_get_the_same_draw() -> None:
    for seed, field in random_fields(range(12), smallest=100, largest=200):
        check_same(seed, field)


def test_any_draw_is_legal_and_claims_nothing() -> None:
    for _, field in random_fields(range(80), smallest=2, largest=40):
        try:
            found = any_draw(field)
        except InfeasibleField:
            assert best(field, sparse=False) is None
            continue
        placed = [index for pair in found.pairs for index in pair] + ([] if found.bye is None else [found.bye])
        assert sorted(placed) == list(range(field.size))
        assert all(j not in field.barred[i] for i, j in found.pairs)
        assert found.bye is None or field.bye_eligible[found.bye]
        assert not found.optimal
        assert found.proven == ()
