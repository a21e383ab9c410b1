"""What another choice would have cost: the best draw with it, compared with the draw at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from qisai.kernel.pairing import optimal
from qisai.kernel.pairing.cost import cost_of
from qisai.kernel.pairing.criteria import BYE_SCORE, BYE_UNPLAYED, SIDE_BREACHES
from qisai.kernel.pairing.edit import Drawing
from qisai.kernel.pairing.field import Field


class Why(StrEnum):
    """What ruled a choice out."""

    MET = "met"
    """The two have met: rule 2 of docs/rules.md section 3."""
    FORBIDDEN = "forbidden"
    """Rule 3."""
    SIDE_LIMIT = "side_limit"
    """No assignment of sides keeps both inside the limits (criterion 3), and that is what decides."""
    COSTS_MORE = "costs_more"
    """The best draw with it is worse on the criterion named."""
    NO_DRAW_LEFT = "no_draw_left"
    """No legal draw has it: the others could not all be paired."""
    NEEDED_ELSEWHERE = "needed_elsewhere"
    """The other has another place in this draw; what the exchange would cost was not worked out."""
    LEADS_NOWHERE = "leads_nowhere"
    """It would cost less now, but look-ahead found that later rounds could not all be drawn."""
    ONLY_ONE_ELIGIBLE = "only_one_eligible"
    """Bye: nobody else had as few byes so far (rule 4)."""
    NOTHING = "nothing"
    """Nothing: a better draw exists. Draws by the search, by hand or used again may miss it."""
    NOT_WORKED_OUT = "not_worked_out"


@dataclass(frozen=True, slots=True)
class Decided:
    """The answer. With `COSTS_MORE`, `SIDE_LIMIT`: the criterion, its value in this draw, and in the best otherwise."""

    why: Why
    criterion: str | None = None
    value: int | None = None
    otherwise: int | None = None


class WhatIf:
    """Questions about one draw. Entrants are indexes of the field."""

    def __init__(self, drawing: Drawing, cost: Mapping[str, int], *, passed_over: bool) -> None:
        """`cost` of the draw at hand; `passed_over`: look-ahead did not take a cheaper one."""
        self._drawing = drawing
        self._cost = cost
        self._passed_over = passed_over

    def sides_alone_rule_out(self, at: int, other: int) -> bool:
        """Whether side limits are the first thing on which any draw with this pair loses, as can be seen at once.

        So it is where the pair cannot keep them, this draw has no breach, and nothing but the bye, of which an even
        field has none, is more important.
        """
        names = [criterion.name for criterion in self._drawing.system.criteria]
        if self._drawing.field.odd or self._cost.get(SIDE_BREACHES.name) != 0:
            return False
        before = set(names[: names.index(SIDE_BREACHES.name)])
        return before <= {BYE_SCORE.name, BYE_UNPLAYED.name} and self._breaks_side_limits(at, other)

    def _breaks_side_limits(self, at: int, other: int) -> bool:
        """Whether the system minds side limits and this pair cannot keep them."""
        if SIDE_BREACHES not in self._drawing.system.criteria:
            return False
        i, j = min(at, other), max(at, other)
        return SIDE_BREACHES.of_pair(self._drawing.view, i, j) > 0

    def paired(self, at: int, other: int) -> Decided:
        """The two would meet. Where it is their sides that decide, that is said."""
        field = self._drawing.field
        everybody = frozenset(range(field.size))
        barred = [others if index in (at, other) else others | {at, other} for index, others in enumerate(field.barred)]
        barred[at], barred[other] = everybody - {at, other}, everybody - {at, other}
        eligible = tuple(may and index not in (at, other) for index, may in enumerate(field.bye_eligible))
        decided = self._compared(replace(field, barred=tuple(barred), bye_eligible=eligible))
        if decided.criterion == SIDE_BREACHES.name and self._breaks_side_limits(at, other):
            return replace(decided, why=Why.SIDE_LIMIT)
        return decided

    def stays(self, at: int) -> Decided:
        """The entrant would meet somebody of its own score group."""
        field = self._drawing.field
        group = field.group[at]
        others = frozenset(index for index in range(field.size) if field.group[index] != group)
        barred = [kept | {at} if index in others else kept for index, kept in enumerate(field.barred)]
        barred[at] = barred[at] | others
        eligible = tuple(may and index != at for index, may in enumerate(field.bye_eligible))
        return self._compared(replace(field, barred=tuple(barred), bye_eligible=eligible))

    def plays(self, at: int) -> Decided:
        """Somebody else would have the bye."""
        field = self._drawing.field
        eligible = tuple(may and index != at for index, may in enumerate(field.bye_eligible))
        if not any(eligible):
            return Decided(Why.ONLY_ONE_ELIGIBLE)
        return self._compared(replace(field, bye_eligible=eligible))

    def _compared(self, field: Field) -> Decided:
        """The best draw of the changed field against the draw at hand, by the tuple."""
        drawing = self._drawing
        if field.odd and not any(field.bye_eligible):
            return Decided(Why.NO_DRAW_LEFT)
        try:
            best = optimal.solve(field, system=drawing.system)
        except optimal.InfeasibleField:
            return Decided(Why.NO_DRAW_LEFT)
        otherwise = cost_of(drawing.field, best.pairs, best.bye, system=drawing.system, view=drawing.view)
        for criterion, value in self._cost.items():
            if otherwise[criterion] > value:
                return Decided(Why.COSTS_MORE, criterion, value, otherwise[criterion])
            if otherwise[criterion] < value:
                break
        return Decided(Why.LEADS_NOWHERE if self._passed_over else Why.NOTHING)
