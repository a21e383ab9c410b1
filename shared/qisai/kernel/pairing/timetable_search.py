"""Rounds filled all at once, tightest place first, when the levels of their byes are given.

A *place* is an entrant in a round. It is filled where the fewest choices are left, in whatever round, and what follows
is drawn at once: drawing round after round goes astray where nearly everybody has to meet nearly everybody, because
the early rounds are free and decide what the late ones lack. Before anything is tried, `timetable_bounds` counts
whether what is left can suffice. What leads nowhere in one round does so in every round like it.

The recursion is at most as deep as there are pairs of at most 12 entrants.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from qisai.kernel.pairing.bye_levels import Levels, levels_due
from qisai.kernel.pairing.maximum_matching import bits
from qisai.kernel.pairing.timetable_bounds import Demand, byes_have_rounds, pairs_suffice

Place = tuple[int, int]
"""Two entrants who meet, the smaller first; or an entrant and `size`, which is the bye."""
_Option = tuple[int, int]
"""A round and the number of a pair."""
_Kind = tuple[int, int, int]


class Astray(Exception):
    """An attempt used up its steps."""


@dataclass(slots=True)
class _State:
    """Per round: the pairs still possible and the entrants still without a place, as bits; who has the bye."""

    pairs: list[int]
    open: list[int]
    bye: list[int]

    def copy(self) -> _State:
        return _State(self.pairs[:], self.open[:], self.bye[:])


@dataclass(frozen=True, slots=True)
class _Survey:
    """What to decide next, without options where every place is filled; and byes that must come."""

    options: tuple[_Option, ...] = ()
    demands: tuple[Demand, ...] = ()


class TimetableSearch:
    """The search with one course of levels. For the arguments see `Timetable`."""

    def __init__(
        self, present: Sequence[int], partners: Sequence[Sequence[int]], byes: Sequence[int], levels: Levels
    ) -> None:
        self.steps = 0
        """Steps taken for all questions so far."""
        self._present, self._byes, self._levels = present, byes, levels
        self._size = len(byes)
        self._pairs = _pairs(self._size)
        self._number = {pair: number for number, pair in enumerate(self._pairs)}
        self._first_bye = self._size * (self._size - 1) // 2
        self._games = (1 << self._first_bye) - 1
        self._of = [sum(1 << at for at, pair in enumerate(self._pairs) if v in pair) for v in range(self._size + 1)]
        self._rounds = range(len(present))
        self._class = [next(q for q in self._rounds if self._byes_alike(q, r)) for r in self._rounds]
        self._due = [levels_due(v, count, present, levels) for v, count in enumerate(byes)]
        self._start = self._empty(partners)
        self._dead_ends: set[tuple[object, ...]] = set()
        self._left = 0
        self._thorough = True
        self._byes_first = False
        self._order = b""

    def fill(self, fixed: frozenset[Place], *, attempt: int, steps: int) -> list[Place] | None:
        """The other places of the first round if all rounds can be filled with these in it, else None.

        Attempts are numbered from 0. All but the first count sets of entrants throughout, not at the start alone, and
        every other one gives the byes first: who has them may decide who needs all partners left.

        :raises Astray: more steps would be needed.
        """
        start = self._started(fixed)
        self._left = steps
        self._thorough = attempt > 0
        self._byes_first = attempt % 2 == 1
        self._order = hashlib.sha256(str(attempt).encode()).digest()
        return None if start is None else self._fill(start, first=True)

    def is_counted_out(self, fixed: frozenset[Place]) -> bool:
        """Whether a single step shows that the rounds cannot be filled with these places in the first."""
        try:
            return self.fill(fixed, attempt=0, steps=1) is None
        except Astray:
            return False

    def _started(self, fixed: frozenset[Place]) -> _State | None:
        start = self._start.copy()
        for place in fixed:
            number = self._number[place]
            if not start.pairs[0] >> number & 1:
                return None
            self._take(start, 0, number, [])
        return start

    def _empty(self, partners: Sequence[Sequence[int]]) -> _State:
        state = _State([], [], [-1] * len(self._rounds))
        for r, here in enumerate(self._present):
            pairs = 0
            for number, (v, w) in enumerate(self._pairs):
                allowed = self._byes[v] <= self._levels[r] if w == self._size else here & partners[r][v] & 1 << w
                if here >> v & 1 and allowed:
                    pairs |= 1 << number
            state.pairs.append(pairs)
            state.open.append(here | 1 << self._size if self._levels[r] >= 0 else here)
        return state

    def _fill(self, state: _State, *, first: bool = False) -> list[Place] | None:
        """The places of the first round that were filled here, or None. One call for each choice made."""
        self._left -= 1
        self.steps += 1
        if self._left < 0:
            raise Astray
        made: list[Place] = []
        while True:
            survey = self._survey(state) if self._byes_are_due(state) else None
            if survey is None:
                return None
            if len(survey.options) != 1:
                break
            self._take(state, *survey.options[0], made)
        if not survey.options:
            return made
        key = tuple(sorted(zip(self._class, state.pairs, state.open, state.bye, strict=True)))
        if key in self._dead_ends or not self._may_suffice(state, survey, first=first):
            return None
        for round_, number in survey.options:
            tried, here = state.copy(), made[:]
            self._take(tried, round_, number, here)
            further = self._fill(tried)
            if further is not None:
                return here + further
            kind = self._kind(state, round_)
            for r in self._rounds:
                if self._kind(state, r) == kind:
                    state.pairs[r] &= ~(1 << number)
        self._dead_ends.add(key)
        return None

    def _take(self, state: _State, round_: int, number: int, made: list[Place]) -> None:
        """Fill a place, and take away what that rules out in this round and in the others."""
        v, w = self._pairs[number]
        if round_ == 0:
            made.append((v, w))
        state.pairs[round_] &= ~(self._of[v] | self._of[w])
        state.open[round_] &= ~(1 << v | 1 << w)
        if w == self._size:
            state.bye[round_] = v
        for r in self._rounds:
            if w < self._size or self._levels[r] == self._levels[round_]:
                state.pairs[r] &= ~(1 << number)

    def _kind(self, state: _State, round_: int) -> _Kind:
        """Rounds of one kind could change places in all that is still open."""
        return self._class[round_], state.pairs[round_], state.open[round_]

    def _byes_alike(self, one: int, other: int) -> bool:
        """Whether takers of byes could change rounds: even ones, or odd ones of one level and pool, and all between."""
        between = [r for r in range(min(one, other), max(one, other) + 1) if self._levels[r] >= 0]
        if self._levels[one] < 0 or self._levels[other] < 0:
            return self._levels[one] == self._levels[other]
        return len({(self._levels[r], self._present[r]) for r in between}) == 1

    def _byes_are_due(self, state: _State) -> bool:
        """Rule 4 in the order of rounds: whether all byes up to the first open one are due; only who may have that."""
        counts = list(self._byes)
        for r, level in enumerate(self._levels):
            if level < 0:
                continue
            here = self._present[r]
            if min(count for v, count in enumerate(counts) if here >> v & 1) != level:
                return False
            taker = state.bye[r]
            if taker < 0:
                due = sum(1 << v for v, count in enumerate(counts) if here >> v & 1 and count == level)
                state.pairs[r] &= self._games | due << self._first_bye
                return True
            if counts[taker] != level:
                return False
            counts[taker] += 1
        return True

    def _survey(self, state: _State) -> _Survey | None:
        """What to decide next; None where a place has no choice, or an entrant too few partners and byes left."""
        fewest, found = len(self._pairs) + 1, (0, 0, 0)
        needed, seen = [0] * self._size, [0] * self._size
        for r in self._rounds:
            open_, pairs = state.open[r], state.pairs[r]
            while open_:
                v = (open_ & -open_).bit_length() - 1
                open_ &= open_ - 1
                choices = pairs & self._of[v]
                count = choices.bit_count()
                if count < 2:
                    return _Survey(((r, choices.bit_length() - 1),)) if count else None
                if count < fewest or (count == fewest and self._order[v] < self._order[found[1]]):
                    fewest, found = count, (r, v, choices)
                if v < self._size:
                    needed[v] += 1
                    seen[v] |= choices
        if self._byes_first:
            found = self._next_bye(state) or found
        return self._with_those_who_need_all(state, self._options(*found), needed, seen)

    def _with_those_who_need_all(
        self, state: _State, options: tuple[_Option, ...], needed: list[int], seen: list[int]
    ) -> _Survey | None:
        demands: list[Demand] = []
        for v, rounds in enumerate(needed):
            given, byes = self._byes_of(state, v)
            partners = (seen[v] & self._games).bit_count()
            if partners + byes < rounds:
                return None
            demands += self._demands(v, given, lacking=rounds - partners)
            if rounds and partners + byes == rounds:
                met = self._who_must_be_met(state, v, fewer_than=len(options))
                options = met or options
                if len(options) == 1:
                    break
        return _Survey(options, tuple(demands))

    def _next_bye(self, state: _State) -> tuple[int, int, int] | None:
        """The first bye still to be given and who may have it; all are due (`_byes_are_due`)."""
        for r, level in enumerate(self._levels):
            if level >= 0 and state.bye[r] < 0:
                return r, self._size, state.pairs[r] & ~self._games
        return None

    def _options(self, round_: int, entrant: int, choices: int) -> tuple[_Option, ...]:
        def order(number: int) -> tuple[int, int]:
            v, w = self._pairs[number]
            return self._order[w if v == entrant else v], number

        return tuple((round_, number) for number in sorted(bits(choices), key=order))

    def _who_must_be_met(self, state: _State, v: int, *, fewer_than: int) -> tuple[_Option, ...]:
        """For somebody who has to meet all partners left: one who can be met in only one or two kinds of rounds."""
        kinds = {self._kind(state, r): r for r in reversed(self._rounds)}.values()
        once = twice = more = 0
        for r in kinds:
            here = state.pairs[r] & self._of[v] & self._games
            once, twice, more = once | here, twice | once & here, more | twice & here
        for chosen, count in ((once & ~twice, 1), (twice & ~more, 2)):
            if chosen and count < fewer_than:
                number = (chosen & -chosen).bit_length() - 1
                return tuple((r, number) for r in kinds if state.pairs[r] >> number & 1)
        return ()

    def _byes_of(self, state: _State, v: int) -> tuple[set[int], int]:
        """The levels at which v has byes, and how many more it can have: each comes one level above the one before."""
        bye = 1 << self._first_bye + v
        given = {self._levels[r] for r in self._rounds if state.bye[r] == v}
        possible = {self._levels[r] for r in self._rounds if state.pairs[r] & bye}
        level = self._byes[v]
        while level in given or level in possible:
            level += 1
        return given, level - self._byes[v] - len(given)

    def _demands(self, v: int, given: set[int], *, lacking: int) -> Iterator[Demand]:
        """Byes v must still have: for want of partners, or because others may have the next one only then."""
        top = max(self._due[v], self._byes[v] + len(given) + lacking)
        return (Demand(v, level) for level in range(self._byes[v], top) if level not in given)

    def _may_suffice(self, state: _State, survey: _Survey, *, first: bool) -> bool:
        """What can be counted out."""
        takers = [(pairs & ~self._games) >> self._first_bye for pairs in state.pairs]
        if not byes_have_rounds(survey.demands, takers, self._levels):
            return False
        if not first and not self._thorough:
            return True
        anywhere = 0
        for pairs in state.pairs:
            anywhere |= pairs
        often = [(*self._pairs[number], 1) for number in bits(anywhere & self._games)]
        often += [(v, self._size, self._byes_of(state, v)[1]) for v in range(self._size)]
        return pairs_suffice(self._size + 1, often, state.open)


@cache
def _pairs(size: int) -> tuple[Place, ...]:
    """All pairs of entrants, then the byes."""
    met = [(v, w) for v in range(size) for w in range(v + 1, size)]
    return (*met, *((v, size) for v in range(size)))
