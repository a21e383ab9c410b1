"""All rounds to come filled at once, tightest place first: the second way to decide look-ahead.

Drawing round after round can go astray when nearly everybody has to meet nearly everybody: the early rounds are free
and decide what the late ones lack. Here a place (an entrant in a round) is filled where the fewest choices are left,
in whatever round, and what follows is drawn at once. Attempts are short and begin anew in another order, because a
search that has gone astray early seldom comes back. For fields that look ahead only: at most 12 × 12 places.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

ATTEMPTS: Final = 60
FIRST_STEPS: Final = 100
MORE_STEPS: Final = 20
"""Steps of an attempt: `FIRST_STEPS`, and `MORE_STEPS` more each time."""


class _Astray(Exception):
    """An attempt used up its steps."""


@dataclass(slots=True)
class _State:
    """`choices[round * size + v]`: partners of v in that round, as bits; the bye is bit `size`. `open[v]`: rounds."""

    choices: list[int]
    open: list[int]


@dataclass(frozen=True, slots=True)
class _Survey:
    """What one look over a state found: everybody's partners left, who has to meet all of them, the next place."""

    partners: list[int]
    tight: int
    place: tuple[int, int, int] | None
    """Round, entrant, and the choices to try there; None where every place is filled."""


class Schedule:
    """Rounds of entrants 0 … size − 1 who all play in every one of them.

    `partners[r][v]`: whom v may meet in round r, as bits. `levels[r]`: how many byes the one who has the bye in round r
    had before (rule 4 of docs/rules.md section 3 leaves no choice in that), None in an even field. `byes`: so far.
    """

    def __init__(self, partners: Sequence[Sequence[int]], levels: Sequence[int | None], byes: Sequence[int]) -> None:
        self._size = len(byes)
        self._levels = levels
        self._bye = 1 << self._size
        self._choices = [
            choices | (self._bye if level is not None and byes[v] <= level else 0)
            for row, level in zip(partners, levels, strict=True)
            for v, choices in enumerate(row)
        ]
        self._steps = 0
        self._entrants: list[int] = []
        self._rounds: list[int] = []

    def exists(self) -> bool | None:
        """Whether all rounds can be drawn; None where no attempt found out."""
        for attempt in range(ATTEMPTS):
            self._steps = FIRST_STEPS + MORE_STEPS * attempt
            digest = hashlib.sha256(str(attempt).encode()).digest()
            self._entrants = sorted(range(self._size), key=lambda v: digest[v])
            self._rounds = sorted(range(len(self._levels)), key=lambda r: digest[-1 - r])
            try:
                return self._fill(_State(list(self._choices), [(1 << len(self._levels)) - 1] * self._size))
            except _Astray:
                continue
        return None

    def _fill(self, state: _State) -> bool:
        """Whether the open places can be filled. At most one call deep for each pair still to come."""
        self._steps -= 1
        if self._steps < 0:
            raise _Astray
        while True:
            survey = self._survey(state)
            if survey is None:
                return False
            if survey.place is None:
                return True
            round_, entrant, choices = survey.place
            if choices & (choices - 1) == 0:
                self._take(state, round_, entrant, choices.bit_length() - 1)
                continue
            narrowed = self._keep_for_the_tight(state, survey)
            if narrowed is None:
                return False
            if not narrowed:
                break
        for choice in (*self._entrants, self._size):
            if choices >> choice & 1:
                tried = _State(list(state.choices), list(state.open))
                self._take(tried, round_, entrant, choice)
                if self._fill(tried):
                    return True
        return False

    def _survey(self, state: _State) -> _Survey | None:
        """None where a place has no choice, or an entrant too few partners and byes for the rounds open."""
        partners, tight, lacking = [0] * self._size, 0, 0
        place, fewest = None, self._size + 2
        bye_rounds = set()
        for v in self._entrants:
            seen, twice, byes = 0, 0, set()
            for r in self._open_rounds(state, v):
                choices = state.choices[r * self._size + v]
                if not choices:
                    return None
                count = choices.bit_count()
                if count < fewest:
                    place, fewest = (r, v, choices), count
                twice |= seen & choices
                seen |= choices
                if choices & self._bye:
                    byes.add(self._levels[r])
                    bye_rounds.add(r)
            rounds, met = state.open[v].bit_count(), (seen & ~self._bye).bit_count()
            if met + len(byes) < rounds:
                return None
            partners[v] = seen
            lacking += max(0, rounds - met)
            if rounds and met + len(byes) == rounds:
                tight |= 1 << v
                once = seen & ~twice & ~self._bye
                if once and fewest > 1:
                    place, fewest = self._only_round(state, v, once & -once), 1
        return None if lacking > len(bye_rounds) else _Survey(partners, tight, place)

    def _open_rounds(self, state: _State, entrant: int) -> Iterator[int]:
        return (r for r in self._rounds if state.open[entrant] >> r & 1)

    def _only_round(self, state: _State, entrant: int, partner: int) -> tuple[int, int, int]:
        """The place where somebody who has to meet all partners left can meet this one."""
        size = self._size
        return next(
            (r, entrant, partner)
            for r in self._open_rounds(state, entrant)
            if state.choices[r * size + entrant] & partner
        )

    def _keep_for_the_tight(self, state: _State, survey: _Survey) -> bool | None:
        """Who has to meet everybody left has to be met: drop the others where that fills all rounds; None: too many."""
        narrowed = False
        for v in self._entrants:
            rounds, must = state.open[v].bit_count(), survey.partners[v] & survey.tight
            if not rounds or must.bit_count() < rounds:
                continue
            if must.bit_count() > rounds:
                return None
            dropped = survey.partners[v] & ~must
            for r in self._open_rounds(state, v) if dropped else ():
                for w in range(self._size):
                    if state.choices[r * self._size + v] & dropped & 1 << w:
                        state.choices[r * self._size + w] &= ~(1 << v)
                state.choices[r * self._size + v] &= must
            narrowed |= bool(dropped)
        return narrowed

    def _take(self, state: _State, round_: int, entrant: int, choice: int) -> None:
        """Fill a place, and take away what that rules out in this round and in the others."""
        size, base = self._size, round_ * self._size
        if choice == size:
            self._close(state, round_, 1 << entrant | self._bye, [entrant])
            for r, level in enumerate(self._levels):
                if level == self._levels[round_]:
                    state.choices[r * size + entrant] &= ~self._bye
            return
        self._close(state, round_, 1 << entrant | 1 << choice, [entrant, choice])
        for r in range(0, len(state.choices), size):
            state.choices[r + entrant] &= ~(1 << choice)
            state.choices[r + choice] &= ~(1 << entrant)
        assert state.choices[base + entrant] == state.choices[base + choice] == 0

    def _close(self, state: _State, round_: int, gone: int, filled: list[int]) -> None:
        base = round_ * self._size
        for v in range(base, base + self._size):
            state.choices[v] &= ~gone
        for v in filled:
            state.choices[base + v] = 0
            state.open[v] &= ~(1 << round_)
