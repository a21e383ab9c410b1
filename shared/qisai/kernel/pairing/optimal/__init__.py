"""The optimal stage: the best draw of a field in the tuple order of docs/rules.md section 4, exact and proven."""

from __future__ import annotations

from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.optimal.dense import solve_dense
from qisai.kernel.pairing.optimal.result import Allowed, InfeasibleField, OptimalResult
from qisai.kernel.pairing.systems import PairingSystem, system_for

__all__ = ["Allowed", "InfeasibleField", "OptimalResult", "solve"]


def solve(
    field: Field,
    *,
    system: PairingSystem | None = None,
    allowed: Allowed | None = None,
    budget: int | None = None,
) -> OptimalResult:
    """The best draw of the field in the tuple order of the system (default: the event's), proven.

    `allowed` restricts pairs and byes to an explicit choice. `budget` counts steps of the matcher.

    :raises InfeasibleField: no legal draw exists.
    """
    return solve_dense(field, system or system_for(field), allowed=allowed, budget=budget)
