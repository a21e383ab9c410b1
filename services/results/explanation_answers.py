"""Why an entrant has its place in a draw, as the JSON of the API: codes and numbers, which pages put into words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qisai.kernel.pairing.explain import ByeReason, Explanation, FloatReason, RuledOut, SideReason
from qisai.kernel.regulations_file import points_number
from services.results.answers import Json
from services.results.draw_answers import who


def explanation(found: Explanation, names: Mapping[int, Any], *, worked_out: int) -> Json:
    """Everything about one entrant. `worked_out`: for how many better choices a draw with them was worked out."""
    return {
        "entrant": who(found.number, names),
        "round": found.round,
        "points": points_number(found.score),
        "board": found.board,
        "opponent": None if found.opponent is None else who(found.opponent, names),
        "ideal": None if found.ideal is None else who(found.ideal, names),
        "better_count": found.better_count,
        "better": [_ruled_out(one, names) for one in found.better],
        "floated": None if found.floated is None else _floated(found.floated),
        "bye": None if found.bye is None else _bye(found.bye),
        "side": None if found.side is None else _side(found.side),
        "worked_out": worked_out,
    }


def _decided(one: RuledOut | FloatReason | ByeReason) -> Json:
    return {"why": one.why.value, "criterion": one.criterion, "value": one.value, "otherwise": one.otherwise}


def _ruled_out(one: RuledOut, names: Mapping[int, Any]) -> Json:
    partner = None if one.partner is None else who(one.partner, names)
    return {"entrant": who(one.number, names), "round": one.round, "partner": partner, **_decided(one)}


def _floated(one: FloatReason) -> Json:
    return {"direction": one.direction, "gap": points_number(one.gap), **_decided(one)}


def _bye(one: ByeReason) -> Json:
    return {"had": one.had, "eligible": one.eligible, **_decided(one)}


def _side(one: SideReason) -> Json:
    return {
        "side": one.side,
        "rule": one.rule.value,
        "surplus": one.surplus,
        "opponent_surplus": one.opponent_surplus,
        "sides": list(one.sides),
        "opponent_sides": list(one.opponent_sides),
    }
