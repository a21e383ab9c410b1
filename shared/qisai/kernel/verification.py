"""Checking a stored draw against its tournament: rules, cost, hash, and whether it comes out again.

Only what the product makes is believed afterwards: the violations are found by code apart from the solver, the cost is
computed anew, a computed draw is drawn a second time (docs/rules.md section 3, rules 5 and 6), and what any other draw
claims to be is judged against the best draw, whoever the file says made it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from qisai.errors import Invalid
from qisai.kernel.canonical import tournament_sha256
from qisai.kernel.check import Violation, violations
from qisai.kernel.model import Draw, Limits, LookAhead, Source, Stage, Tournament
from qisai.kernel.pairing import NoLegalDraw, complete_draw, improve, pair_round
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.look_ahead import Continuations


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
    false_claims: tuple[str, ...] = ()
    """Where it need not be reproduced: which of `optimal`, `proven` and `look_ahead` is not true."""

    @property
    def holds(self) -> bool:
        """Valid, made for this tournament, costs equal, reproduced if it has to be, and nothing claimed in vain."""
        faults = self.violations or self.cost_differences or self.false_claims
        return not faults and self.hash_matches and self.reproduced is not False


def verify_draw(tournament: Tournament, draw: Draw, *, limits: Limits | None = None) -> Verification:
    """Check a draw of the tournament's next round; `limits` are those its search had, if not the event's own.

    Raises `Invalid` where the tournament itself cannot be paired.
    """
    broken = tuple(violations(tournament, draw))
    whole = _is_whole(draw)
    return Verification(
        violations=broken,
        hash_matches=draw.tournament_sha256 == tournament_sha256(tournament),
        cost_differences=_cost_differences(tournament, draw),
        reproduced=_reproduced(tournament, draw, limits) if whole else None,
        false_claims=() if whole else _false_claims(tournament, draw),
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
        "false_claims": list(found.false_claims),
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
    first = draw.stage is Stage.SEARCH or draw.look_ahead is LookAhead.OPEN
    return draw.source is Source.COMPUTED and (draw.optimal or first)


def _reproduced(tournament: Tournament, draw: Draw, limits: Limits | None) -> bool:
    try:
        if draw.look_ahead is LookAhead.OPEN:
            again = next(improve(tournament, limits=limits))
        else:
            again = pair_round(tournament, stage=Stage.OPTIMAL if draw.optimal else Stage.SEARCH, limits=limits)
    except NoLegalDraw:
        return False
    return _said(again) == _said(draw)


def _said(draw: Draw) -> tuple[object, ...]:
    return (draw.boards, draw.bye, draw.optimal, draw.proven, draw.relaxed, draw.look_ahead)


def _false_claims(tournament: Tournament, draw: Draw) -> tuple[str, ...]:
    """What the draw says of itself against the best draw there is; nothing is worked out for a draw without claims."""
    going_on = draw.look_ahead in (LookAhead.KEPT, LookAhead.EXCLUDED)
    claims = {"optimal": draw.optimal, "proven": bool(draw.proven), "look_ahead": going_on}
    if not any(claims.values()):
        return ()
    try:
        best = pair_round(tournament)
    except NoLegalDraw:
        return tuple(name for name, claimed in claims.items() if claimed)
    true = {
        "optimal": dict(draw.cost) == dict(best.cost),
        "proven": _as_low_as_possible(draw, best),
        "look_ahead": going_on and _goes_on(tournament, draw, best),
    }
    return tuple(name for name, claimed in claims.items() if claimed and not true[name])


def _as_low_as_possible(draw: Draw, best: Draw) -> bool:
    """Whether the criteria called proven, and all before them, have the values of the best draw."""
    names = list(best.cost)
    if not set(draw.proven) <= set(names):
        return False
    before = names[: max((names.index(name) for name in draw.proven), default=-1) + 1]
    return all(draw.cost.get(name) == best.cost[name] for name in before)


def _goes_on(tournament: Tournament, draw: Draw, best: Draw) -> bool:
    """Whether the draw leaves a continuation; as the best one it must say whether a cheaper one was passed over."""
    if best.look_ahead is LookAhead.NONE or (draw.cost == best.cost and draw.look_ahead is not best.look_ahead):
        return False
    field = compile_field(tournament)
    index = {number: at for at, number in enumerate(field.number)}
    places = [number for board in draw.boards for number in (board.first, board.second)]
    if sorted([*places, *([] if draw.bye is None else [draw.bye])]) != sorted(index):
        return False
    pairs = tuple((index[board.first], index[board.second]) for board in draw.boards)
    return Continuations(tournament, field).exist_after((pairs, None if draw.bye is None else index[draw.bye]))
