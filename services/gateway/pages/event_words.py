"""What an organiser's choices mean, in words: rounds and why, byes, places, running dry; names of the regulations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext as __
from flask_babel import ngettext

from services.gateway.pages import wording

WITHIN_GROUPS: Final = {
    "adjacent": __("neighbours: 1–2, 3–4"),
    "fold": __("folded: first–last"),
    "slide": __("upper half against lower half"),
}
DIRECTIONS: Final = {
    "Z": __("up in odd rounds, down in even ones"),
    "U": __("down in odd rounds, up in even ones"),
}
FIRST_ROUNDS: Final = {
    "system": __("as later rounds, by number"),
    "fold": __("strongest against weakest"),
    "slide": __("upper half against lower half"),
    "adjacent": __("neighbours by strength"),
    "random": __("at random from the seed"),
}
SIDE_PRIORITIES: Final = {
    "over_score": __("before equal scores"),
    "under_score": __("after equal scores"),
}
COMPENSATIONS: Final = {
    "zero": __("nothing"),
    "lowest": __("the lowest score of those who played"),
    "fixed": __("these points"),
}
LATE_ENTRIES: Final = {
    "zero": __("no points for each round missed"),
    "half": __("half a point for each round missed"),
}
REQUESTED_BYES: Final = {kind: wording.BYES[kind] for kind in ("half", "full", "zero")}
PRESETS: Final = {
    "association": __("association"),
    "prc_opponents": __("national rules, opponents first"),
    "prc_progressive": __("national rules, progressive first"),
    "fide": __("FIDE"),
    "go": __("go"),
}
"""Names of the lists of tie-breaks."""
_VALUES: Final[Mapping[str, Mapping[str, Any]]] = {
    "system": wording.SYSTEMS,
    "within_group": WITHIN_GROUPS,
    "direction": DIRECTIONS,
    "first_round": FIRST_ROUNDS,
    "side_priority": SIDE_PRIORITIES,
    "late_entry": LATE_ENTRIES,
    "compensation": COMPENSATIONS,
    "tie_breaks": PRESETS,
}
Advice = Mapping[str, Any]


def value(field: str, typed: str) -> str:
    """What stands in a field of the form, in words."""
    if field.startswith("tie_") and field != "tie_breaks" and typed:
        return wording.criterion(typed)
    if typed == "on":
        return str(_("yes"))
    return str(_VALUES.get(field, {}).get(typed, typed)) or "–"


def reason(advice: Advice) -> str:
    """Why so many rounds are proposed."""
    entrants, single = advice["entrants"], advice["single_winner"]
    if advice["reason"] == "one_more_than_single_winner":
        return str(
            _(
                "%(single)s rounds single out one winner of %(entrants)s; one more makes the places behind clearer",
                single=single,
                entrants=entrants,
            )
        )
    if advice["reason"] == "half_the_field":
        return str(
            _(
                "with %(entrants)s entrants a legal draw is certain for %(safe)s rounds, half the field",
                entrants=entrants,
                safe=advice["safe"],
            )
        )
    if advice["reason"] == "everybody_meets":
        return str(_("in a round robin of %(entrants)s everybody meets everybody", entrants=entrants))
    return str(_("say how many are expected, and rounds can be proposed"))


def warnings(advice: Advice) -> list[str]:
    """What to think about before saving, one line each."""
    return [line for code in advice["warnings"] if (line := _warning(code, advice))]


def _warning(code: str, advice: Advice) -> str:
    known: dict[str, str] = {
        "too_many_rounds": _(
            "%(entrants)s entrants cannot play %(rounds)s rounds without meeting twice: %(possible)s is the most.",
            entrants=advice["entrants"],
            rounds=advice["rounds"],
            possible=advice["possible"],
        ),
        "no_single_winner": _(
            "After %(rounds)s rounds several may have won all their games: %(single)s single out one winner.",
            rounds=advice["rounds"],
            single=advice["single_winner"],
        ),
        "not_everybody_meets": _(
            "A round robin of %(entrants)s takes %(possible)s rounds: with %(rounds)s not everybody meets everybody.",
            entrants=advice["entrants"],
            possible=advice["possible"],
            rounds=advice["rounds"],
        ),
        "more_expected_than_places": ngettext(
            "%(num)d of those expected will wait for a place; who waits moves up by itself.",
            "%(num)d of those expected will wait for a place; who waits moves up by itself.",
            advice["waiting"],
        ),
        "bye_needed": _("An odd field, and no bye is allowed: the draw is refused until a stand-in is entered."),
    }
    return str(known.get(code, ""))  # running dry is told by the forecast, an unknown field by the proposal


def dry(advice: Advice) -> str:
    """Whether the event may run out of legal draws."""
    told = advice.get("forecast")
    if told is None:
        return ""
    if told["outlook"] == "safe":
        safe = told["safe_rounds"]
        line = _(
            "Every round has a legal draw as long as the same people come and nobody is kept apart (safe for "
            "%(rounds)s rounds).",
            rounds=safe,
        )
        return str(line)
    if told["outlook"] == "impossible":
        line = _("Not all rounds can be drawn, whatever happens.")
    elif told["look_ahead"]:
        line = _(
            "From round %(round)s on the field may run dry, but the draw looks ahead and steers around that while "
            "nobody leaves or comes late.",
            round=told["first_doubtful"],
        )
    else:
        line = _("From round %(round)s on the field may run dry: no legal draw left.", round=told["first_doubtful"])
    if told.get("round_robin"):
        line += " " + _("A round robin takes %(rounds)s rounds and is always safe.", rounds=told["round_robin"])
    return str(line)


def byes(preview: Mapping[str, Any]) -> str:
    """Who sits out each round, and for how many points."""
    told = preview["advice"]["byes"]
    if not preview["regulations"]["allow_bye"]:
        return str(_("No byes: with an odd field a stand-in plays."))
    if not told["each_round"]:
        return str(
            _("None while the field is even; with an odd one, one each round for %(points)s.", points=_points(told))
        )
    return str(_("One each round for %(points)s, nobody twice while others had none.", points=_points(told)))


def asked_byes(limits: Mapping[str, Any]) -> str:
    """How many byes somebody may ask for."""
    most, until = limits["max"], limits["until_round"]
    if most == 0:
        return str(_("none with points"))
    line = _("any number") if most is None else ngettext("%(num)d with points", "%(num)d with points", most)
    return _until(line, until)


def late(entry: Mapping[str, Any]) -> str:
    """Until when somebody may come late, and what that costs."""
    until = entry["until_round"]
    if until == 1:
        return str(_("nobody after round 1 is published"))
    return _until(str(LATE_ENTRIES[entry["bye"]]), until)


def _until(line: str, round_no: int | None) -> str:
    return line if round_no is None else _("%(what)s, until round %(round)s", what=line, round=round_no)


def order(codes: list[str]) -> str:
    """The order of places."""
    return " → ".join([str(_("Points")), *(wording.criterion(code) for code in codes)])


def _points(told: Mapping[str, Any]) -> str:
    value = told["points"]
    return str(ngettext("%(points)s point", "%(points)s points", 1 if value == 1 else 2, points=wording.points(value)))
