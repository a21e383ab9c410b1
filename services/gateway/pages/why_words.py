"""Why an entrant has its place in a draw, in words: one sentence for each thing there is to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext as __
from flask_babel import ngettext

from qisai.client import Event
from qisai.client.explanations import BetterChoice, Decided, Explanation
from qisai.client.rounds import Player
from qisai.kernel.pairing.what_if import Why
from qisai.kernel.sides import SideRule
from services.gateway.pages import wording
from services.gateway.pages.language import sentences

WHY: Final[Mapping[Why, Any]] = {
    Why.MET: __("they have met before"),
    Why.FORBIDDEN: __("they must not meet in this round"),
    Why.SIDE_LIMIT: __("no choice of sides keeps both within the limits"),
    Why.COSTS_MORE: __("the whole draw would be worse"),
    Why.NO_DRAW_LEFT: __("the others could then not all be paired"),
    Why.NEEDED_ELSEWHERE: __("has another place in this draw; what an exchange would cost was not worked out"),
    Why.LEADS_NOWHERE: __("it would be better now, but later rounds could not all be drawn"),
    Why.ONLY_ONE_ELIGIBLE: __("nobody else present had as few byes"),
    Why.NOTHING: __("nothing stands against it: there is a better draw than this one"),
    Why.NOT_WORKED_OUT: __("not worked out for so many entrants"),
}
"""What stood against another choice."""

RULES: Final[Mapping[SideRule, Any]] = {
    SideRule.TABLE: __("the Berger table says so"),
    SideRule.LIMITS: __("the other way round would be further outside the limits of sides"),
    SideRule.WISHES: __("so both get the side that is due to them, or one does whom it does not cost the other's"),
    SideRule.SURPLUS: __("who had this side less often so far gets it"),
    SideRule.ALTERNATE: __("at the latest round in which their sides differed, they change"),
    SideRule.NUMBER: __("their sides so far are alike, so the numbers decide: the smaller if odd, else the larger"),
    SideRule.LEFT_SEATS: __("who sat left more often sits right"),
    SideRule.SMALLER_LEFT: __("the smaller number sits left"),
    SideRule.BY_HAND: __("a person set it so"),
}
"""Which rule gave the side (docs/rules.md section 6)."""


def decided(found: Decided) -> str:
    """What stood against a choice, with the criterion on which the draw with it is worse."""
    known = found.criterion in wording.COSTS and found.value is not None and found.otherwise is not None
    if found.why not in (Why.COSTS_MORE, Why.SIDE_LIMIT) or not known:
        return str(WHY[found.why])
    name = str(found.criterion)
    return str(
        _(
            "the whole draw would be worse: %(criterion)s %(otherwise)s instead of %(value)s",
            criterion=wording.COSTS[name],
            otherwise=wording.cost(name, found.otherwise or 0),
            value=wording.cost(name, found.value or 0),
        )
    )


def better(choice: BetterChoice) -> str:
    """What ruled a better opponent out."""
    if choice.decided.why is Why.MET and choice.round is not None:
        return str(_("they met in round %(round)s", round=choice.round))
    if choice.decided.why is Why.SIDE_LIMIT:
        return str(WHY[Why.SIDE_LIMIT])
    return decided(choice.decided)


def floated(found: Explanation) -> str:
    """That the opponent is of another score group, and what staying in the own one would have cost."""
    assert found.floated is not None
    gap = wording.points(found.floated.gap)
    said = (
        _("The opponent has %(gap)s points less.", gap=gap)
        if found.floated.direction == "down"
        else _("The opponent has %(gap)s points more.", gap=gap)
    )
    staying = _("An opponent with as many points instead: %(why)s.", why=decided(found.floated.decided))
    return sentences(said, staying)


def bye(found: Explanation) -> str:
    """Who had as few byes, and why it is this one."""
    assert found.bye is not None
    had = ngettext(
        "Had %(num)d bye or win by forfeit before, as few as anybody present.",
        "Had %(num)d byes or wins by forfeit before, as few as anybody present.",
        found.bye.had,
    )
    others = ngettext("So it is with %(num)d entrant.", "So it is with %(num)d entrants.", found.bye.eligible)
    instead = _("The bye to another one instead: %(why)s.", why=decided(found.bye.decided))
    return sentences(had, others, instead)


def side(event: Event, found: Explanation) -> str | None:
    """Which side and by which rule; None where the event shows no sides."""
    names = wording.side_names(event)
    if names is None or found.side is None:
        return None
    mine = names[0 if found.side.side == "first" else 1]
    return str(_("%(side)s, because %(rule)s.", side=mine, rule=RULES[found.side.rule]))


def who(player: Player) -> str:
    """Number and name."""
    return f"{player.number} {player.name}".strip()
