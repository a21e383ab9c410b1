"""Stage B's certificate: every pair of a part is looked at, so a bad choice of candidates cannot pass."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bench.fields import swiss_field
from qisai.kernel.model import Regulations, System, WithinGroup
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.optimal.certificate_parts import too_cheap
from qisai.kernel.pairing.optimal.matcher import Matcher
from qisai.kernel.pairing.optimal.odd_sets import BrokenProof, Nest, Surroundings
from qisai.kernel.pairing.optimal.parts import Part, parts_of
from qisai.kernel.pairing.optimal.stage_a import StageA
from qisai.kernel.pairing.optimal.stage_b import best_pairs, starting_pairs
from qisai.kernel.pairing.systems import system_for
from qisai.kernel.pairing.view import view_of

SETTINGS = [
    Regulations(rounds=9),
    Regulations(rounds=9, within_group=WithinGroup.FOLD),
    Regulations(rounds=9, within_group=WithinGroup.SLIDE, balance_sides=False),
    Regulations(rounds=9, system=System.DRAW_NUMBER, first_move=False),
]


def parts(entrants: int, regulations: Regulations, *, seed: int = 1) -> list[Part]:
    field = compile_field(swiss_field(entrants, rounds_played=5, seed=seed, regulations=regulations))
    view, system = view_of(field), system_for(field)
    settled = StageA(view=view, criteria=system.stage_a).solve()
    return parts_of(view.settle(settled.pairs), system, settled.pairs)


def cost(part: Part, pairs: list[tuple[int, int]]) -> int:
    a, b = np.array(pairs, dtype=np.int64).T
    return sum(part.full_costs(a, b))


@pytest.mark.parametrize("regulations", SETTINGS)
def test_pairs_that_poor_candidates_left_out_are_named_and_make_up_for_it(regulations: Regulations) -> None:
    caught = 0
    for part in parts(150, regulations):
        a, b = (np.array(side, dtype=np.int64) for side in zip(*part.start, strict=True))
        good, _ = best_pairs(part)
        matcher = Matcher(part.size)
        matcher.offer(zip(a.tolist(), b.tolist(), part.full_costs(a, b), strict=True))
        matcher.start([0] * part.size)
        matcher.solve()
        if cost(part, good) < cost(part, list(part.start)):
            assert too_cheap(part, matcher.y, matcher.positive())
            caught += 1
        assert best_pairs(part, candidates=(a, b))[0] == good
    assert caught > 4


@pytest.mark.parametrize("regulations", SETTINGS)
def test_every_pair_below_its_price_is_noticed(regulations: Regulations) -> None:
    """Raise single prices a little or a lot: the pairs named are those that the definition names."""
    rng = random.Random(7)
    noticed = 0
    for part in parts(70, regulations):
        a, b = starting_pairs(part)
        matcher = Matcher(part.size)
        matcher.offer(zip(a.tolist(), b.tolist(), part.full_costs(a, b), strict=True))
        matcher.start([0] * part.size)
        matcher.solve()
        while missing := too_cheap(part, matcher.y, matcher.positive()):
            matcher.offer(missing)
            matcher.solve()
        sets = [(set(inside), z) for inside, z in matcher.positive()]
        barred = set(zip(part.barred[0].tolist(), part.barred[1].tolist(), strict=True))
        rows, columns = np.triu_indices(part.size, 1)
        full = part.full_costs(rows, columns)
        group = part.view.arrays.group[part.members]
        for _ in range(12):
            y = list(matcher.y)
            for _ in range(rng.randint(1, 3)):
                y[rng.randrange(part.size)] += rng.choice([1, 2, 1000, part.lot_factor, 40 * part.lot_factor])
            broken = set()
            for i, j, pair_cost in zip(rows.tolist(), columns.tolist(), full, strict=True):
                around = sum(z for inside, z in sets if i in inside and j in inside)
                legal = (i, j) not in barred and (group[i] != group[j] or not part.crosses)
                if legal and 2 * pair_cost - y[i] - y[j] + around < 0:
                    broken.add((i, j, pair_cost))
            assert set(too_cheap(part, y, matcher.positive())) == broken
            noticed += bool(broken)
    assert noticed > 40


def test_one_unit_of_cost_outweighs_all_lots_of_a_part() -> None:
    for part in parts(150, SETTINGS[0]):
        assert part.lot_factor > 65_535 * len(part.start)


def test_costs_beyond_64_bits_are_computed_exactly() -> None:
    part = max(parts(90, SETTINGS[0]), key=lambda part: part.size)
    good, _ = best_pairs(part)
    layers = tuple((criterion, weight << 60) for criterion, weight in part.layers)
    fields = {name: getattr(part, name) for name in part.__slots__}
    wide = Part(**{**fields, "layers": layers, "largest": part.largest << 60})
    assert wide.wide
    assert best_pairs(wide)[0] == good
    assert cost(wide, good) >> 60 > 0


def test_sets_that_overlap_are_refused() -> None:
    with pytest.raises(BrokenProof, match="overlap"):
        Nest(5, [((0, 1, 2), 2), ((2, 3, 4), 2)])


def test_what_is_around_two_vertices_is_the_sum_over_the_sets_around_both() -> None:
    for seed in range(150):
        rng = random.Random(seed)
        size = rng.randint(3, 30)
        sets = nested_sets(rng, list(range(size)))
        expected = np.zeros((size, size), dtype=np.int64)
        for inside, z in sets:
            expected[np.ix_(inside, inside)] += z
        nest, found = Nest(size, sets), np.zeros((size, size), dtype=np.int64)
        around = Surroundings(size, sets, lambda z: z)
        middle = size // 2
        around.add_to(found[:middle], range(middle), range(size))
        around.add_to(found[middle:, middle:], range(middle, size), range(middle, size))
        for u in range(size):
            for v in range(u + 1, size):
                assert found[u, v] == expected[u, v] == nest.around_both(u, v)


def nested_sets(rng: random.Random, vertices: list[int]) -> list[tuple[list[int], int]]:
    rng.shuffle(vertices)
    found, waiting = [], [vertices]
    while waiting:
        inside = waiting.pop()
        if len(inside) < 3:
            continue
        count = rng.randrange(3, len(inside) + 1) | 1
        count = min(count, len(inside) - 1 + len(inside) % 2)
        if rng.random() < 0.8:
            found.append((inside[:count], 2 * rng.randint(1, 5)))
        waiting += [inside[: rng.randint(1, count - 1)], inside[count:]]
    return found
