"""How small pairing tools do it: from the top, each entrant takes the next one it has not met; stuck, it goes back.

A baseline for quality and time, as simple as in the tools: scores, then numbers; no sides, no floats, no look at the
whole. It gives up after a number of seconds.
"""

from __future__ import annotations

from time import process_time

from qisai.kernel.pairing.field import Field

Pair = tuple[int, int]


def backtrack(field: Field, *, seconds: float) -> tuple[list[Pair], int | None] | None:
    """Pairs and bye by plain backtracking; None where the time did not suffice."""
    until = process_time() + seconds
    bye = max((i for i in range(field.size) if field.bye_eligible[i]), default=None)
    free = [i != bye for i in range(field.size)]
    pairs: list[Pair] = []
    top, after = _next_free(free, 0), 0
    while top < field.size:
        if process_time() > until:
            return None
        partner = next(
            (j for j in range(max(top, after) + 1, field.size) if free[j] and j not in field.barred[top]), None
        )
        if partner is not None:
            free[top] = free[partner] = False
            pairs.append((top, partner))
            top, after = _next_free(free, top), 0
            continue
        if not pairs:
            return None
        top, after = pairs.pop()
        free[top] = free[after] = True
    return pairs, bye


def _next_free(free: list[bool], start: int) -> int:
    return next((i for i in range(start, len(free)) if free[i]), len(free))
