"""Before round 1: may this field, with these rounds and restrictions, run dry? (docs/rules.md section 2, Rounds)

Three answers, each with its ground: `safe` is proven for every course of the event with an unchanged pool,
`impossible` is proven too; everything between may run dry, and then a round robin is offered where it fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from qisai.kernel.model import Tournament
from qisai.kernel.pairing.look_ahead import MOST_ENTRANTS, Continuations
from qisai.kernel.pairing.maximum_matching import bits, complete_matching
from qisai.kernel.pairing.no_legal_draw import greedy_matching
from qisai.kernel.pairing.round_robin import rounds_needed

MOST_ROUND_ROBIN: Final = 20
"""Entrants up to which a round robin is offered."""


class Outlook(StrEnum):
    """What the rounds to come look like."""

    SAFE = "safe"
    """Every round has a legal draw, whatever is drawn and played before it."""
    MAY_RUN_DRY = "may_run_dry"
    """Some course of the event may leave a round without a legal draw."""
    IMPOSSIBLE = "impossible"
    """Not all rounds can be drawn, whatever happens."""


class Ground(StrEnum):
    """Why."""

    ENOUGH_PARTNERS = "enough_partners"
    """Everybody keeps enough partners in every round (a degree condition that guarantees a draw)."""
    FEW_PARTNERS = "few_partners"
    """From `first_doubtful` on that is no longer sure."""
    ROUND_BLOCKED = "round_blocked"
    """Forbidden pairs alone leave round `first_doubtful` without a legal draw."""
    TOO_MANY_ROUNDS = "too_many_rounds"
    """`short` have fewer possible partners and byes than rounds."""
    NO_COURSE = "no_course"
    """All courses were tried (small fields): none reaches the last round."""
    NO_ROUNDS = "no_rounds"
    """No number of rounds is planned; `safe_rounds` says how many would be safe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The answer for the pool of round 1 (who is not withdrawn)."""

    outlook: Outlook
    ground: Ground
    entrants: int
    rounds: int | None
    safe_rounds: int
    """Rounds 1 to this one are sure to have a legal draw, pool unchanged."""
    first_doubtful: int | None = None
    short: tuple[int, ...] = ()
    """Numbers of entrants who lack partners."""
    look_ahead: bool = False
    """Look-ahead will steer around dead ends while the pool does not change."""
    round_robin: int | None = None
    """Rounds of a round robin, where it is offered instead."""


def forecast(tournament: Tournament) -> Forecast:
    """The outlook for an event whose first round is still to be drawn; rounds already played are not looked at."""
    pool = _Pool(tournament)
    planned = tournament.regulations.rounds
    safe_rounds = pool.safe_rounds(planned if planned is not None else pool.size)
    if planned is None:
        return pool.answer(Outlook.SAFE, Ground.NO_ROUNDS, safe_rounds)
    short = pool.short_of_partners(planned)
    if short:
        return pool.answer(Outlook.IMPOSSIBLE, Ground.TOO_MANY_ROUNDS, safe_rounds, short=short)
    blocked = pool.blocked_round(planned)
    if blocked is not None:
        return pool.answer(Outlook.IMPOSSIBLE, Ground.ROUND_BLOCKED, safe_rounds, first_doubtful=blocked)
    if safe_rounds >= planned:
        return pool.answer(Outlook.SAFE, Ground.ENOUGH_PARTNERS, safe_rounds)
    small = pool.size <= MOST_ENTRANTS
    if small and not Continuations(replace(tournament, rounds=(), next=None)).exist():
        return pool.answer(Outlook.IMPOSSIBLE, Ground.NO_COURSE, safe_rounds, first_doubtful=safe_rounds + 1)
    return pool.answer(
        Outlook.MAY_RUN_DRY,
        Ground.FEW_PARTNERS,
        safe_rounds,
        first_doubtful=safe_rounds + 1,
        short=pool.fewest_partners(safe_rounds + 1),
        look_ahead=small,
    )


class _Pool:
    """Who plays, and whom each may not meet in each round. Entrants are positions, sets of them bits."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.numbers = sorted(e.number for e in tournament.entrants if e.withdrawn_from is None or e.withdrawn_from > 1)
        self.size = len(self.numbers)
        self._at = {number: at for at, number in enumerate(self.numbers)}

    def answer(
        self,
        outlook: Outlook,
        ground: Ground,
        safe_rounds: int,
        *,
        first_doubtful: int | None = None,
        short: Sequence[int] = (),
        look_ahead: bool = False,
    ) -> Forecast:
        offers = outlook is not Outlook.SAFE and 3 <= self.size <= MOST_ROUND_ROBIN
        return Forecast(
            outlook=outlook,
            ground=ground,
            entrants=self.size,
            rounds=self.tournament.regulations.rounds,
            safe_rounds=safe_rounds,
            first_doubtful=first_doubtful,
            short=tuple(short),
            look_ahead=look_ahead,
            round_robin=rounds_needed(self.size) if offers else None,
        )

    def bans(self, round_number: int) -> list[int]:
        """Per position, whom forbidden pairs keep away in this round."""
        bans = [0] * self.size
        for pair in self.tournament.forbidden_pairs:
            if pair.from_round <= round_number and (pair.to_round is None or round_number <= pair.to_round):
                a, b = (self._at.get(entrant) for entrant in pair.entrants)
                if a is not None and b is not None:
                    bans[a] |= 1 << b
                    bans[b] |= 1 << a
        return bans

    def degrees(self, round_number: int) -> list[int]:
        """Per position, the fewest partners it can have left in this round: one is used up in every round before."""
        return [self.size - round_number - banned.bit_count() for banned in self.bans(round_number)]

    def safe_rounds(self, planned: int) -> int:
        """Rounds from the first that the degree condition guarantees."""
        for round_number in range(1, planned + 1):
            if not self._sure(round_number):
                return round_number - 1
        return planned

    def _sure(self, round_number: int) -> bool:
        """Whether a legal draw is sure in this round, whatever was drawn before.

        Without forbidden pairs n/2 rounds, odd n (n + 1)/2, are sure (docs/rules.md section 2). Otherwise Chvátal's
        condition on the degrees, for the field without whoever has the bye: it gives a Hamiltonian cycle, and every
        other edge of it is a draw.
        """
        if not any(self.bans(round_number)):
            return self.size < 2 or round_number <= (self.size + 1) // 2
        without_bye = self.size % 2
        size = self.size - without_bye
        degrees = sorted(degree - without_bye for degree in self.degrees(round_number))[: size or None]
        if size == 2:
            return min(degrees) >= 1
        return all(degrees[i - 1] > i or degrees[size - i - 1] >= size - i for i in range(1, (size + 1) // 2))

    def short_of_partners(self, planned: int) -> list[int]:
        """Who cannot fill all rounds even with every partner once and a fair share of byes."""
        always = [(1 << self.size) - 1] * self.size
        for round_number in range(1, planned + 1):
            always = [kept & banned for kept, banned in zip(always, self.bans(round_number), strict=True)]
        byes = -(-planned // self.size) if self.size % 2 else 0
        return [
            self.numbers[at] for at, never in enumerate(always) if self.size - 1 - never.bit_count() + byes < planned
        ]

    def blocked_round(self, planned: int) -> int | None:
        """The first round that forbidden pairs alone leave without a legal draw."""
        known: dict[tuple[int, ...], bool] = {}
        for round_number in range(1, planned + 1):
            bans = tuple(self.bans(round_number))
            if bans not in known:
                known[bans] = self._blocked(bans)
            if known[bans]:
                return round_number
        return None

    def _blocked(self, bans: Sequence[int]) -> bool:
        if not any(bans):
            return False
        everybody = (1 << self.size) - 1
        graph = [everybody & ~banned & ~(1 << at) for at, banned in enumerate(bans)]
        if self.size % 2:
            graph = [mask | 1 << self.size for mask in graph] + [everybody]
        return complete_matching(graph, greedy_matching(graph)) is not None

    def fewest_partners(self, round_number: int) -> list[int]:
        """Who may have the fewest partners left in this round, where forbidden pairs make a difference."""
        degrees = self.degrees(round_number)
        fewest = min(degrees)
        mask = sum(1 << at for at, degree in enumerate(degrees) if degree == fewest)
        return [self.numbers[at] for at in bits(mask)] if fewest < max(degrees) else []
