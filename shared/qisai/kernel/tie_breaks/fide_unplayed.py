"""Unplayed rounds in FIDE's sums: adjusted scores and the dummy (C.07, March 2026; docs/rules.md section 9)."""

from __future__ import annotations

from qisai.kernel.tie_breaks.criterion import Reason
from qisai.kernel.tie_breaks.record import Cell, Record


def adjusted_scores(record: Record) -> list[int]:
    """Half-points that each entrant counts for as somebody's opponent.

    Pairing byes and forfeits keep the points awarded, and so does a requested bye that a played round follows;
    requested byes in the last round, or followed only by unplayed ones, count as draws.
    """
    draw = record.regulations.points.draw
    adjusted: list[int] = []
    for row in record.cells:
        score, played_later = 0, False
        for cell in reversed(row):
            score += draw if cell.meaning.requested and not played_later else cell.meaning.points
            played_later = played_later or not cell.meaning.unplayed
        adjusted.append(score)
    return adjusted


def opponent_value(record: Record, entrant: int, cell: Cell) -> tuple[int, Reason] | None:
    """Half-points that one round contributes to the entrant's own sum, and why; None while it is being played.

    A game over the board counts the opponent's adjusted score. An unplayed round is a game against a dummy with the
    entrant's own raw score, capped at the scheduled opponent's adjusted score (forfeit), or at a draw in every round of
    the event so far (any other).
    """
    meaning = cell.meaning
    if meaning.pending:
        return None
    adjusted = record.once(adjusted_scores)
    if meaning.over_the_board and cell.opponent is not None:
        return adjusted[cell.opponent], Reason.OPPONENT_SCORE
    if meaning.forfeit and cell.opponent is not None:
        cap = adjusted[cell.opponent]
    else:
        cap = record.rounds * record.regulations.points.draw
    reason = Reason.DUMMY_VOLUNTARY if meaning.voluntary else Reason.DUMMY
    return min(record.scores[entrant], cap), reason
