"""What a correction would move: read in one moment, computed afterwards, nothing written."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.events import EventRow, EventState
from qisai.db.rounds import RoundState
from qisai.db.snapshot import Snapshot, read_tournament
from qisai.errors import Blocker
from qisai.kernel.correction import LaterRound, Move, corrected, later_round, moves
from qisai.kernel.model import Board, Result
from qisai.kernel.standings import Standings, standings
from services.results.queries import boards

PAIRED_AGAIN_UP_TO: Final = 600
"""Entrants up to whom later rounds are paired again; above, only the rules are looked at."""
STEPS: Final = 200_000
"""Budget of the optimal stage for each pairing."""
SECONDS: Final = 5.0
"""After this time the rounds that are left are not paired again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The board as it is, the event of that moment, and the board as wanted."""

    row: Any
    snapshot: Snapshot
    wanted: Board
    blockers: list[Blocker]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What would come of it."""

    table: Standings
    """As it stands, after the last published round."""
    moves: list[Move]
    later: list[LaterRound]
    names: Mapping[int, str]
    blockers: list[Blocker]


def asked(session: Session, board_id: int, *, result: Result | None, swapped: bool | None) -> Asked:
    """Reads what a preview needs; `session` sees one moment. Raises `NotFound`, `Gone`."""
    row = boards.board(session, board_id)
    turned = row.swapped if swapped is None else swapped
    first, second = (row.second_number, row.first_number) if turned else (row.first_number, row.second_number)
    wanted = Board(board=row.number, first=first, second=second, result=result)
    snapshot = read_tournament(session, row.event_id)
    return Asked(row=row, snapshot=snapshot, wanted=wanted, blockers=_blockers(session, row))


def preview(found: Asked) -> Preview:
    """Places that move and later rounds that would have been others. Takes seconds at most; no transaction is open."""
    before = found.snapshot.tournament
    after = corrected(before, round_no=found.row.round_no, board=found.wanted)
    table = standings(before)
    began = time.monotonic()
    later = []
    for number in range(found.row.round_no + 1, len(before.rounds) + 1):
        in_time = len(before.entrants) <= PAIRED_AGAIN_UP_TO and time.monotonic() - began < SECONDS
        later.append(later_round(before, after, number, budget=STEPS if in_time else 0))
    return Preview(
        table=table,
        moves=moves(table, standings(after)),
        later=later,
        names={entrant.number: entrant.name for entrant in before.entrants},
        blockers=found.blockers,
    )


def _blockers(session: Session, row: Any) -> list[Blocker]:
    """What must be done before the correction can be written."""
    state = session.execute(sa.select(EventRow.state).where(EventRow.id == row.event_id)).scalar_one()
    if row.round_state is not RoundState.CLOSED or state is EventState.RUNNING:
        return []
    detail = f"The event is {state.value}: let it go on before a result is corrected."
    return [Blocker("event-not-running", detail, {"state": state.value})]
