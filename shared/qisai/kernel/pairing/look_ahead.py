"""Look-ahead for small fields: only draws that leave a continuation of legal draws (docs/rules.md section 4).

A continuation is legal under rules 1 to 4 of section 3 in every planned round to come, with everybody who is not
withdrawn present. States seen are remembered, so the question is always decided. Nothing here grows with large fields:
it is asked for up to `MOST_ENTRANTS` only, and never deeper than the pairs they can still form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from qisai.kernel.model import ByeKind, Tournament
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.history import compile_history

MOST_ENTRANTS: Final = 12


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
        self._known: dict[tuple[int, tuple[int, ...], tuple[int, ...]], bool] = {}

    def exist_after(self, field: Field, pairs: Sequence[tuple[int, int]], bye: int | None) -> bool:
        """Whether every later round has a legal draw once this one (indexes of the field) was played."""
        met, byes = list(self._met), list(self._byes)
        for i, j in pairs:
            _meet(met, self._at[field.number[i]], self._at[field.number[j]])
        if bye is not None:
            byes[self._at[field.number[bye]]] += 1
        return self._go_on(self._drawing + 1, tuple(met), tuple(byes))

    def exist(self) -> bool:
        """Whether this round, with everybody who is not withdrawn present, and every later one can be drawn."""
        return self._go_on(self._drawing, self._met, self._byes)

    def _positions(self, numbers: Sequence[int]) -> int:
        return sum(1 << self._at[number] for number in numbers)

    def _forbidden_in(self, tournament: Tournament, round_number: int) -> tuple[int, ...]:
        bans = [0] * len(self._at)
        for pair in tournament.forbidden_pairs:
            a, b = (self._at.get(entrant) for entrant in pair.entrants)
            binds = pair.from_round <= round_number and (pair.to_round is None or round_number <= pair.to_round)
            if binds and a is not None and b is not None:
                _meet(bans, a, b)
        return tuple(bans)

    def _partners_from(self, round_number: int) -> tuple[int, ...]:
        """Whom each could still be paired with in that round or a later one, whether they have met or not."""
        partners = [0] * len(self._at)
        for later in range(round_number, self._last + 1):
            playing = self._playing[later]
            for at in range(len(partners)):
                if playing >> at & 1:
                    partners[at] |= playing & ~self._forbidden[later][at] & ~(1 << at)
        return tuple(partners)

    def _go_on(self, round_number: int, met: tuple[int, ...], byes: tuple[int, ...]) -> bool:
        """Depth: one call for each round to come, at most as many as there are pairs left for one entrant."""
        if round_number > self._last:
            return True
        key = (round_number, met, byes)
        known = self._known.get(key)
        if known is None:
            known = self._enough_left(round_number, met, byes) and self._some_draw_goes_on(round_number, met, byes)
            self._known[key] = known
        return known

    def _enough_left(self, round_number: int, met: tuple[int, ...], byes: tuple[int, ...]) -> bool:
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
            return True
        level = _level([count for at, count in enumerate(byes) if self._playing[round_number] >> at & 1], byes_to_come)
        return all(need <= max(0, level - byes[at]) for at, need in enumerate(needed))

    def _some_draw_goes_on(self, round_number: int, met: tuple[int, ...], byes: tuple[int, ...]) -> bool:
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
