"""The field of one round: the tournament as pairing sees it, compiled once into flat arrays.

Everything the criteria of docs/rules.md section 4 need about an entrant is here, indexed by *index* (0 … n − 1): present
entrants sorted by score descending, then by place within their score group. No criterion reads the tournament itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from qisai.kernel.model import Regulations


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Present entrants of the round to draw. Scores in half-points; side codes: +1 first, −1 second."""

    regulations: Regulations
    round: int
    last_round: bool
    """True when `regulations.rounds` equals this round."""
    number: tuple[int, ...]
    score: tuple[int, ...]
    """Score for pairing: an adjourned game counts as a draw."""
    group: tuple[int, ...]
    """Index of the score group, 0 = highest score present."""
    place: tuple[int, ...]
    """Place within the group from 0, in the group's order for this round."""
    group_size: tuple[int, ...]
    """Per group."""
    sides: tuple[tuple[int, ...], ...]
    """Sides of games with a side, in round order; rounds without one are skipped."""
    surplus: tuple[int, ...]
    """Times first minus times second."""
    wish: tuple[int, ...]
    """+1 wants first, −1 wants second, 0 none (always 0 where sides are not balanced)."""
    down_weight: tuple[int, ...]
    """Earlier down-floats weighted 8 (last round), 4 (the round before), 2 (older)."""
    up_weight: tuple[int, ...]
    """Earlier up-floats, weighted likewise."""
    down_count: tuple[int, ...]
    up_count: tuple[int, ...]
    unplayed: tuple[int, ...]
    """Earlier rounds not played over the board."""
    bye_count: tuple[int, ...]
    """Pairing byes, full-point byes and wins by forfeit so far."""
    bye_eligible: tuple[bool, ...]
    """With an odd field: those with the fewest `bye_count` present. All False in an even field."""
    barred: tuple[frozenset[int], ...]
    """Per index, the indexes it must not be paired with: met before, or forbidden in this round."""
    met: tuple[frozenset[int], ...]
    """The part of `barred` that comes from earlier meetings."""
    left_seats: tuple[int, ...]
    """Boards played on the left (first) seat minus right; for `seat_balance`."""
    club: tuple[int, ...]
    """Club as a number, −1 for none; used only in round 1 with same-club avoidance."""

    @property
    def size(self) -> int:
        """Number of present entrants."""
        return len(self.number)

    @property
    def odd(self) -> bool:
        """Whether somebody gets the pairing bye."""
        return len(self.number) % 2 == 1
