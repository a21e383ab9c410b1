"""Stage A's certificate: prices are checked against every pair, so a bad choice of candidates cannot pass."""

from __future__ import annotations

import pytest

from bench.fields import swiss_field
from qisai.kernel.model import Regulations, System
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.optimal.candidates import starting_edges, starting_prices
from qisai.kernel.pairing.optimal.certificate_gap import least_gap, least_values
from qisai.kernel.pairing.optimal.certificate_sums import too_cheap
from qisai.kernel.pairing.optimal.matcher import Matcher
from qisai.kernel.pairing.optimal.odd_sets import BrokenProof, check_sum
from qisai.kernel.pairing.optimal.result import InfeasibleField
from qisai.kernel.pairing.optimal.stage_a import StageA
from qisai.kernel.pairing.optimal.structure import Tables, classes_of, tables
from qisai.kernel.pairing.optimal.sums import Priced, solve_sums
from qisai.kernel.pairing.systems import system_for
from qisai.kernel.pairing.view import view_of
from tests.kernel.random_fields import random_fields


def packed_field(entrants: int, *, seed: int = 1, system: System = System.SCORE_GROUP) -> Tables:
    tournament = swiss_field(entrants, rounds_played=5, seed=seed, regulations=Regulations(system=system, rounds=9))
    view = view_of(compile_field(tournament))
    return tables(view, system_for(view.field).stage_a, classes=classes_of(view), largest_gap=None)


def who_floats(found: Priced) -> tuple[set[tuple[int, int]], int | None]:
    """(entrant, group met) of all who leave their group, and the bye: all that stage A settles."""
    group = found.tables.view.field.group
    pairs = [*found.pairs, *((j, i) for i, j in found.pairs)]
    return {(i, group[j]) for i, j in pairs if group[i] != group[j]}, found.bye


@pytest.mark.parametrize("system", [System.SCORE_GROUP, System.DRAW_NUMBER])
def test_pairs_that_poor_candidates_left_out_are_named_and_make_up_for_it(system: System) -> None:
    packed = packed_field(40, system=system)
    size = packed.view.field.size + packed.view.field.size % 2
    good, _ = solve_sums(packed)
    poor = starting_edges(packed)[::9]
    matcher = Matcher(size)
    matcher.offer((v, v + 1, packed.largest + 1) for v in range(0, size, 2))
    matcher.offer(poor)
    matcher.start(starting_prices(packed))
    matcher.solve()
    without_check = sum(matcher.neighbours[u][v] for u, v in enumerate(matcher.mate) if u < v) // 2
    assert without_check > good.total
    assert too_cheap(packed, matcher.y, matcher.positive())
    repaired, _ = solve_sums(packed, candidates=poor)
    assert repaired.total == good.total
    assert who_floats(repaired) == who_floats(good)


def test_even_without_any_candidate_the_best_draw_is_found() -> None:
    packed = packed_field(24)
    found, _ = solve_sums(packed, candidates=[])
    assert who_floats(found) == who_floats(solve_sums(packed)[0])


def test_every_pair_below_its_price_is_noticed() -> None:
    """Raise one price at a time: the certificate must name a pair exactly where the definition has one."""
    noticed = 0
    for seed in range(6):
        packed = packed_field(21, seed=seed)
        field = packed.view.field
        found, _ = solve_sums(packed)
        assert too_cheap(packed, found.y, found.odd_sets) == []
        sets = [(set(inside), z) for inside, z in found.odd_sets]
        for raised in range(len(found.y)):
            y = list(found.y)
            y[raised] += 2
            broken = set()
            for v in range(field.size):
                for u in range(v):
                    around = sum(z for inside, z in sets if u in inside and v in inside)
                    if v not in field.barred[u] and 2 * packed.cost(u, v) - y[u] - y[v] + around < 0:
                        broken.add((u, v))
                around = sum(z for inside, z in sets if v in inside and field.size in inside)
                if v in packed.byes and 2 * packed.byes[v] - y[v] - y[field.size] + around < 0:
                    broken.add((v, field.size))
            named = {(u, v) for u, v, _ in too_cheap(packed, y, found.odd_sets)}
            assert named <= broken
            assert bool(named) == bool(broken)
            noticed += bool(broken)
    assert noticed > 50


def test_prices_that_do_not_add_up_to_the_cost_prove_nothing() -> None:
    packed = packed_field(20)
    found, _ = solve_sums(packed)
    check_sum(found.y, found.odd_sets, found.total)
    with pytest.raises(BrokenProof, match="the matching costs"):
        check_sum(found.y, found.odd_sets, found.total + 1)
    with pytest.raises(BrokenProof, match="odd set"):
        check_sum(found.y, [((0, 1), 2)], found.total)


def test_simple_bounds_never_exceed_what_the_best_draw_has() -> None:
    """Where stage A relies on them, the best draw by bisection has just these values and this gap."""
    equal = 0
    for seed, field in random_fields(range(250), smallest=2, largest=14):
        view, system = view_of(field), system_for(field)
        at = [c.name for c in system.stage_a].index("max_gap")
        before = system.stage_a[:at]
        bounds = least_values(field, before)
        classes = classes_of(view)
        try:
            free, _ = solve_sums(tables(view, before, classes=classes, largest_gap=None))
        except InfeasibleField:
            continue
        assert bounds is not None
        assert list(bounds.values()) <= list(free.values(before).values()), seed
        if bounds != free.values(before):
            continue
        least = least_gap(field)
        best = StageA(view=view, criteria=system.stage_a).solve()
        gap = max((field.score[i] - field.score[j] for i, j in best.pairs), default=0)
        assert least <= gap, seed
        equal += least == gap
    assert equal > 60
