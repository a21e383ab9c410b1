"""The solver for fields of any size: stage A, then stage B, each proven against all pairs or stopped by the budget."""

from __future__ import annotations

from collections.abc import Iterator

from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.optimal.alternating_tree import OutOfSteps
from qisai.kernel.pairing.optimal.parts import parts_of
from qisai.kernel.pairing.optimal.result import OptimalResult, Pair
from qisai.kernel.pairing.optimal.stage_a import StageA
from qisai.kernel.pairing.optimal.stage_b import best_pairs
from qisai.kernel.pairing.optimal.structure import classes_of, tables
from qisai.kernel.pairing.optimal.sums import solve_sums
from qisai.kernel.pairing.systems import PairingSystem
from qisai.kernel.pairing.view import view_of


def improve_sparse(field: Field, system: PairingSystem, *, budget: int | None = None) -> Iterator[OptimalResult]:
    """First the draw of stage A, order inside groups not yet considered; then the best draw, or what the budget allows.

    :raises InfeasibleField: no draw is legal.
    :raises OutOfSteps: the budget did not suffice for stage A.
    """
    view = view_of(field)
    stage_a = StageA(view=view, criteria=system.stage_a, limit=budget)
    settled = stage_a.solve()
    steps = stage_a.steps
    proven = tuple(criterion.name for criterion in system.stage_a)
    yield OptimalResult(pairs=settled.pairs, bye=settled.bye, optimal=False, proven=proven, steps=steps)
    pairs: list[Pair] = list(settled.pairs)
    finished = True
    for part in parts_of(view.settle(pairs), system, pairs):
        try:
            chosen, more = best_pairs(part, limit=None if budget is None else budget - steps)
        except OutOfSteps:
            finished = False
            break
        steps += more
        members = part.members.tolist()
        there = set(members)
        pairs = [pair for pair in pairs if pair[0] not in there]
        pairs.extend((members[a], members[b]) for a, b in chosen)
    if finished:
        proven = tuple(criterion.name for criterion in system.criteria)
    yield OptimalResult(pairs=tuple(sorted(pairs)), bye=settled.bye, optimal=finished, proven=proven, steps=steps)


def any_draw(field: Field) -> OptimalResult:
    """A legal draw, without regard to any criterion: what is left when the budget does not suffice for more.

    :raises InfeasibleField: there is none.
    """
    view = view_of(field)
    found, steps = solve_sums(tables(view, (), classes=classes_of(view), largest_gap=None))
    return OptimalResult(pairs=found.pairs, bye=found.bye, optimal=False, proven=(), steps=steps)
