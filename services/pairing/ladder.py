"""The ladder of answers when the solver did not finish: the last valid draw, or none.

The better (`rank_of`, today's tuple) of the best draw of this run and the latest earlier draft of the same round that
is still valid for today's pool (docs/pipeline.md, "When the solver does not finish").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.rounds import DrawRow, DrawState
from qisai.errors import QisaiError
from qisai.kernel.check import violations
from qisai.kernel.draw_file import parse_draw
from qisai.kernel.model import Draw, Source, Stage, Tournament
from qisai.kernel.pairing.draw import rank_of
from qisai.kernel.pairing.edit import complete_draw

_LOOK_BACK = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The draw given, which rung it stands on (`this_run` or `earlier_draft`), that in words, and what they name."""

    draw: Draw
    rung: str
    words: str
    said: Mapping[str, Any] = field(default_factory=dict)


def last_valid_draw(session: Session, *, event_id: int, best: Draw | None, tournament: Tournament) -> Answer | None:
    """The best answer there is without a finished solver. `best` is of this run, already checked."""
    answer = None
    if best is not None:
        left_open = ", ".join(best.relaxed) or "nothing"
        answer = Answer(
            draw=best,
            rung="this_run",
            words=f"This is the best draw found until then; it is legal, not proven best (relaxed: {left_open}).",
        )
    earlier = _earlier_draft(session, event_id, tournament=tournament)
    if earlier is not None and (best is None or rank_of(earlier.draw) < rank_of(best)):
        answer = earlier
    return answer


def _earlier_draft(session: Session, event_id: int, *, tournament: Tournament) -> Answer | None:
    rows = session.scalars(
        sa.select(DrawRow)
        .where(
            DrawRow.event_id == event_id,
            DrawRow.round_no == tournament.next_round,
            DrawRow.state.in_((DrawState.DRAFT, DrawState.REPLACED)),
        )
        .order_by(DrawRow.number.desc())
        .limit(_LOOK_BACK)
    )
    for row in rows:
        drawn = parse_draw(row.document)
        pairs = [(board.first, board.second) for board in drawn.boards]
        try:
            draw = complete_draw(tournament, pairs, drawn.bye, source=Source.REUSED, stage=Stage.SEARCH)
        except QisaiError:
            continue  # it names somebody who is no longer in the pool
        if not violations(tournament, draw):
            return Answer(
                draw=draw,
                rung="earlier_draft",
                words=f"This is draw {row.number} of {row.created_at:%Y-%m-%d %H:%M} UTC again; it is still legal.",
                said={"drawn_no": row.number, "drawn_at": row.created_at.isoformat(timespec="minutes")},
            )
    return None
