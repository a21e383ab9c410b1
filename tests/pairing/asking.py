"""Ready events with a job row, as results leaves them when a chief referee asks for a draw."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.jobs import JobRow
from qisai.queue.names import queue_for
from tests.fields import Field, owner_of, ready_event
from tests.servers import Database


def ask(session: Session, event: Field, *, round_no: int = 1, **limits: Any) -> int:
    """A queued job for a round; its id."""
    row = JobRow(
        event_id=event.event_id,
        round_no=round_no,
        queue=queue_for(len(event.entrant_ids)),
        size=len(event.entrant_ids),
        limits={"max_depth": None, "max_steps": None, "deadline_ms": None, **limits},
        requested_by="裁判长",
        request_id="request-of-a-test",
    )
    session.add(row)
    session.flush()
    return row.id


def event_with_job(database: Database, *, entrants: int = 8, **limits: Any) -> tuple[Field, int]:
    """A ready event and a job for its first round."""
    with owner_of(database.owner_url) as session:
        event = ready_event(session, entrants=entrants)
        return event, ask(session, event, **limits)


def job(database: Database, job_id: int) -> JobRow:
    """The job as it is now."""
    with owner_of(database.owner_url) as session:
        return session.scalars(sa.select(JobRow).where(JobRow.id == job_id)).one()


def rows(database: Database, table: Any) -> list[Any]:
    """All rows of a table, oldest first."""
    with owner_of(database.owner_url) as session:
        return list(session.scalars(sa.select(table).order_by(*sa.inspect(table).primary_key)))
