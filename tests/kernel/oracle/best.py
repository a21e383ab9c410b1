"""The best draw: every legal draw compared by its tuple, those without a continuation set aside by look-ahead."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from tests.kernel.oracle.criteria import bye_terms, pair_terms, stage_a_names, stage_b
from tests.kernel.oracle.event import Event
from tests.kernel.oracle.legality import Draw, legal_draws
from tests.kernel.oracle.look_ahead import Continuation, is_wanted


class Answer(NamedTuple):
    """The best draws (nearly always one: more only if even the lots tie), their common cost, and the look-ahead."""

    draws: list[Draw]
    cost: dict[str, int]
    look_ahead: str


def best_draw(event: Event) -> Answer | None:
    """None where no legal draw exists."""
    if not is_wanted(event):
        return next((Answer(draws, cost, "none") for cost, draws in best_first(event)), None)
    continuation = Continuation(event)
    cheapest: Answer | None = None
    for cost, draws in best_first(event):
        going_on = [draw for draw in draws if continuation.exists_after(draw)]
        if going_on:
            return Answer(going_on, cost, "excluded" if cheapest else "kept")
        cheapest = cheapest or Answer(draws, cost, "none")
    return cheapest


def best_first(event: Event) -> Iterator[tuple[dict[str, int], list[Draw]]]:
    """All legal draws, cheapest first, those of equal cost together.

    Stage A comes first for all draws; stage B compares those that stage A left equal. As float lots are part of stage
    A, "who floats where and who has the bye" is the same in these, but for equal sums of lots, where the whole tuple
    decides.
    """
    names = stage_a_names(event)
    pairs = {pair: [pair_terms(event, pair)[name] for name in names] for pair in _all_pairs(event)}
    byes = {number: [bye_terms(event, number)[name] for name in names] for number in event.present}
    nobody = [0] * len(names)
    largest = names.index("max_gap")

    def stage_a_of(draw: Draw) -> tuple[int, ...]:
        parts = [pairs[pair] for pair in draw.pairs]
        total = [sum(column) for column in zip(byes.get(draw.bye, nobody), *parts, strict=True)]
        total[largest] = max((part[largest] for part in parts), default=0)
        return tuple(total)

    by_stage_a = sorted(((stage_a_of(draw), draw) for draw in legal_draws(event)), key=lambda item: item[0])
    for values, same in groupby(by_stage_a, key=lambda item: item[0]):
        finished = [(stage_b(event, draw), draw) for _, draw in same]
        finished.sort(key=lambda item: tuple(item[0].values()))
        for last, equal in groupby(finished, key=lambda item: item[0]):
            yield dict(zip(names, values, strict=True)) | last, [draw for _, draw in equal]


def _all_pairs(event: Event) -> list[tuple[int, int]]:
    return [(a, b) for i, a in enumerate(event.present) for b in event.present[i + 1 :]]
