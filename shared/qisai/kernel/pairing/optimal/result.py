"""What the optimal stage takes and gives."""

from __future__ import annotations

from dataclasses import dataclass

Pair = tuple[int, int]
"""Two indexes of the field, smaller first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimalResult:
    """A valid draw over indexes of the field.

    `pairs` have the smaller index first and are sorted; `bye` is None in an even field. `proven` are the criteria whose
    value is the best possible given those before them; `optimal` says that all are. `steps` is the work done, in the
    unit of the budget.
    """

    pairs: tuple[Pair, ...]
    bye: int | None
    optimal: bool
    proven: tuple[str, ...]
    steps: int


class InfeasibleField(Exception):
    """No draw of this field satisfies rules 1 to 4 of docs/rules.md section 3."""
