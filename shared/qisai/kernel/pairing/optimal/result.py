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
    """No draw satisfies rules 1 to 4 of docs/rules.md section 3 for this field (and these allowed pairs).

    `competing`: indexes of entrants who compete for too few partners (the outer vertices of the last search tree),
    a start for the analysis that `NoLegalDraw` carries; it may be empty.
    """

    def __init__(self, competing: tuple[int, ...] = ()) -> None:
        super().__init__("no legal draw exists for this field")
        self.competing = competing
