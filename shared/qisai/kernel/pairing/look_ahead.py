"""Look-ahead for small fields: only draws that leave a continuation of legal draws (docs/rules.md section 4).

A continuation is legal under rules 1 to 4 of section 3 in every planned round to come, with everybody who is not
withdrawn present. Whether there is one is for `timetable` to say; here the question is put, and what the answers teach
is kept, so that few of the draws of a round have to be asked about. Nothing here grows with large fields: it is asked
for up to `MOST_ENTRANTS` only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from qisai.kernel.model import ByeKind, Tournament
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.history import compile_history
from qisai.kernel.pairing.timetable import Timetable
from qisai.kernel.pairing.timetable_search import Place
from qisai.kernel.pairing.view import Pair

MOST_ENTRANTS: Final = 12
HARD: Final = 100
"""Steps that a dead end must have taken for its cause to be searched for; of others a first look has to show it."""
CREDIT: Final = 60
"""So many more first looks at causes than draws that a cause has saved asking about."""

Drawn = tuple[tuple[Pair, ...], int | None]
"""Pairs of indexes, sorted, and the index of who has the bye."""


def looks_ahead(tournament: Tournament) -> bool:
    """Whether the round to draw looks ahead: rounds are planned beyond it and at most 12 are not withdrawn."""
    planned = tournament.regulations.rounds
    if planned is None or planned <= tournament.next_round:
        return False
    return len(_playing_in(tournament, tournament.next_round)) <= MOST_ENTRANTS


class Continuations:
    """Answers which draws of a round leave legal draws for all rounds after it. Entrants are positions."""

    def __init__(self, tournament: Tournament, field: Field | None = None) -> None:
        """For the round to draw; `regulations.rounds` must be set. Without a field everybody not withdrawn plays it."""
        planned = tournament.regulations.rounds
        assert planned is not None
        numbers = _playing_in(tournament, tournament.next_round)
        self._at = {number: at for at, number in enumerate(numbers)}
        self._index = [] if field is None else [self._at[number] for number in field.number]
        records = compile_history(tournament).records
        full = {bye.entrant for bye in tournament.next.byes if bye.kind is ByeKind.FULL} if tournament.next else set()
        byes = [records[number].byes + (number in full) for number in numbers]
        met = [sum(1 << self._at[n] for n in records[number].met if n in self._at) for number in numbers]
        present, partners = [], []
        for later in range(tournament.next_round, planned + 1):
            here = sum(1 << self._at[number] for number in _playing_in(tournament, later))
            if field is not None and later == tournament.next_round:
                here = sum(1 << at for at in self._index)
            bans = self._forbidden_in(tournament, later)
            present.append(here)
            partners.append([here & ~(met[at] | bans[at] | 1 << at) for at in range(len(numbers))])
        self._timetable = Timetable(present, partners, byes)
        self._going_on: list[frozenset[Place]] = []
        self._dead_ends: list[frozenset[Place]] = []

    @property
    def steps(self) -> int:
        """Steps taken so far, a count that does not hang on the machine."""
        return self._timetable.steps

    def exist(self) -> bool:
        """Whether this round and every later one can be drawn."""
        return self._goes_on(frozenset())

    def exist_after(self, drawn: Drawn) -> bool:
        """Whether every later round can be drawn once this draw of the field was played."""
        return self._goes_on(self._places(drawn))

    def first_of(self, draws: Iterable[Drawn]) -> tuple[int, Drawn] | None:
        """The first of these draws that leaves a continuation, and how many come before it; None where none does.

        Of a draw that leads nowhere the few pairs are kept that alone rule a continuation out, as long as looking for
        them pays: any other draw with them need not be asked about.
        """
        if not self.exist():
            return None
        credit = CREDIT
        for before, drawn in enumerate(draws):
            places, steps = self._places(drawn), self.steps
            if any(dead <= places for dead in self._dead_ends):
                credit += 1
                continue
            if self._goes_on(places):
                return before, drawn
            hard = self.steps - steps > HARD
            if hard or credit >= len(places):
                credit -= len(places)
                places = self._cause(places, thoroughly=hard)
            self._dead_ends.append(places)
        return None

    def _goes_on(self, places: frozenset[Place]) -> bool:
        if any(places <= known for known in self._going_on):
            return True
        filled = self._timetable.filled(places)
        if filled is not None:
            self._going_on.append(filled)
        return filled is not None

    def _cause(self, places: frozenset[Place], *, thoroughly: bool) -> frozenset[Place]:
        """The places of a dead end without those that make no difference, looked at one by one."""
        for place in sorted(places):
            others = places - {place}
            if self._timetable.is_counted_out(others) or (thoroughly and not self._goes_on(others)):
                places = others
        return places

    def _places(self, drawn: Drawn) -> frozenset[Place]:
        pairs, bye = drawn
        met = [(self._index[i], self._index[j]) for i, j in pairs]
        places = [(a, b) if a < b else (b, a) for a, b in met]
        return frozenset(places if bye is None else [*places, (self._index[bye], len(self._at))])

    def _forbidden_in(self, tournament: Tournament, round_number: int) -> list[int]:
        bans = [0] * len(self._at)
        for pair in tournament.forbidden_pairs:
            a, b = (self._at.get(entrant) for entrant in pair.entrants)
            binds = pair.from_round <= round_number and (pair.to_round is None or round_number <= pair.to_round)
            if binds and a is not None and b is not None:
                bans[a] |= 1 << b
                bans[b] |= 1 << a
        return bans


def _playing_in(tournament: Tournament, round_number: int) -> list[int]:
    """Numbers of those not withdrawn in that round, ascending."""
    return sorted(
        entrant.number
        for entrant in tournament.entrants
        if entrant.withdrawn_from is None or entrant.withdrawn_from > round_number
    )
