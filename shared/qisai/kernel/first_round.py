"""Round 1: the order of the field and the ideal pairs of each mode (docs/rules.md section 5).

All of round 1 is one score group, so the modes only choose the group's order and who is whose ideal partner; forbidden
pairs, same-club avoidance and the bye then follow the same criteria as in every other round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from qisai.kernel.model import Entrant, FirstRoundMode, WithinGroup

OrderKey = Callable[[Entrant], tuple[int | bytes, ...]]


@dataclass(frozen=True, slots=True)
class GroupOrder:
    """How the entrants of one score are ordered, and who is the ideal partner of whom in that order."""

    key: OrderKey
    within: WithinGroup


WITHIN_BY_MODE: Final = {
    FirstRoundMode.FOLD: WithinGroup.FOLD,
    FirstRoundMode.SLIDE: WithinGroup.SLIDE,
    FirstRoundMode.ADJACENT: WithinGroup.ADJACENT,
    FirstRoundMode.RANDOM: WithinGroup.ADJACENT,
}
"""Every mode but `system`, which leaves both order and ideal partner to the pairing system."""


def first_round_order(mode: FirstRoundMode, *, lot_seed: int) -> GroupOrder | None:
    """Order of the whole field in round 1; None for mode `system`, where the pairing system's own order holds."""
    within = WITHIN_BY_MODE.get(mode)
    if within is None:
        return None
    if mode is FirstRoundMode.RANDOM:
        return GroupOrder(key=lambda entrant: (_random_key(lot_seed, entrant.number), entrant.number), within=within)
    return GroupOrder(key=_by_seed, within=within)


def ideal_pairs(count: int, within: WithinGroup) -> list[tuple[int, int]]:
    """Places (from 0) paired as the order wishes, upper place first; an odd `count` leaves the last one over."""
    even = count - count % 2
    match within:
        case WithinGroup.ADJACENT:
            return [(place, place + 1) for place in range(0, even, 2)]
        case WithinGroup.FOLD:
            return [(place, even - 1 - place) for place in range(even // 2)]
        case WithinGroup.SLIDE:
            return [(place, place + even // 2) for place in range(even // 2)]


def _by_seed(entrant: Entrant) -> tuple[int, int, int]:
    """Seed score descending, then number; entrants without a rating come last."""
    seed = entrant.seed
    return (1, 0, entrant.number) if seed is None else (0, -seed, entrant.number)


def _random_key(lot_seed: int, number: int) -> bytes:
    return sha256(f"{lot_seed}:{number}".encode()).digest()
