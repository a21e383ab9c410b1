"""The optimal stage: the best draw of a field in the tuple order of docs/rules.md section 4, exact and proven.

Small fields, and systems with criteria of unknown structure, are solved plainly (`dense`). Others go through `sparse`:
few candidate pairs, a matching with prices, and a check of those prices against every pair that was left out, by
certificate code that uses nothing else of the solver; pairs that the check names become candidates, until none is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from qisai.kernel.pairing.criteria import Combine
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.optimal.alternating_tree import OutOfSteps
from qisai.kernel.pairing.optimal.dense import improve_dense
from qisai.kernel.pairing.optimal.result import InfeasibleField, OptimalResult
from qisai.kernel.pairing.optimal.sparse import any_draw, improve_sparse
from qisai.kernel.pairing.optimal.structure import is_structured
from qisai.kernel.pairing.systems import PairingSystem, system_for

__all__ = ["InfeasibleField", "OptimalResult", "improve", "solve"]

SMALL: Final = 48
"""Fields up to this size are solved plainly: that is as quick there."""


def solve(field: Field, *, system: PairingSystem | None = None, budget: int | None = None) -> OptimalResult:
    """The best draw of the field in the tuple order of the system (default: the event's).

    `budget` bounds the steps of the matcher (None: as many as it takes). Where it does not suffice, the draw is valid,
    `optimal` is false, and `proven` names the criteria that are at their best all the same.

    :raises InfeasibleField: no legal draw exists.
    """
    *_, best = improve(field, system=system, budget=budget)
    return best


def improve(field: Field, *, system: PairingSystem | None = None, budget: int | None = None) -> Iterator[OptimalResult]:
    """Valid draws, each at least as good as the one before, the last one optimal where the budget allows.

    :raises InfeasibleField: no legal draw exists.
    """
    system = system or system_for(field)
    found: OptimalResult | None = None
    sparse = field.size > SMALL and _is_sparse(system)
    solver = improve_sparse if sparse else improve_dense
    try:
        for found in solver(field, system, budget=budget):
            yield found
    except OutOfSteps:
        if found is None:
            yield any_draw(field)


def _is_sparse(system: PairingSystem) -> bool:
    """Whether `sparse` knows the structure of all criteria that it takes apart."""
    return is_structured(system.stage_a) and all(c.combine is Combine.SUM for c in system.stage_b)
