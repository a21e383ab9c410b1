"""The tables of stage A say of every pair what the criteria say."""

from __future__ import annotations

from dataclasses import replace

from qisai.kernel.pairing.criteria import SIDE_CLASHES, Combine
from qisai.kernel.pairing.optimal.structure import classes_of, is_structured, tables
from qisai.kernel.pairing.systems import ROUND_ROBIN, SCORE_GROUP, system_for
from qisai.kernel.pairing.view import view_of
from tests.kernel.random_fields import random_fields


def test_tables_give_each_pair_and_bye_the_packed_sum_of_its_criteria() -> None:
    seen = 0
    for seed, field in random_fields(range(120), smallest=4, largest=24):
        view, system = view_of(field), system_for(field)
        packed = tables(view, system.stage_a, classes=classes_of(view), largest_gap=None)
        sums = [c for c in system.stage_a if c.combine is Combine.SUM]
        for i in range(field.size):
            for j in range(i + 1, field.size):
                expected = sum(packed.weights[c.name] * c.of_pair(view, i, j) for c in sums)
                assert packed.cost(i, j) == expected, (seed, i, j)
            if field.bye_eligible[i]:
                assert packed.byes[i] == sum(packed.weights[c.name] * c.of_bye(view, i) for c in sums)
        seen += 1
    assert seen > 80


def test_one_unit_of_a_criterion_outweighs_all_later_ones_together() -> None:
    for _, field in random_fields(range(60), smallest=4, largest=20):
        view, system = view_of(field), system_for(field)
        packed = tables(view, system.stage_a, classes=classes_of(view), largest_gap=None)
        sums = [c for c in system.stage_a if c.combine is Combine.SUM]
        pairs = [(i, j) for j in range(field.size) for i in range(j)]
        byes = [i for i in range(field.size) if field.bye_eligible[i]]
        later = 0
        for criterion in reversed(sums):
            weight = packed.weights[criterion.name]
            assert weight > later
            dearest = max((criterion.of_pair(view, i, j) for i, j in pairs), default=0)
            bye = max((criterion.of_bye(view, i) for i in byes), default=0)
            later += weight * (field.size // 2 * dearest + bye)
        assert later <= packed.largest


def test_a_criterion_of_unknown_structure_is_recognised_even_under_a_known_name() -> None:
    assert not is_structured(ROUND_ROBIN.stage_a)
    assert is_structured(SCORE_GROUP.stage_a)
    impostor = replace(SIDE_CLASHES, of_pair=lambda _view, i, j: (i + j) % 2)
    assert not is_structured((*SCORE_GROUP.stage_a, impostor))
