"""An explanation of one entrant's place in a draw, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from qisai.kernel.pairing.what_if import Why
from qisai.kernel.sides import SideRule
from qisai.kernel.standings_file import value_number
from qisai.kernel.tie_breaks.criterion import Scale

if TYPE_CHECKING:
    from qisai.kernel.pairing.explain import ByeReason, Explanation, FloatReason, RuledOut, SideReason

Names = Mapping[int, str]

WHY: Final[Mapping[Why, str]] = {
    Why.MET: "they have met",
    Why.FORBIDDEN: "the pair is forbidden in this round",
    Why.SIDE_LIMIT: "no choice of sides keeps both within the limits",
    Why.COSTS_MORE: "it would cost more",
    Why.NO_DRAW_LEFT: "the others could then not all be paired",
    Why.NEEDED_ELSEWHERE: "placed elsewhere; what the exchange would cost was not worked out",
    Why.LEADS_NOWHERE: "it would cost less now, but later rounds could not all be drawn",
    Why.ONLY_ONE_ELIGIBLE: "nobody else present had as few byes",
    Why.NOTHING: "nothing: a better draw exists",
    Why.NOT_WORKED_OUT: "not worked out in a field of this size",
}

SIDE: Final[Mapping[SideRule, str]] = {
    SideRule.TABLE: "the Berger table says so",
    SideRule.LIMITS: "the other way round would be further outside the limits",
    SideRule.WISHES: "the wishes do not clash",
    SideRule.SURPLUS: "the smaller surplus moves first",
    SideRule.ALTERNATE: "at the latest game in which their sides differed, they alternate",
    SideRule.NUMBER: "the smaller number moves first if it is odd, the larger if it is even",
    SideRule.LEFT_SEATS: "who sat left more often sits right",
    SideRule.SMALLER_LEFT: "the smaller number sits left",
    SideRule.BY_HAND: "a person set it",
}


def sentences(found: Explanation, names: Names) -> list[str]:
    """What there is to say about the entrant, a line each."""
    lines = [f"{_who(found.number, names)}, {_points(found.score)} points, round {found.round}"]
    if found.opponent is not None:
        lines.append(f"meets {_who(found.opponent, names)} on board {found.board}")
    if found.bye is not None:
        lines.append(_bye(found.bye))
    if found.floated is not None:
        lines.append(_float(found.floated))
    if found.ideal is None:
        lines.append("ideal partner: none, the group leaves this entrant over")
    else:
        lines.append(f"ideal partner: {_who(found.ideal, names)}")
    lines.extend(f"  not {_who(ruled_out.number, names)}: {_ruled_out(ruled_out)}" for ruled_out in found.better)
    if found.better_count > len(found.better):
        lines.append(f"  … and {found.better_count - len(found.better)} more that would have been better")
    if found.side is not None:
        lines.append(_side(found.side))
    return lines


def _who(number: int, names: Names) -> str:
    return f"{number} {names.get(number, '')}".rstrip()


def _points(half_points: int) -> str:
    return str(value_number(half_points, Scale.HALF))


def _ruled_out(reason: RuledOut) -> str:
    if reason.why is Why.MET and reason.round is not None:
        return f"they met in round {reason.round}"
    return _why(reason)


def _why(reason: RuledOut | FloatReason | ByeReason) -> str:
    if reason.why is Why.COSTS_MORE and reason.criterion is not None:
        return f"it would cost more ({reason.criterion} {reason.otherwise} instead of {reason.value})"
    return WHY[reason.why]


def _float(reason: FloatReason) -> str:
    return f"floats {reason.direction} by {_points(reason.gap)}; staying in the group: {_why(reason)}"


def _bye(reason: ByeReason) -> str:
    had = f"had {reason.had} byes or wins by forfeit, as few as anybody present ({reason.eligible} such)"
    return f"has the bye: {had}; playing instead: {_why(reason)}"


def _side(reason: SideReason) -> str:
    return f"side: {reason.side}, because {SIDE[reason.rule]}"
