"""Checking a stored draw against its tournament: rules, cost, hash, and whether it comes out again.

Only what the product makes is believed afterwards: the violations are found by code apart from the solver, the cost is
computed anew, and a computed draw is drawn a second time (docs/rules.md section 3, rules 5 and 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from qisai.errors import Invalid
from qisai.kernel.canonical import tournament_sha256
from qisai.kernel.check import Violation, violations
from qisai.kernel.model import Draw, Limits, Source, Stage, Tournament
from qisai.kernel.pairing import NoLegalDraw, complete_draw, pair_round


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What came of it."""

    violations: tuple[Violation, ...]
    hash_matches: bool
    """The draw was made for this very tournament."""
    cost_differences: Mapping[str, tuple[int | None, int | None]]
    """Criteria (and `cross_cap`) whose value is not what the draw says: (said, computed); None where there is none."""
    reproduced: bool | None
    """Whether drawing again gives the same draw and the same claims about it (`optimal`, `proven`, `relaxed`,
    `look_ahead`); None where it need not: a draw that was not computed, or that a budget or a deadline cut short."""

    @property
    def holds(self) -> bool:
        """Valid, made for this tournament, costs equal and, for a computed draw, reproduced."""
        return not self.violations and self.hash_matches and not self.cost_differences and self.reproduced is not False


def verify_draw(tournament: Tournament, draw: Draw, *, limits: Limits | None = None) -> Verification:
    """Check a draw of the tournament's next round; `limits` are those its search had, if not the event's own.

    Raises `Invalid` where the tournament itself cannot be paired.
    """
    broken = tuple(violations(tournament, draw))
    return Verification(
        violations=broken,
        hash_matches=draw.tournament_sha256 == tournament_sha256(tournament),
        cost_differences=_cost_differences(tournament, draw),
        reproduced=_reproduced(tournament, draw, limits) if _is_whole(draw) else None,
    )


def verification_to_json(found: Verification) -> dict[str, Any]:
    """The outcome as plain JSON values."""
    return {
        "holds": found.holds,
        "violations": [
            {
                "breach": violation.breach.value,
                "entrants": list(violation.entrants),
                "board": violation.board,
                "detail": violation.detail,
                "context": dict(violation.context),
            }
            for violation in found.violations
        ],
        "hash_matches": found.hash_matches,
        "cost_differences": {
            name: {"said": said, "computed": computed} for name, (said, computed) in found.cost_differences.items()
        },
        "reproduced": found.reproduced,
    }


def _cost_differences(tournament: Tournament, draw: Draw) -> Mapping[str, tuple[int | None, int | None]]:
    seated = [(board.first, board.second) for board in draw.boards]
    try:
        again = complete_draw(tournament, seated, draw.bye, source=draw.source, stage=draw.stage, kept_sides=seated)
    except Invalid as error:
        if error.slug != "draw-incomplete":
            raise
        # Not everybody appears exactly once: there is nothing to compare, and `violations` says what is wrong.
        computed: dict[str, int] = {}
    else:
        computed = {**again.cost, "cross_cap": again.cross_cap}
    said = {**draw.cost, "cross_cap": draw.cross_cap}
    return MappingProxyType(
        {
            name: (said.get(name), computed.get(name))
            for name in dict.fromkeys((*computed, *said))
            if said.get(name) != computed.get(name)
        }
    )


def _is_whole(draw: Draw) -> bool:
    """Whether the draw is computed, and is the first or the best one: between them, it hangs on when it was cut short.

    Such a draw says so: it has left the search and is not optimal (docs/rules.md section 3, rule 6).
    """
    return draw.source is Source.COMPUTED and (draw.optimal or draw.stage is Stage.SEARCH)


def _reproduced(tournament: Tournament, draw: Draw, limits: Limits | None) -> bool:
    stage = Stage.OPTIMAL if draw.optimal else Stage.SEARCH
    try:
        again = pair_round(tournament, stage=stage, limits=limits)
    except NoLegalDraw:
        return False
    return _said(again) == _said(draw)


def _said(draw: Draw) -> tuple[object, ...]:
    return (draw.boards, draw.bye, draw.optimal, draw.proven, draw.relaxed, draw.look_ahead)
