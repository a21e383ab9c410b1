"""Whether a round can be drawn, by a worker or by hand, and from what."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.events import EventRow, EventState
from qisai.db.snapshot import Snapshot, read_tournament
from qisai.errors import Blocker, Conflict
from qisai.kernel.pairing.field import present_entrants
from services.results.operations.rounds import missing_result
from services.results.queries.boards import open_boards

MOST_NAMED: Final = 50
"""Blockers named one by one; a whole round without results would hide the others."""


def read_drawable(session: Session, event_id: int, *, round_no: int, with_games: bool = True) -> Snapshot:
    """What the round would be drawn from today, `with_games` or only who is present.

    Raises `Conflict`: `round-published`, `earlier-round-missing`, `attendance-open`, `round-beyond-end`, or
    `draw-not-possible` with everything that stands in the way.
    """
    snapshot = read_tournament(session, event_id, round_no=round_no, for_pairing=True, with_games=with_games)
    planned = snapshot.tournament.regulations.rounds
    if planned is not None and round_no > planned:
        raise Conflict("round-beyond-end", f"This event has {planned} rounds.", rounds=planned)
    size = len(present_entrants(snapshot.tournament))
    blockers = _blockers(session, event_id, round_no=round_no, size=size)
    if blockers:
        raise Conflict("draw-not-possible", f"Round {round_no} cannot be drawn yet.", blockers=blockers)
    return snapshot


def _blockers(session: Session, event_id: int, *, round_no: int, size: int) -> list[Blocker]:
    """Everything that stands in the way of the draw, each with what to do."""
    blockers: list[Blocker] = []
    state = session.execute(sa.select(EventRow.state).where(EventRow.id == event_id)).scalar_one()
    allowed = (EventState.CLOSED, EventState.RUNNING) if round_no == 1 else (EventState.RUNNING,)
    if state not in allowed:
        first = {EventState.DRAFT: "open registration, then close it", EventState.OPEN: "close registration first"}
        detail = f"The event is {state.value}: {first.get(state, 'reopen it first')}."
        variant = {"variant": state.value} if state in first else {}
        blockers.append(Blocker("event-not-running", detail, {"state": state.value, **variant}))
    e = EntrantRow
    unnumbered = session.execute(
        sa.select(sa.func.count()).where(
            e.event_id == event_id, e.state == EntrantState.SEATED, e.number.is_(None), e.entered_round <= round_no
        )
    ).scalar_one()
    if unnumbered:
        detail = f"{unnumbered} seated entrants have no number: draw the lots first."
        blockers.append(Blocker("numbers-not-drawn", detail, {"entrants": unnumbered}))
    elif not size:
        detail = f"Nobody is present in round {round_no}: seat entrants, or take absences back."
        blockers.append(Blocker("empty-pool", detail, {"round": round_no}))
    missing = open_boards(session, event_id, before=round_no)
    blockers += [missing_result(row) for row in missing[:MOST_NAMED]]
    if len(missing) > MOST_NAMED:
        rest = len(missing) - MOST_NAMED
        blockers.append(Blocker("more-results-missing", f"{rest} more boards have no result.", {"boards": rest}))
    return blockers
