"""Pairing systems. A system is two ordered lists of criteria (docs/rules.md section 4); adding one is adding a list.

Draws are compared by the tuple of all criteria in this order: the first difference decides, lower is better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from qisai.kernel.model import SidePriority, System
from qisai.kernel.pairing.criteria import (
    BYE_SCORE,
    BYE_UNPLAYED,
    CLUB_PAIRS,
    CROSS_PAIRS,
    FLOAT_HISTORY,
    FLOAT_LOTS,
    FLOAT_PLACES,
    GAP_SQUARES,
    LEADERS_APART,
    MAX_GAP,
    ORDER,
    PAIR_LOTS,
    REPEAT_FLOATS,
    SIDE_BREACHES,
    SIDE_CLASHES,
    STRONG_CLASHES,
    TABLE_MISSES,
    Criterion,
)
from qisai.kernel.pairing.field import Field


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingSystem:
    """Which draw is best: `stage_a` over all present, then `stage_b` with who floats where and the bye fixed."""

    name: str
    stage_a: tuple[Criterion, ...]
    stage_b: tuple[Criterion, ...]
    kept: tuple[str, ...] = ()
    """Criteria of stage A that depend on more than who floats where; stage B keeps them at their optimum."""

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """All criteria, the most important first."""
        return self.stage_a + self.stage_b


_WHO_FLOATS: Final = (LEADERS_APART, MAX_GAP, GAP_SQUARES, CROSS_PAIRS)

SCORE_GROUP: Final = PairingSystem(
    name="score_group",
    stage_a=(
        BYE_SCORE,
        BYE_UNPLAYED,
        SIDE_BREACHES,
        *_WHO_FLOATS,
        STRONG_CLASHES,
        SIDE_CLASHES,
        FLOAT_HISTORY,
        FLOAT_PLACES,
        FLOAT_LOTS,
    ),
    stage_b=(ORDER, PAIR_LOTS),
    kept=("side_breaches", "leaders_apart", "strong_clashes", "side_clashes"),
)

SCORE_GROUP_SIDES_UNDER_SCORE: Final = PairingSystem(
    name="score_group",
    stage_a=(
        BYE_SCORE,
        BYE_UNPLAYED,
        *_WHO_FLOATS,
        SIDE_BREACHES,
        STRONG_CLASHES,
        SIDE_CLASHES,
        FLOAT_HISTORY,
        FLOAT_PLACES,
        FLOAT_LOTS,
    ),
    stage_b=SCORE_GROUP.stage_b,
    kept=SCORE_GROUP.kept,
)
"""`side_priority: under_score` moves criterion 3 behind 7."""

DRAW_NUMBER: Final = PairingSystem(
    name="draw_number",
    stage_a=(BYE_SCORE, MAX_GAP, GAP_SQUARES, CROSS_PAIRS, REPEAT_FLOATS, FLOAT_PLACES, FLOAT_LOTS),
    stage_b=(ORDER, PAIR_LOTS),
)

ROUND_ROBIN: Final = PairingSystem(
    name="round_robin",
    stage_a=(TABLE_MISSES, BYE_SCORE, MAX_GAP, GAP_SQUARES, CROSS_PAIRS, FLOAT_PLACES, FLOAT_LOTS),
    stage_b=(ORDER, PAIR_LOTS),
    kept=("table_misses",),
)
"""The Berger table as a criterion: whole as long as everybody comes, as near to it as can be when somebody does not."""


def _score_group(field: Field) -> PairingSystem:
    over = field.regulations.side_priority is SidePriority.OVER_SCORE
    return SCORE_GROUP if over else SCORE_GROUP_SIDES_UNDER_SCORE


SYSTEMS: Final[Mapping[System, Callable[[Field], PairingSystem]]] = MappingProxyType(
    {
        System.SCORE_GROUP: _score_group,
        System.DRAW_NUMBER: lambda _field: DRAW_NUMBER,
        System.ROUND_ROBIN: lambda _field: ROUND_ROBIN,
    }
)


def system_for(field: Field) -> PairingSystem:
    """The system of the event in this round; in round 1 with same-club avoidance `club_pairs` stands before `order`."""
    regulations = field.regulations
    system = SYSTEMS[regulations.system](field)
    return with_club_pairs(system) if field.round == 1 and regulations.first_round.avoid_same_club else system


def with_club_pairs(system: PairingSystem) -> PairingSystem:
    """The system with `club_pairs` before `order` (docs/rules.md section 5)."""
    return PairingSystem(
        name=system.name, stage_a=system.stage_a, stage_b=(CLUB_PAIRS, *system.stage_b), kept=system.kept
    )
