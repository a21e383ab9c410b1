"""Stage A for sum criteria: candidates, matching, check against all pairs, more candidates, until proven."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qisai.kernel.pairing.criteria import Criterion
from qisai.kernel.pairing.optimal.candidates import Edge, starting_edges, starting_prices
from qisai.kernel.pairing.optimal.certificate_sums import too_cheap
from qisai.kernel.pairing.optimal.matcher import Matcher
from qisai.kernel.pairing.optimal.odd_sets import OddSet, check_sum, lower_bound
from qisai.kernel.pairing.optimal.result import InfeasibleField, Pair
from qisai.kernel.pairing.optimal.structure import Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """A draw and the prices that prove it: `y` per vertex (the bye last, in an odd field), odd sets with their z."""

    pairs: tuple[Pair, ...]
    bye: int | None
    tables: Tables
    total: int
    """Packed cost."""
    y: tuple[int, ...]
    odd_sets: tuple[OddSet, ...]

    def values(self, criteria: Iterable[Criterion]) -> dict[str, int]:
        """Values of some of the criteria that were solved for."""
        values = self.tables.tuple_of(self.total)
        return {criterion.name: values[criterion.name] for criterion in criteria}


def solve_sums(
    tables: Tables, *, limit: int | None = None, candidates: Sequence[Edge] | None = None
) -> tuple[Priced, int]:
    """The draw of least packed cost among those within reach, and the steps it took.

    `candidates` replace the edges to start from; a poor choice costs time, never the optimum.

    :raises InfeasibleField: there is none.
    :raises OutOfSteps: more than `limit` steps.
    """
    field = tables.view.field
    matcher = Matcher(field.size + field.size % 2)
    # Pairs dearer than any draw let the first matching exist. Where the best one holds such a pair, there is no draw.
    matcher.offer((v, v + 1, tables.largest + 1) for v in range(0, matcher.size, 2))
    edges = starting_edges(tables) if candidates is None else candidates
    matcher.offer(edges)
    wish = (*field.wish, 0)
    granted = ((u, v) for u, v, _ in edges if wish[u] * wish[v] < 0)
    matcher.start(starting_prices(tables), granted)
    while True:
        matcher.solve(limit=limit)
        missing = too_cheap(tables, matcher.y, matcher.positive())
        if not missing:
            break
        matcher.offer(missing)
    mate, y, odd_sets = matcher.mate, tuple(matcher.y), tuple(matcher.positive())
    if lower_bound(y, odd_sets) > 2 * tables.largest:
        raise InfeasibleField
    pairs = tuple((u, mate[u]) for u in range(field.size) if u < mate[u] < field.size)
    bye = mate[field.size] if field.odd else None
    total = tables.cost_of(pairs, bye)
    check_sum(y, odd_sets, total)
    return Priced(pairs=pairs, bye=bye, tables=tables, total=total, y=y, odd_sets=odd_sets), matcher.steps
