"""Berger tables: everybody meets everybody, for fields too small for a Swiss event (docs/rules.md section 2).

With m places (an odd field takes an empty place at the end) round r pairs the places a, b < m with
a + b ≡ r + 1 modulo m − 1; the last place meets the a with 2a ≡ r + 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from qisai.kernel.model import Tournament


def table_size(count: int) -> int:
    """Number of places in the table, the empty one included."""
    return count + count % 2


def rounds_needed(count: int) -> int:
    """Rounds of a full round robin of `count` entrants."""
    return max(table_size(count) - 1, 0)


def berger_round(numbers: Sequence[int], round_number: int) -> list[tuple[int, int]]:
    """Pairs (first side, second side) of one round; `numbers` in table order.

    With an odd field whoever meets the empty place is in no pair. After the last round of the table it starts again.
    """
    size = table_size(len(numbers))
    if size < 2:
        return []
    cycle = size - 1
    target = (round_number + 1) % cycle
    pairs = []
    for a in range(1, size):
        b = (target - a) % cycle or cycle
        if b == a:
            if size == len(numbers):
                pairs.append((a, size) if 2 * a <= size else (size, a))
        elif a < b:
            pairs.append((a, b) if (a + b) % 2 else (b, a))
    return [(numbers[a - 1], numbers[b - 1]) for a, b in pairs]


def table_numbers(tournament: Tournament) -> list[int]:
    """Numbers in the table, ascending: everybody who ever was to play. Who withdraws later keeps the place."""
    return sorted(
        entrant.number
        for entrant in tournament.entrants
        if entrant.withdrawn_from is None or entrant.withdrawn_from > 1
    )
