"""Why this pair: for any entrant of a draw, as data that pages and the command line put into words.

Who the ideal partner was and what ruled out each better choice; why the entrant floated or got the bye; which rule of
docs/rules.md section 6 gave its side. What stood against a choice is not guessed: the best draw *with* that choice is
worked out, and the first criterion on which it loses is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from qisai.errors import NotFound
from qisai.kernel.model import Draw, LookAhead, Tournament
from qisai.kernel.outcomes import is_meeting
from qisai.kernel.pairing.cost import cost_of
from qisai.kernel.pairing.edit import Drawing, drawing_of
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.preference import Candidate, better_candidates, ideal_partner
from qisai.kernel.pairing.what_if import Decided, WhatIf, Why
from qisai.kernel.sides import SideRule, seat_pair

MOST_LISTED: Final = 20
"""Better candidates told about; `better_count` says how many there are."""
MOST_WORKED_OUT: Final = 5
"""Better candidates for whom the best draw with them is worked out; further ones are `needed_elsewhere`."""
LARGEST_WORKED_OUT: Final = 600
"""Entrants up to which draws are worked out: beyond, each takes too long to wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """A candidate that would have been better for the entrant, and why it was not taken.

    `round` with `met`; `partner` is whom the candidate got instead (None: the bye); `criterion`, `value`, `otherwise`
    with `costs_more`: this draw has `value`, the best draw with this pair `otherwise`.
    """

    number: int
    why: Why
    round: int | None = None
    partner: int | None = None
    criterion: str | None = None
    value: int | None = None
    otherwise: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatReason:
    """The entrant meets another score group: `down` or `up`, by `gap` half-points, and what staying would have cost."""

    direction: str
    gap: int
    why: Why
    criterion: str | None = None
    value: int | None = None
    otherwise: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ByeReason:
    """The entrant has the bye. `had`: byes and forfeit wins before; `eligible`: how many had as few."""

    had: int
    eligible: int
    why: Why
    criterion: str | None = None
    value: int | None = None
    otherwise: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SideReason:
    """Which rule gave the side. Lists of sides: +1 first, −1 second, oldest game first."""

    side: str
    rule: SideRule
    surplus: int
    opponent_surplus: int
    sides: tuple[int, ...]
    opponent_sides: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything about one entrant of a draw. `score` and gaps in half-points; places from 0."""

    number: int
    round: int
    score: int
    opponent: int | None
    board: int | None
    ideal: int | None
    """The partner the order wishes for inside the group; None where the group leaves the entrant over."""
    better_count: int
    better: tuple[RuledOut, ...]
    """The first of the better candidates, best first."""
    floated: FloatReason | None = None
    bye: ByeReason | None = None
    side: SideReason | None = None

    def as_data(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def explain(tournament: Tournament, draw: Draw, number: int, *, worked_out: int = MOST_WORKED_OUT) -> Explanation:
    """Why entrant `number` has this place in a draw of the tournament's next round, whatever the draw's origin.

    For up to `worked_out` better candidates the best draw with them is worked out. Raises `NotFound` (`not-in-draw`)
    for an entrant that the draw does not place, and what `compile_field` raises.
    """
    drawing = drawing_of(tournament)
    partners = _partners(draw)
    if number not in partners or number not in drawing.field.number:
        raise NotFound("not-in-draw", f"entrant {number} has no place in the draw of round {draw.round}", number=number)
    explaining = _Explaining(tournament, drawing, draw, partners)
    too_large = drawing.field.size > LARGEST_WORKED_OUT
    return explaining.explanation(number, 0 if too_large or not explaining.complete else worked_out)


def _partners(draw: Draw) -> dict[int, int | None]:
    partners: dict[int, int | None] = {} if draw.bye is None else {draw.bye: None}
    for board in draw.boards:
        partners[board.first], partners[board.second] = board.second, board.first
    return partners


class _Explaining:
    """One question about one draw. `at` is an index of the field, `number` an entrant's number."""

    def __init__(
        self, tournament: Tournament, drawing: Drawing, draw: Draw, partners: Mapping[int, int | None]
    ) -> None:
        self._tournament = tournament
        self._drawing = drawing
        self._field: Field = drawing.field
        self._draw = draw
        self._partners = partners
        self._index = {number: at for at, number in enumerate(drawing.field.number)}
        self.complete = sorted(partners) == sorted(drawing.field.number)
        """Whether the draw places exactly those present today; only then can its cost be compared."""
        self._what_if = WhatIf(drawing, self._cost(), passed_over=draw.look_ahead is LookAhead.EXCLUDED)

    def _cost(self) -> dict[str, int]:
        """What the draw costs today."""
        if not self.complete:
            return {}
        pairs = [(self._index[b.first], self._index[b.second]) for b in self._draw.boards]
        bye = None if self._draw.bye is None else self._index[self._draw.bye]
        in_order = [(min(pair), max(pair)) for pair in pairs]
        return cost_of(self._field, in_order, bye, system=self._drawing.system, view=self._drawing.view)

    def explanation(self, number: int, worked_out: int) -> Explanation:
        field, at = self._field, self._index[number]
        opponent = self._partners[number]
        against = None if opponent is None else self._index.get(opponent)
        candidates = better_candidates(field, at, against)
        ideal = ideal_partner(field, at)
        return Explanation(
            number=number,
            round=self._draw.round,
            score=field.score[at],
            opponent=opponent,
            board=next((b.board for b in self._draw.boards if number in (b.first, b.second)), None),
            ideal=None if ideal is None else field.number[ideal],
            better_count=len(candidates),
            better=tuple(self._ruled_out(at, candidates[:MOST_LISTED], worked_out)),
            floated=self._floated(at, against, worked_out),
            bye=self._bye(at, worked_out) if opponent is None else None,
            side=None if against is None else self._side(at, against),
        )

    def _ruled_out(self, at: int, candidates: list[Candidate], worked_out: int) -> Iterator[RuledOut]:
        field = self._field
        for candidate in candidates:
            other = candidate.at
            number = field.number[other]
            partner = self._partners.get(number)
            if other in field.met[at]:
                yield RuledOut(number=number, why=Why.MET, round=self._met_in(at, other), partner=partner)
            elif other in field.barred[at]:
                yield RuledOut(number=number, why=Why.FORBIDDEN, partner=partner)
            elif self._what_if.sides_alone_rule_out(at, other):
                yield RuledOut(number=number, why=Why.SIDE_LIMIT, partner=partner)
            elif worked_out:
                worked_out -= 1
                yield self._with_reason(number, partner, self._what_if.paired(at, other))
            else:
                yield RuledOut(number=number, why=Why.NEEDED_ELSEWHERE, partner=partner)

    def _with_reason(self, number: int, partner: int | None, decided: Decided) -> RuledOut:
        return RuledOut(
            number=number,
            why=decided.why,
            partner=partner,
            criterion=decided.criterion,
            value=decided.value,
            otherwise=decided.otherwise,
        )

    def _met_in(self, at: int, other: int) -> int | None:
        pair = {self._field.number[at], self._field.number[other]}
        counts = self._tournament.regulations.forfeit_counts_as_met
        for round_ in self._tournament.rounds:
            for board in round_.boards:
                if {board.first, board.second} == pair and is_meeting(board.result, forfeit_counts_as_met=counts):
                    return round_.number
        return None

    def _floated(self, at: int, against: int | None, worked_out: int) -> FloatReason | None:
        field = self._field
        if against is None or field.group[at] == field.group[against]:
            return None
        gap = field.score[at] - field.score[against]
        decided = self._what_if.stays(at) if worked_out else Decided(Why.NOT_WORKED_OUT)
        return FloatReason(
            direction="down" if gap > 0 else "up",
            gap=abs(gap),
            why=decided.why,
            criterion=decided.criterion,
            value=decided.value,
            otherwise=decided.otherwise,
        )

    def _bye(self, at: int, worked_out: int) -> ByeReason:
        field = self._field
        decided = self._what_if.plays(at) if worked_out else Decided(Why.NOT_WORKED_OUT)
        return ByeReason(
            had=field.bye_count[at],
            eligible=sum(field.bye_eligible),
            why=decided.why,
            criterion=decided.criterion,
            value=decided.value,
            otherwise=decided.otherwise,
        )

    def _side(self, at: int, against: int) -> SideReason:
        field = self._field
        seating = seat_pair(field, at, against)
        drawn_first = any(board.first == field.number[at] for board in self._draw.boards)
        rule = seating.rule if drawn_first == (seating.first == at) else SideRule.BY_HAND
        return SideReason(
            side="first" if drawn_first else "second",
            rule=rule,
            surplus=field.surplus[at],
            opponent_surplus=field.surplus[against],
            sides=field.sides[at],
            opponent_sides=field.sides[against],
        )
