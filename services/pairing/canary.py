"""The canary: a job of the keeper's own that proves the way from a request through broker, worker and solver to a draw.

It has no event, so nothing of it can reach one, and it is taken by its own message only. While it does not come back
the alert `canary-late` is open.
"""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from qisai.db.jobs import IS_ACTIVE_CANARY, JobRow, JobState
from qisai.db.snapshot import Snapshot
from qisai.kernel.tournament_file import parse_tournament
from qisai.queue.names import QUEUE_SMALL
from services.pairing.jobs import ACTIVE, ago

DEADLINE_MS: Final = 10_000
_ENTRANTS: Final = 8
_TOURNAMENT: Final[dict[str, Any]] = {
    "format": "qisai.tournament/1",
    "entrants": [{"number": number} for number in range(1, _ENTRANTS + 1)],
    "rounds": [
        {
            "number": 1,
            "boards": [
                {"board": 1, "first": 1, "second": 5, "result": "first_win"},
                {"board": 2, "first": 6, "second": 2, "result": "draw"},
                {"board": 3, "first": 3, "second": 7, "result": "second_win"},
                {"board": 4, "first": 8, "second": 4, "result": "first_win"},
            ],
        }
    ],
}


def snapshot() -> Snapshot:
    """The canary's tournament: eight entrants after one round, so that the solver has something to choose."""
    return Snapshot(tournament=parse_tournament(_TOURNAMENT), pairing_no=0, feed_no=0, entrant_ids={})


def ask(session: Session, *, every_seconds: int) -> int | None:
    """Inserts the next canary when it is time and none is under way; its id. Of two keepers one inserts it."""
    early = sa.or_(JobRow.requested_at > ago(every_seconds), JobRow.state.in_(ACTIVE))
    if session.execute(sa.select(sa.exists().where(JobRow.is_canary, early))).scalar_one():
        return None
    limits = {"max_depth": None, "max_steps": None, "deadline_ms": DEADLINE_MS, "hard_ms": DEADLINE_MS + 5_000}
    row = {
        "is_canary": True,
        "round_no": 0,
        "queue": QUEUE_SMALL,
        "size": _ENTRANTS,
        "limits": limits,
        "requested_by": "keeper",
        "request_id": "canary",
    }
    statement = insert(JobRow).values(row)
    statement = statement.on_conflict_do_nothing(index_elements=["is_canary"], index_where=IS_ACTIVE_CANARY)
    return session.execute(statement.returning(JobRow.id)).scalar_one_or_none()


def trouble(session: Session, *, every_seconds: int) -> dict[str, Any] | None:
    """What is wrong with the canaries, or None. One is late when the next is due and it has not come back.

    Draws that came back meanwhile prove the same way: behind a long queue a canary may wait without being late.
    """
    canaries = sa.select(JobRow).where(JobRow.is_canary).order_by(JobRow.id.desc())
    latest = session.scalars(canaries.limit(1)).first()
    if latest is None or not every_seconds:
        return None
    if latest.state in ACTIVE:
        proven = sa.exists().where(
            JobRow.finished_at > latest.requested_at, JobRow.state.in_((JobState.SUCCEEDED, JobState.DEGRADED))
        )
        late = sa.select(sa.literal(latest.requested_at) < ago(every_seconds), proven)
        is_late, is_proven = session.execute(late).one()
        if is_late and not is_proven:
            return {"job": latest.id, "state": latest.state.value, "requested_at": latest.requested_at.isoformat()}
        if is_late:
            return None
        latest = session.scalars(canaries.where(JobRow.state.not_in(ACTIVE)).limit(1)).first()
    if latest is None or latest.state is JobState.SUCCEEDED:
        return None
    return {"job": latest.id, "state": latest.state.value, "outcome": latest.outcome}
