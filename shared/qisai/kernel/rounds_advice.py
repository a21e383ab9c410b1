"""How many rounds an event should have (docs/rules.md section 2, Rounds): a proposal, warnings, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from qisai.errors import Invalid


class RoundsWarning(StrEnum):
    """What the form should say beside a number of rounds."""

    MAY_RUN_DRY = "may_run_dry"
    """More than n/2 rounds: the field may run out of legal draws; a round robin is the safe way."""
    NO_SINGLE_WINNER = "no_single_winner"
    """Fewer than ceil(log2 n) rounds: several entrants may win all their games."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsAdvice:
    """All counts are rounds, for a field of `entrants`."""

    entrants: int
    single_winner: int
    """ceil(log2 n): as many rounds single out one winner."""
    proposed: int
    """One more makes the podium clearer; never above `safe`."""
    safe: int
    """n/2, odd n (n + 1)/2: up to there a legal draw always exists with the same pool and no forbidden pairs."""
    possible: int
    """n − 1, odd n: n; nobody can have more opponents."""


def advise_rounds(entrants: int) -> RoundsAdvice:
    """Advice for `entrants`: the expected maximum where late entries are allowed, not today's count."""
    if entrants < 2:
        return RoundsAdvice(entrants=entrants, single_winner=0, proposed=0, safe=0, possible=max(entrants, 0))
    single_winner = (entrants - 1).bit_length()
    safe = (entrants + 1) // 2
    return RoundsAdvice(
        entrants=entrants,
        single_winner=single_winner,
        proposed=min(single_winner + 1, safe),
        safe=safe,
        possible=entrants - 1 if entrants % 2 == 0 else entrants,
    )


def check_rounds(rounds: int, *, entrants: int) -> tuple[RoundsWarning, ...]:
    """Warnings about playing `rounds` rounds with `entrants`; raises `Invalid` (`too-many-rounds`) where impossible."""
    advice = advise_rounds(entrants)
    if rounds > advice.possible:
        raise Invalid(
            "too-many-rounds",
            f"{entrants} entrants cannot play {rounds} rounds without meeting twice; {advice.possible} is the most.",
            rounds=rounds,
            entrants=entrants,
            possible=advice.possible,
        )
    warnings: list[RoundsWarning] = []
    if rounds > advice.safe:
        warnings.append(RoundsWarning.MAY_RUN_DRY)
    if rounds < advice.single_winner:
        warnings.append(RoundsWarning.NO_SINGLE_WINNER)
    return tuple(warnings)
