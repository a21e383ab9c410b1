"""The matcher against the matching library, and its prices against the definition, on small random graphs."""

from __future__ import annotations

import random

import pytest
import rustworkx

from qisai.kernel.pairing.optimal.alternating_tree import OutOfSteps, Unmatchable
from qisai.kernel.pairing.optimal.matcher import Matcher

Edges = dict[tuple[int, int], int]


def random_graph(rng: random.Random) -> tuple[int, Edges]:
    size = 2 * rng.randint(1, 20)
    share, dearest = rng.choice([0.1, 0.2, 0.3, 0.6, 1]), rng.choice([1, 3, 10, 1000, 10**30])
    pairs = [(u, v) for u in range(size) for v in range(u + 1, size) if rng.random() < share]
    return size, {pair: rng.randint(0, dearest) for pair in pairs}


def least_cost(size: int, edges: Edges) -> int | None:
    """Cost of the best perfect matching by the library; None where there is none."""
    most = max(edges.values(), default=0) + 1
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(size))
    graph.add_edges_from([(u, v, most - cost) for (u, v), cost in edges.items()])
    matching = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    if 2 * len(matching) < size:
        return None
    return sum(edges[min(pair), max(pair)] for pair in matching)


def check_prices(matcher: Matcher, edges: Edges) -> int:
    """Assert that the prices prove the matching, straight from the definition; return its cost."""
    sets = [(set(inside), z) for inside, z in matcher.positive()]
    for (u, v), cost in edges.items():
        slack = 2 * cost - matcher.y[u] - matcher.y[v] + sum(z for inside, z in sets if u in inside and v in inside)
        assert slack >= 0
        assert slack == 0 or matcher.mate[u] != v
    cost = sum(edges[u, v] for u, v in enumerate(matcher.mate) if u < v)
    assert all(len(inside) % 2 == 1 and z > 0 and z % 2 == 0 for inside, z in sets)
    assert sum(matcher.y) - sum(z * (len(inside) - 1) // 2 for inside, z in sets) == 2 * cost
    return cost


@pytest.mark.parametrize("batch", range(4))
def test_the_matching_is_the_cheapest_and_its_prices_prove_it(batch: int) -> None:
    for seed in range(batch * 200, batch * 200 + 200):
        rng = random.Random(seed)
        size, edges = random_graph(rng)
        matcher = Matcher(size)
        matcher.offer((u, v, cost) for (u, v), cost in edges.items())
        matcher.start([rng.randint(-9, 2000) for _ in range(size)] if rng.random() < 0.5 else [0] * size)
        expected = least_cost(size, edges)
        if expected is None:
            with pytest.raises(Unmatchable):
                matcher.solve()
        else:
            matcher.solve()
            assert check_prices(matcher, edges) == expected


def test_edges_offered_later_are_taken_into_account() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        size, edges = random_graph(rng)
        expected = least_cost(size, edges)
        if expected is None:
            continue
        matcher = Matcher(size)
        waiting = [(u, v, cost) for (u, v), cost in edges.items()]
        rng.shuffle(waiting)
        matcher.start([0] * size)
        while waiting:
            count = rng.randint(1, 12)
            matcher.offer(waiting[:count])
            waiting = waiting[count:]
            try:
                matcher.solve()
            except Unmatchable:
                assert waiting, "the last edges completed the graph, which has a perfect matching"
        assert check_prices(matcher, edges) == expected


def test_when_steps_run_out_prices_stay_feasible_and_the_work_can_go_on() -> None:
    interrupted = 0
    for seed in range(100):
        rng = random.Random(seed)
        size, edges = random_graph(rng)
        expected = least_cost(size, edges)
        if expected is None:
            continue
        matcher = Matcher(size)
        matcher.offer((u, v, cost) for (u, v), cost in edges.items())
        matcher.start([0] * size)
        while True:
            limit = matcher.steps + rng.choice([3, 20, 400])
            try:
                matcher.solve(limit=limit)
                break
            except OutOfSteps:
                interrupted += 1
                sets = [(set(inside), z) for inside, z in matcher.positive()]
                for (u, v), cost in edges.items():
                    around = sum(z for inside, z in sets if u in inside and v in inside)
                    assert 2 * cost - matcher.y[u] - matcher.y[v] + around >= 0
        assert check_prices(matcher, edges) == expected
    assert interrupted > 30


def test_a_long_chain_of_nested_odd_cycles_needs_no_recursion() -> None:
    """A path of triangles: one blossom swallows the next, two thousand deep."""
    depth = 2000
    size = 2 * depth + 2
    edges = {(v, v + 1): 0 for v in range(size - 2)} | {(v, v + 2): 0 for v in range(size - 3)}
    edges[size - 2, size - 1] = 5
    matcher = Matcher(size)
    matcher.offer((u, v, cost) for (u, v), cost in edges.items())
    matcher.start([0] * size, [(v, v + 1) for v in range(1, size - 2, 2)])
    matcher.solve()
    assert sum(edges[u, v] for u, v in enumerate(matcher.mate) if u < v) == 5
