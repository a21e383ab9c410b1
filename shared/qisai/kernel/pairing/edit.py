"""From opponents to a draw: sides, boards, flags and the whole cost, for pairs of any origin.

Used for what the solver found, for earlier draws given again and for draws a person edited or made. The cost is always
that of today's tournament; whether the draw may stand is for `check.violations` to say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from qisai.errors import FieldError, Invalid
from qisai.kernel.boards import SeatedPair, number_boards
from qisai.kernel.canonical import tournament_sha256
from qisai.kernel.model import Draw, LookAhead, Source, Stage, Tournament
from qisai.kernel.pairing.cost import cost_of, cross_cap
from qisai.kernel.pairing.field import Field, compile_field
from qisai.kernel.pairing.systems import PairingSystem, system_for
from qisai.kernel.pairing.view import Pair, View, view_of
from qisai.kernel.sides import seat_pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is known about opponents before they get sides and boards: where they came from, and how good they are."""

    stage: Stage = Stage.SEARCH
    source: Source = Source.COMPUTED
    optimal: bool = False
    proven: tuple[str, ...] = ()
    relaxed: tuple[str, ...] = ()
    look_ahead: LookAhead = LookAhead.NONE
    budget_used: Mapping[str, int] = dataclasses.field(default_factory=dict)
    edits: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """The round being drawn: tournament, its compiled field and the system in force. Make one with `drawing_of`."""

    tournament: Tournament
    field: Field
    view: View
    system: PairingSystem
    sha256: str


def drawing_of(tournament: Tournament, *, system: PairingSystem | None = None) -> Drawing:
    """Compile the next round once. `system` replaces the event's own. Raises what `compile_field` raises."""
    field = compile_field(tournament)
    return Drawing(
        tournament=tournament,
        field=field,
        view=view_of(field),
        system=system or system_for(field),
        sha256=tournament_sha256(tournament),
    )


def complete_draw(
    tournament: Tournament,
    pairs: Iterable[tuple[int, int]],
    bye: int | None,
    *,
    source: Source,
    stage: Stage = Stage.SEARCH,
    kept_sides: Iterable[tuple[int, int]] = (),
    relaxed: tuple[str, ...] = (),
    edits: tuple[Mapping[str, Any], ...] = (),
) -> Draw:
    """The draw with these opponents (entrants' numbers, in any order), with today's sides, boards and cost.

    `kept_sides` are pairs (first, second) whose sides a person set: they stand, all others follow section 6. The draw
    may break rules 2 to 4, which `check.violations` then reports, but it must hold everybody present exactly once:
    otherwise `Invalid` (`draw-incomplete`) names each entrant that is missing, twice or not present.
    """
    drawing = drawing_of(tournament)
    found = _as_indexes(drawing.field, list(pairs), bye)
    verdict = Verdict(stage=stage, source=source, relaxed=relaxed, edits=edits)
    turned = {frozenset(pair): pair for pair in kept_sides}
    bye_index = None if bye is None else drawing.field.number.index(bye)
    return assemble(drawing, found, bye_index, verdict=verdict, kept_sides=turned)


def incomplete_draw(
    tournament: Tournament,
    pairs: Iterable[tuple[int, int]],
    bye: int | None,
    *,
    source: Source,
    stage: Stage = Stage.SEARCH,
    kept_sides: Iterable[tuple[int, int]] = (),
    relaxed: tuple[str, ...] = (),
) -> Draw:
    """As `complete_draw`, of which somebody present is still missing: sides and boards so far, and no cost.

    Everybody named must be present and have one place.
    """
    drawing = drawing_of(tournament)
    index = {number: at for at, number in enumerate(drawing.field.number)}
    found = sorted((min(index[a], index[b]), max(index[a], index[b])) for a, b in pairs)
    turned = {frozenset(pair): pair for pair in kept_sides}
    verdict = Verdict(stage=stage, source=source, relaxed=relaxed)
    return assemble(drawing, found, None if bye is None else index[bye], verdict=verdict, kept_sides=turned, cost={})


def assemble(
    drawing: Drawing,
    pairs: Sequence[Pair],
    bye: int | None,
    *,
    verdict: Verdict,
    kept_sides: Mapping[frozenset[int], tuple[int, int]] | None = None,
    cost: Mapping[str, int] | None = None,
) -> Draw:
    """A draw from pairs of indexes (smaller first) and the index of who has the bye. `cost` saves computing it."""
    field = drawing.field
    present = set(field.number)
    fixed = {
        entrant.number: entrant.fixed_board
        for entrant in drawing.tournament.entrants
        if entrant.fixed_board is not None and entrant.number in present
    }
    numbered = number_boards([_seated(field, pair, kept_sides or {}) for pair in pairs], fixed)
    if cost is None:
        cost = cost_of(field, pairs, bye, system=drawing.system, view=drawing.view)
    return Draw(
        round=field.round,
        boards=numbered.boards,
        bye=None if bye is None else field.number[bye],
        cost=MappingProxyType(dict(cost)),
        cross_cap=cross_cap(field, pairs),
        optimal=verdict.optimal,
        proven=verdict.proven,
        relaxed=verdict.relaxed,
        look_ahead=verdict.look_ahead,
        stage=verdict.stage,
        source=verdict.source,
        budget_used=MappingProxyType(dict(verdict.budget_used)),
        edits=verdict.edits,
        tournament_sha256=drawing.sha256,
        algorithm=drawing.tournament.algorithm,
        flags=numbered.flags,
    )


def _seated(field: Field, pair: Pair, kept_sides: Mapping[frozenset[int], tuple[int, int]]) -> SeatedPair:
    seating = seat_pair(field, *pair)
    first, second = seating.first, seating.second
    kept = kept_sides.get(frozenset((field.number[first], field.number[second]))) if kept_sides else None
    if kept is not None and kept[0] != field.number[first]:
        first, second = second, first
    return SeatedPair(
        first=field.number[first],
        second=field.number[second],
        first_score=field.score[first],
        second_score=field.score[second],
    )


def _as_indexes(field: Field, pairs: Sequence[tuple[int, int]], bye: int | None) -> list[Pair]:
    """Pairs of numbers as pairs of indexes; everybody present must appear exactly once."""
    index = {number: at for at, number in enumerate(field.number)}
    errors: list[FieldError] = []
    seen: set[int] = set()
    places = [(f"/pairs/{at}", number) for at, pair in enumerate(pairs) for number in pair]
    for where, number in [*places, *([("/bye", bye)] if bye is not None else [])]:
        if number not in index:
            detail = f"entrant {number} is not present in round {field.round}"
            errors.append(FieldError(where, detail, "not-present", {"value": number}))
        elif number in seen:
            said = {"variant": "entrant", "value": number}
            errors.append(FieldError(where, f"entrant {number} appears twice", "duplicate", said))
        seen.add(number)
    errors.extend(
        FieldError("/pairs", f"entrant {number} is missing", "missing", {"variant": "entrant", "value": number})
        for number in sorted(index.keys() - seen)
    )
    if errors:
        raise Invalid("draw-incomplete", f"the draw cannot be completed: {errors[0].detail}", errors=errors)
    return sorted((min(index[a], index[b]), max(index[a], index[b])) for a, b in pairs)
