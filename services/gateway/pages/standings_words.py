"""The lines of the arithmetic behind a value of the standings, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask_babel import lazy_gettext as __

from qisai.kernel.tie_breaks.criterion import Reason
from services.gateway.pages import wording

TERMS: Final = {
    Reason.POINTS.value: __("own points"),
    Reason.ADJUSTMENT.value: __("points given or taken by the chief referee"),
    Reason.OPPONENT_SCORE.value: __("the opponent's points"),
    Reason.OPPONENT_SUM.value: __("the opponent's own sum"),
    Reason.COMPENSATION.value: __("no opponent: what the event counts for that"),
    Reason.DUMMY.value: __("not played: as against somebody with the same points"),
    Reason.DUMMY_VOLUNTARY.value: __("not played by choice: as against somebody with the same points"),
    Reason.RUNNING_TOTAL.value: __("points up to this round"),
    Reason.COUNTED.value: __("one that counts"),
    Reason.RATING.value: __("the opponent's rating"),
    Reason.LOT.value: __("the lot"),
    Reason.MINI_TABLE.value: __("among those who are equal"),
    Reason.MINI_TABLE_AGAIN.value: __("among those who are still equal"),
    Reason.NOT_MET.value: __("not met: nothing to compare"),
}
"""Why a line has its value."""


def term(line: Mapping[str, Any]) -> str:
    """Why a line has its value; of a bye also which."""
    why = str(TERMS.get(str(line.get("reason")), ""))
    bye = wording.BYES.get(str(line.get("code") or ""))
    return " · ".join(filter(None, ("" if bye is None else str(bye), why)))
