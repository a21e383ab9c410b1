"""Scores of all entrants before a round, in half-points (docs/rules.md section 9).

Two views: for *pairing* an adjourned game is a draw, for *standings* it scores nothing until it is decided. Scores are
summed from boards and byes each time; an entrant missing from a round had an absent bye there and gets nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from qisai.kernel.model import ByeKind, Points, Result, Tournament
from qisai.kernel.outcomes import bye_half_points, pairing_half_points, standing_half_points

ResultPoints = Callable[[Result | None, Points], tuple[int, int]]


def pairing_scores(tournament: Tournament, *, before: int | None = None) -> dict[int, int]:
    """Half-points of every entrant, by number, before round `before` (default: the round to draw), for pairing."""
    return running_pairing_scores(tournament, before=before)[-1]


def standing_scores(tournament: Tournament, *, before: int | None = None) -> dict[int, int]:
    """Half-points of every entrant, by number, before round `before` (default: after all rounds), for standings."""
    return _running(tournament, before=before, result_points=standing_half_points)[-1]


def running_pairing_scores(tournament: Tournament, *, before: int | None = None) -> list[dict[int, int]]:
    """Pairing scores before each round: element k holds them before round k + 1, up to round `before`.

    Floats are told from these: the scores before that round, as corrected since (docs/rules.md section 4).
    """
    return _running(tournament, before=before, result_points=pairing_half_points)


def _running(tournament: Tournament, *, before: int | None, result_points: ResultPoints) -> list[dict[int, int]]:
    points = tournament.regulations.points
    table = {result: result_points(result, points) for result in (None, *Result)}
    byes = {kind: bye_half_points(kind, points) for kind in ByeKind}
    scores = {entrant.number: 0 for entrant in tournament.entrants}
    history = [scores]
    count = len(tournament.rounds) if before is None else before - 1
    if not 0 <= count <= len(tournament.rounds):
        raise ValueError(
            f"scores before round {count + 1} asked for, but only {len(tournament.rounds)} rounds are given"
        )
    for round_ in tournament.rounds[:count]:
        scores = scores.copy()
        for board in round_.boards:
            first, second = table[board.result]
            scores[board.first] += first
            scores[board.second] += second
        for bye in round_.byes:
            scores[bye.entrant] += byes[bye.kind]
        history.append(scores)
    return history
