"""Standings after any round: the one computation behind pages, API, exports and the command line.

Ranked by points, then by each tie-break of the regulations in turn; entrants equal on all of them share a rank. Only
the rounds counted are looked at, so a table never changes with what is played later (docs/rules.md section 9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from qisai.errors import Invalid, NotFound
from qisai.kernel.model import Tournament
from qisai.kernel.tie_breaks import TIE_BREAKS
from qisai.kernel.tie_breaks.criterion import AmongEqual, Criterion, Scale, Sum, Terms
from qisai.kernel.tie_breaks.points import POINTS
from qisai.kernel.tie_breaks.record import Record, compile_record


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingsRow:
    """One entrant's line. `points` in half-points, with the chief referee's adjustments.

    `values` per tie-break in its own scale, None where it has none.
    """

    rank: int
    """Shared by entrants equal on everything: 1, 2, 2, 4."""
    number: int
    points: int
    values: Mapping[str, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """The table after a round, best first; within a shared rank by number."""

    after: int
    """Rounds counted."""
    tie_breaks: tuple[str, ...]
    rows: tuple[StandingsRow, ...]
    _record: Record
    _criteria: Mapping[str, Criterion]
    _tied: Mapping[str, Mapping[int, Sequence[int]]]
    """For criteria among equals: the group (indexes) that each entrant (index) was in."""

    @property
    def record(self) -> Record:
        """What every entrant did in the rounds counted: what all values come from."""
        return self._record

    def scale(self, code: str) -> Scale:
        """Units per point of a criterion's values; also for `points`."""
        return self._criterion(code).scale

    def arithmetic(self, number: int, code: str) -> Terms:
        """The terms behind an entrant's value of a criterion, or of `points`: what was added in which round, and why.

        For every criterion but `aro` (a mean) the counted terms add up to the value. Raises `NotFound`.
        """
        criterion = self._criterion(code)
        if number not in self._record.numbers:
            raise NotFound("unknown-entrant", f"There is no entrant {number}.", number=number)
        entrant = self._record.numbers.index(number)
        if isinstance(criterion, Sum):
            return criterion.terms(self._record, entrant)
        return criterion.settle(self._record, self._tied[code][entrant]).terms.get(entrant, ())

    def _criterion(self, code: str) -> Criterion:
        if code == POINTS.code:
            return POINTS
        if code not in self._criteria:
            raise NotFound("unknown-tie-break", f"{code} is not among this event's tie-breaks.", code=code)
        return self._criteria[code]


def standings(
    tournament: Tournament, *, after: int | None = None, tie_breaks: Mapping[str, Criterion] = TIE_BREAKS
) -> Standings:
    """Standings after round `after` (default: all rounds given; 0: before round 1).

    Boards without a result and adjourned games score nothing until decided. `tie_breaks` maps codes to criteria; the
    regulations say which are in force. Raises `Invalid` for a round not given or a tie-break that does not exist.
    """
    rounds = len(tournament.rounds) if after is None else after
    if not 0 <= rounds <= len(tournament.rounds):
        raise Invalid("no-such-round", f"Round {rounds} is not given; rounds 0 to {len(tournament.rounds)} are.")
    codes = tournament.regulations.tie_breaks
    unknown = [code for code in codes if code not in tie_breaks]
    if unknown:
        raise Invalid("unknown-tie-break", f"There is no tie-break {unknown[0]}; known are {', '.join(tie_breaks)}.")
    record = compile_record(tournament, rounds=rounds)
    criteria = {code: tie_breaks[code] for code in codes}
    groups = _split([range(len(record.numbers))], record.totals)
    columns: dict[str, Sequence[int | None]] = {}
    tied: dict[str, Mapping[int, Sequence[int]]] = {}
    for code, criterion in criteria.items():
        if isinstance(criterion, AmongEqual):
            tied[code] = {entrant: group for group in groups for entrant in group}
            columns[code], groups = _among_equal(record, criterion, groups)
        else:
            columns[code] = [criterion.value(criterion.terms(record, i)) for i in range(len(record.numbers))]
            groups = _split(groups, columns[code], lower_first=criterion.lower_first)
    return Standings(
        after=rounds,
        tie_breaks=codes,
        rows=_rows(record, groups, columns),
        _record=record,
        _criteria=MappingProxyType(criteria),
        _tied=MappingProxyType(tied),
    )


def _split(
    groups: Sequence[Sequence[int]], values: Sequence[int | None], *, lower_first: bool = False
) -> list[Sequence[int]]:
    """Split each group of equals by value, best first; no value ranks last."""
    parts: list[Sequence[int]] = []
    for group in groups:
        if len(group) == 1:
            parts.append(group)
            continue
        by_value: dict[int | None, list[int]] = {}
        for entrant in group:
            by_value.setdefault(values[entrant], []).append(entrant)
        without = by_value.pop(None, None)
        parts.extend(by_value[value] for value in sorted(by_value, key=_number, reverse=not lower_first))
        if without is not None:
            parts.append(without)
    return parts


def _number(value: int | None) -> int:
    assert value is not None
    return value


def _among_equal(
    record: Record, criterion: AmongEqual, groups: Sequence[Sequence[int]]
) -> tuple[list[int | None], list[Sequence[int]]]:
    values: list[int | None] = [None] * len(record.numbers)
    parts: list[Sequence[int]] = []
    for group in groups:
        if len(group) == 1:
            parts.append(group)
            continue
        settlement = criterion.settle(record, group)
        parts.extend(settlement.order)
        for entrant, terms in settlement.terms.items():
            values[entrant] = sum(line.value for line in terms if line.counted) if terms else None
    return values, parts


def _rows(
    record: Record, groups: Sequence[Sequence[int]], columns: Mapping[str, Sequence[int | None]]
) -> tuple[StandingsRow, ...]:
    rows: list[StandingsRow] = []
    points, rank = record.totals, 1
    for group in groups:
        rows.extend(
            StandingsRow(
                rank=rank,
                number=record.numbers[entrant],
                points=points[entrant],
                values=MappingProxyType({code: column[entrant] for code, column in columns.items()}),
            )
            for entrant in sorted(group)
        )
        rank += len(group)
    return tuple(rows)
