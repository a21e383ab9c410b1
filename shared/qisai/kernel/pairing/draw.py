"""One round drawn: look-ahead, best draw, sides, boards, check (docs/rules.md sections 3 to 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from qisai.errors import QisaiError
from qisai.kernel.check import violations
from qisai.kernel.first_round import ideal_pairs
from qisai.kernel.model import Draw, Limits, LookAhead, Stage, Tournament
from qisai.kernel.pairing import optimal
from qisai.kernel.pairing.cost import cost_of
from qisai.kernel.pairing.edit import Drawing, Verdict, assemble, drawing_of
from qisai.kernel.pairing.look_ahead import Continuations, looks_ahead
from qisai.kernel.pairing.no_legal_draw import no_legal_draw
from qisai.kernel.pairing.search import search
from qisai.kernel.pairing.small_fields import draws_best_first
from qisai.kernel.pairing.systems import PairingSystem
from qisai.kernel.pairing.view import Pair


class BrokenDraw(QisaiError):
    """The solver made a draw that breaks a rule: a fault of the software, caught before anything is saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Opponents by index, and what is known about them."""

    pairs: tuple[Pair, ...]
    bye: int | None
    verdict: Verdict


def pair_round(
    tournament: Tournament,
    *,
    stage: Stage | str = Stage.OPTIMAL,
    limits: Limits | None = None,
    system: PairingSystem | None = None,
) -> Draw:
    """Draw the next round. `stage`: `optimal` for the best draw, `search` for the first valid one.

    `limits` (default: the event's) bound the search; `system` replaces the event's pairing system. Raises `Invalid`
    for a tournament that cannot be paired as it stands (see `compile_field`) and `NoLegalDraw` where no draw is legal.
    """
    drawing = drawing_of(tournament, system=system)
    if drawing.field.odd and not drawing.field.regulations.allow_bye:
        raise no_legal_draw(drawing.field)
    choice = _ideal(drawing)
    if choice is None:
        choice = _best(drawing) if Stage(stage) is Stage.OPTIMAL else _first(drawing, limits)
    return _checked(drawing, _looking_ahead(drawing, choice, _continuations(drawing)))


def improve(tournament: Tournament, budget: int | None = None, *, limits: Limits | None = None) -> Iterator[Draw]:
    """Draws of the next round, each valid and strictly better than the one before; the last is the best found.

    The search's draw comes within milliseconds, then what the optimal stage finds with `budget` steps (None: all it
    needs). Better means: a lower `rank_of`, or the same draw, of which more is known now: that it is optimal, or what
    looking ahead says of it. Where look-ahead is due the first draw is `open`. Raises like `pair_round`.
    """
    drawing = drawing_of(tournament)
    if drawing.field.odd and not drawing.field.regulations.allow_bye:
        raise no_legal_draw(drawing.field)
    ideal = _ideal(drawing)
    first = ideal or _first(drawing, limits)
    continuations = _continuations(drawing)
    if continuations is not None:
        yield _checked(drawing, _left_open(first))
    best = _checked(drawing, _looking_ahead(drawing, first, continuations))
    yield best
    if ideal is not None or best.optimal:
        return
    for found in _ever_better(drawing, budget):
        choice = _looking_ahead(drawing, _of_optimal_stage(drawing, found), continuations)
        cost = cost_of(drawing.field, choice.pairs, choice.bye, system=drawing.system, view=drawing.view)
        better = (tuple(cost.values()), not choice.verdict.optimal)
        if better < (tuple(best.cost.values()), not best.optimal):
            best = _checked(drawing, choice, cost)
            yield best


def rank_of(draw: Draw) -> tuple[bool, tuple[int, ...]]:
    """What draws of one round are compared by, lower is better: those known to leave a continuation, then the tuple."""
    return draw.look_ahead not in (LookAhead.KEPT, LookAhead.EXCLUDED), tuple(draw.cost.values())


def _left_open(choice: _Choice) -> _Choice:
    """The choice before it is known whether it counts: `optimal` and `proven` speak of draws that do."""
    verdict = replace(choice.verdict, optimal=False, proven=(), look_ahead=LookAhead.OPEN)
    return replace(choice, verdict=verdict)


def _ideal(drawing: Drawing) -> _Choice | None:
    """The draw in which everybody has the ideal partner, where that is plainly the best: it costs nothing but lots.

    Only for a field of one score group, as in round 1. With `float_places` 0 the bye, with `order` 0 the pairs can be
    no others, so their lots are the least possible as well.
    """
    field, system = drawing.field, drawing.system
    names = {criterion.name for criterion in system.criteria}
    if len(field.group_size) > 1 or not {"float_places", "order"} <= names or field.table:
        return None
    pairs = tuple(ideal_pairs(field.size, field.within))
    bye = field.size - 1 if field.odd else None
    if bye is not None and not field.bye_eligible[bye]:
        return None
    if any(j in field.barred[i] for i, j in pairs):
        return None
    cost = cost_of(field, pairs, bye, system=system, view=drawing.view)
    if field.size > 1 and any(value for name, value in cost.items() if name not in ("float_lots", "pair_lots")):
        return None
    verdict = Verdict(stage=_best_stage(drawing), optimal=True, proven=tuple(cost), budget_used={"steps": 0})
    return _Choice(pairs=pairs, bye=bye, verdict=verdict)


def _best_stage(drawing: Drawing) -> Stage:
    return Stage.FIRST_ROUND if drawing.field.round == 1 else Stage.OPTIMAL


def _first(drawing: Drawing, limits: Limits | None) -> _Choice:
    """The first valid draw."""
    found = search(drawing.field, limits, system=drawing.system, view=drawing.view)
    verdict = Verdict(
        stage=Stage.SEARCH,
        relaxed=found.relaxed,
        budget_used={"steps": found.steps, "depth": found.reopened},
    )
    return _Choice(pairs=found.pairs, bye=found.bye, verdict=verdict)


def _best(drawing: Drawing) -> _Choice:
    """The best draw."""
    *_, found = _ever_better(drawing, None)
    return _of_optimal_stage(drawing, found)


def _ever_better(drawing: Drawing, budget: int | None) -> Iterator[optimal.OptimalResult]:
    """What the optimal stage finds, `NoLegalDraw` with its reasons where there is nothing to find."""
    try:
        yield from optimal.improve(drawing.field, system=drawing.system, budget=budget)
    except optimal.InfeasibleField as none_exists:
        raise no_legal_draw(drawing.field) from none_exists


def _of_optimal_stage(drawing: Drawing, found: optimal.OptimalResult) -> _Choice:
    verdict = Verdict(
        stage=_best_stage(drawing),
        optimal=found.optimal,
        proven=found.proven,
        budget_used={"steps": found.steps},
    )
    return _Choice(pairs=found.pairs, bye=found.bye, verdict=verdict)


def _continuations(drawing: Drawing) -> Continuations | None:
    return Continuations(drawing.tournament, drawing.field) if looks_ahead(drawing.tournament) else None


def _looking_ahead(drawing: Drawing, choice: _Choice, continuations: Continuations | None) -> _Choice:
    """In small fields with rounds to come: the choice if it leaves a continuation, else the best draw that does."""
    if continuations is None:
        return choice
    if continuations.exist_after((choice.pairs, choice.bye)):
        return replace(choice, verdict=replace(choice.verdict, look_ahead=LookAhead.KEPT))
    found = continuations.first_of(draws_best_first(drawing.view, drawing.system))
    if found is None:
        return choice
    passed_over, (pairs, bye) = found
    verdict = Verdict(
        stage=_best_stage(drawing),
        optimal=True,
        proven=tuple(criterion.name for criterion in drawing.system.criteria),
        look_ahead=LookAhead.EXCLUDED if passed_over else LookAhead.KEPT,
        budget_used=choice.verdict.budget_used,
    )
    return _Choice(pairs=pairs, bye=bye, verdict=verdict)


def _checked(drawing: Drawing, choice: _Choice, cost: Mapping[str, int] | None = None) -> Draw:
    draw = assemble(drawing, choice.pairs, choice.bye, verdict=choice.verdict, cost=cost)
    broken = violations(drawing.tournament, draw)
    if broken:
        raise BrokenDraw(
            "broken-draw",
            f"the draw of round {draw.round} breaks a rule ({broken[0].detail}) and was not kept: please report this",
            violations=[violation.detail for violation in broken],
        )
    return draw
