"""Look-ahead for small fields: only draws that leave a continuation of legal draws (docs/rules.md section 4).

A continuation is legal under rules 1 to 4 of section 3 in every planned round to come, with everybody who is not
withdrawn present. Rounds are drawn one after another, and states seen are remembered, so the question is always
decided; where that takes long, all rounds are filled at once (`schedule`). Nothing here grows with large fields: it is
asked for up to `MOST_ENTRANTS` only, and never deeper than the pairs they can still form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from qisai.kernel.model import ByeKind, Tournament
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.history import compile_history
from qisai.kernel.pairing.schedule import Schedule

MOST_ENTRANTS: Final = 12
PATIENCE: Final = 1_000
"""States looked at for one question before `schedule` is asked."""

_Counts = tuple[int, ...]


class _TooLong(Exception):
    """Drawing round after round has not decided the question within `PATIENCE` states."""


def looks_ahead(tournament: Tournament) -> bool:
    """Whether the round to draw looks ahead: rounds are planned beyond it and at most 12 are not withdrawn."""
    planned = tournament.regulations.rounds
    if planned is None or planned <= tournament.next_round:
        return False
    return len(_playing_in(tournament, tournament.next_round)) <= MOST_ENTRANTS


class Continuations:
    """Answers whether the rounds after this one can all be drawn. Entrants are positions; sets of them are bits."""

    def __init__(self, tournament: Tournament) -> None:
        """For the round to draw; `regulations.rounds` must be set."""
        planned = tournament.regulations.rounds
        assert planned is not None
        self._drawing = tournament.next_round
        self._last = planned
        numbers = _playing_in(tournament, self._drawing)
        self._at = {number: at for at, number in enumerate(numbers)}
        records = compile_history(tournament).records
        full = {bye.entrant for bye in tournament.next.byes if bye.kind is ByeKind.FULL} if tournament.next else set()
        self._byes = tuple(records[number].byes + (number in full) for number in numbers)
        self._met = tuple(sum(1 << self._at[n] for n in records[number].met if n in self._at) for number in numbers)
        rounds = range(self._drawing, planned + 1)
        self._playing = {r: self._positions(_playing_in(tournament, r)) for r in rounds}
        self._forbidden = {r: self._forbidden_in(tournament, r) for r in rounds}
        self._partners = {r: self._partners_from(r) for r in rounds}
        self._known: dict[tuple[int, _Counts, _Counts], bool] = {}
        self._patience: int | None = None

    def exist_after(self, field: Field, pairs: Sequence[tuple[int, int]], bye: int | None) -> bool:
        """Whether every later round has a legal draw once this one (indexes of the field) was played."""
        met, byes = list(self._met), list(self._byes)
        for i, j in pairs:
            _meet(met, self._at[field.number[i]], self._at[field.number[j]])
        if bye is not None:
            byes[self._at[field.number[bye]]] += 1
        return self._decide(self._drawing + 1, tuple(met), tuple(byes))

    def exist(self) -> bool:
        """Whether this round, with everybody who is not withdrawn present, and every later one can be drawn."""
        return self._decide(self._drawing, self._met, self._byes)

    def _decide(self, round_number: int, met: _Counts, byes: _Counts) -> bool:
        self._patience = PATIENCE
        try:
            return self._go_on(round_number, met, byes)
        except _TooLong:
            known = self._schedule(round_number, met, byes)
        if known is None:
            self._patience = None
            known = self._go_on(round_number, met, byes)
        self._known[round_number, met, byes] = known
        return known

    def _schedule(self, round_number: int, met: _Counts, byes: _Counts) -> bool | None:
        """What filling all rounds at once says; None where it found nothing out, or where somebody will withdraw."""
        if self._playing[round_number] != self._playing[self._last]:
            return None
        here = [at for at in range(len(met)) if self._playing[round_number] >> at & 1]
        rounds = range(round_number, self._last + 1)
        partners = [
            [
                sum(1 << i for i, w in enumerate(here) if v != w and not (met[v] | self._forbidden[r][v]) >> w & 1)
                for v in here
            ]
            for r in rounds
        ]
        counts = sorted(byes[at] for at in here)
        levels: list[int | None] = []
        for _ in rounds:
            levels.append(counts[0] if len(here) % 2 else None)
            counts[0] += 1
            counts.sort()
        return Schedule(partners, levels, [byes[at] for at in here]).exists()

    def _positions(self, numbers: Sequence[int]) -> int:
        return sum(1 << self._at[number] for number in numbers)

    def _forbidden_in(self, tournament: Tournament, round_number: int) -> _Counts:
        bans = [0] * len(self._at)
        for pair in tournament.forbidden_pairs:
            a, b = (self._at.get(entrant) for entrant in pair.entrants)
            binds = pair.from_round <= round_number and (pair.to_round is None or round_number <= pair.to_round)
            if binds and a is not None and b is not None:
                _meet(bans, a, b)
        return tuple(bans)

    def _partners_from(self, round_number: int) -> _Counts:
        """Whom each could still be paired with in that round or a later one, whether they have met or not."""
        partners = [0] * len(self._at)
        for later in range(round_number, self._last + 1):
            playing = self._playing[later]
            for at in range(len(partners)):
                if playing >> at & 1:
                    partners[at] |= playing & ~self._forbidden[later][at] & ~(1 << at)
        return tuple(partners)

    def _go_on(self, round_number: int, met: _Counts, byes: _Counts) -> bool:
        """Depth: one call for each round to come, at most as many as there are pairs left for one entrant."""
        if round_number > self._last:
            return True
        key = (round_number, met, byes)
        known = self._known.get(key)
        if known is None:
            if self._patience is not None:
                self._patience -= 1
                if self._patience < 0:
                    raise _TooLong
            known = self._enough_left(round_number, met, byes) and self._some_draw_goes_on(round_number, met, byes)
            self._known[key] = known
        return known

    def _enough_left(self, round_number: int, met: _Counts, byes: _Counts) -> bool:
        """Counts that must hold: rounds nobody is left for can only be byes, of which each odd round has one.

        While the same entrants play on, rule 4 hands these out evenly: nobody is lifted above the level they reach.
        """
        byes_to_come = 0
        rounds_to_play = [0] * len(met)
        for later in range(round_number, self._last + 1):
            playing = self._playing[later]
            if not playing:
                return False
            byes_to_come += playing.bit_count() % 2
            for at in range(len(met)):
                rounds_to_play[at] += playing >> at & 1
        partners = self._partners[round_number]
        needed = [max(0, rounds - (partners[at] & ~met[at]).bit_count()) for at, rounds in enumerate(rounds_to_play)]
        if sum(needed) > byes_to_come:
            return False
        if self._playing[round_number] != self._playing[self._last]:
            return self._enough_pairs_of_those_who_stay(round_number, met)
        level = _level([count for at, count in enumerate(byes) if self._playing[round_number] >> at & 1], byes_to_come)
        return all(need <= max(0, level - byes[at]) for at, need in enumerate(needed))

    def _enough_pairs_of_those_who_stay(self, round_number: int, met: _Counts) -> bool:
        """Whether those who stay to the last round have pairs left for the games that leavers cannot take off them."""
        staying, partners = self._playing[self._last], self._partners[round_number]
        games = 0
        for later in range(round_number, self._last + 1):
            playing = self._playing[later]
            games += max(0, playing.bit_count() // 2 - (playing & ~staying).bit_count())
        ends = (partners[at] & ~met[at] & staying for at in range(len(met)) if staying >> at & 1)
        return 2 * games <= sum(end.bit_count() for end in ends)

    def _some_draw_goes_on(self, round_number: int, met: _Counts, byes: _Counts) -> bool:
        playing, bans = self._playing[round_number], self._forbidden[round_number]
        partners = [playing & ~met[at] & ~bans[at] & ~(1 << at) for at in range(len(met))]
        takers: list[int | None] = [None]
        if playing.bit_count() % 2:
            here = [at for at in range(len(met)) if playing >> at & 1]
            fewest = min(byes[at] for at in here)
            takers = [at for at in here if byes[at] == fewest]
        for taker in takers:
            rest = playing if taker is None else playing ^ 1 << taker
            counted = byes if taker is None else (*byes[:taker], byes[taker] + 1, *byes[taker + 1 :])
            for pairs in pairings(rest, partners):
                after = list(met)
                for a, b in pairs:
                    _meet(after, a, b)
                if self._go_on(round_number + 1, tuple(after), counted):
                    return True
        return False


def pairings(free: int, partners: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """All ways to pair the entrants whose bits are set in `free`, whoever has the fewest partners left going first.

    `partners[v]` holds whom v may meet, as bits. At most `MOST_ENTRANTS` / 2 calls deep.
    """
    if not free:
        yield []
        return
    tightest, fewest = -1, -1
    rest = free
    while rest:
        v = (rest & -rest).bit_length() - 1
        rest &= rest - 1
        count = (partners[v] & free).bit_count()
        if count == 0:
            return
        if tightest < 0 or count < fewest:
            tightest, fewest = v, count
    options = partners[tightest] & free
    while options:
        other = (options & -options).bit_length() - 1
        options &= options - 1
        for pairs in pairings(free & ~(1 << tightest | 1 << other), partners):
            pairs.append((tightest, other) if tightest < other else (other, tightest))
            yield pairs


def _level(byes: Sequence[int], to_come: int) -> int:
    """The most byes anybody has once `to_come` more went, one by one, to whoever had the fewest."""
    level = 0
    while sum(max(0, level - count) for count in byes) < to_come:
        level += 1
    return level


def _meet(masks: list[int], a: int, b: int) -> None:
    masks[a] |= 1 << b
    masks[b] |= 1 << a


def _playing_in(tournament: Tournament, round_number: int) -> list[int]:
    """Numbers of those not withdrawn in that round, ascending."""
    return sorted(
        entrant.number
        for entrant in tournament.entrants
        if entrant.withdrawn_from is None or entrant.withdrawn_from > round_number
    )
