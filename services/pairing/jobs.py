"""State changes of pairing jobs: each a compare-and-set on the row, so a second worker or keeper is harmless.

Leases are compared with `clock_timestamp()`: the database's clock, not the machine's, and not a transaction's start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.jobs import JobRow, JobState

CLOCK = sa.func.clock_timestamp()
ACTIVE = (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A job that this worker holds. `attempt` tells this hold from an earlier one of the same worker."""

    job_id: int
    event_id: int
    round_no: int
    attempt: int
    restarts: int
    worker: str
    limits: Mapping[str, Any]
    request_id: str


def _lease(seconds: int) -> sa.ColumnElement[datetime]:
    return CLOCK + sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def claim(session: Session, job_id: int, *, worker: str, lease_seconds: int) -> Claim | None:
    """Takes a queued job, or one whose holder's lease ran out. None where it is not to be had: a no-op.

    No event holds more than one worker: a job waits while another of its event runs under a valid lease.
    """
    other = sa.orm.aliased(JobRow)
    taken = sa.exists().where(
        other.event_id == JobRow.event_id,
        other.id != JobRow.id,
        other.state == JobState.RUNNING,
        other.lease_until > CLOCK,
    )
    free = sa.or_(
        sa.and_(JobRow.state == JobState.QUEUED, JobRow.due_at <= CLOCK),
        sa.and_(JobRow.state == JobState.RUNNING, JobRow.lease_until < CLOCK),
    )
    statement = (
        sa.update(JobRow)
        .where(JobRow.id == job_id, free, ~taken)
        .values(
            state=JobState.RUNNING,
            worker=worker,
            lease_until=_lease(lease_seconds),
            attempts=JobRow.attempts + 1,
            started_at=sa.func.coalesce(JobRow.started_at, CLOCK),
            version=JobRow.version + 1,
        )
        .returning(JobRow)
        .execution_options(synchronize_session=False)
    )
    row = session.execute(statement).scalar_one_or_none()
    if row is None:
        return None
    return Claim(
        job_id=row.id,
        event_id=row.event_id,
        round_no=row.round_no,
        attempt=row.attempts,
        restarts=row.restarts,
        worker=worker,
        limits=row.limits,
        request_id=row.request_id,
    )


def _held(held: Claim) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        JobRow.id == held.job_id,
        JobRow.state == JobState.RUNNING,
        JobRow.worker == held.worker,
        JobRow.attempts == held.attempt,
    )


def _set(session: Session, *where: sa.ColumnElement[bool], **values: Any) -> bool:
    statement = sa.update(JobRow).where(*where).values(version=JobRow.version + 1, **values)
    result = session.execute(statement.execution_options(synchronize_session=False))
    return bool(result.rowcount == 1)  # type: ignore[attr-defined]


def renew(session: Session, held: Claim, *, lease_seconds: int, progress: Mapping[str, Any] | None) -> bool:
    """Renews the lease and stores progress. False: cancelled, or taken by somebody else."""
    return _set(session, *_held(held), lease_until=_lease(lease_seconds), progress=progress)


def finish(
    session: Session,
    held: Claim,
    *,
    state: JobState,
    outcome: Mapping[str, Any],
    draw_id: int | None = None,
    pairing_no: int | None = None,
) -> bool:
    """Ends a job that this worker still holds."""
    return _set(
        session,
        *_held(held),
        state=state,
        outcome=dict(outcome),
        draw_id=draw_id,
        pairing_no=pairing_no,
        finished_at=CLOCK,
        lease_until=None,
    )


def back_to_queue(session: Session, held: Claim) -> bool:
    """Gives a job back because its input changed while it ran; the attempt does not count against its cap."""
    return _set(
        session,
        *_held(held),
        state=JobState.QUEUED,
        restarts=JobRow.restarts + 1,
        attempts=JobRow.attempts - 1,
        due_at=CLOCK,
        sent_at=None,
        lease_until=None,
        worker=None,
        progress=None,
    )


def retry_later(session: Session, held: Claim, *, seconds: int) -> bool:
    """Gives a job back after a crash; the attempt counts. It becomes due again after `seconds`."""
    return _set(
        session,
        *_held(held),
        state=JobState.QUEUED,
        due_at=CLOCK + sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds),
        sent_at=None,
        lease_until=None,
        worker=None,
    )


def take_back_expired(session: Session, *, max_attempts: int) -> tuple[list[int], list[JobRow]]:
    """Jobs whose lease ran out: ids that went back to the queue, and rows that failed because all attempts are used."""
    expired = sa.and_(JobRow.state == JobState.RUNNING, JobRow.lease_until < CLOCK)
    failed = session.scalars(
        sa.update(JobRow)
        .where(expired, JobRow.attempts >= max_attempts)
        .values(
            state=JobState.FAILED,
            finished_at=CLOCK,
            lease_until=None,
            version=JobRow.version + 1,
            outcome={
                "slug": "worker-lost",
                "detail": f"The worker was lost {max_attempts} times while it paired this round: pair it by hand, "
                "or ask again.",
            },
        )
        .returning(JobRow)
        .execution_options(synchronize_session=False)
    ).all()
    requeued = session.scalars(
        sa.update(JobRow)
        .where(expired)
        .values(
            state=JobState.QUEUED,
            due_at=CLOCK,
            sent_at=None,
            lease_until=None,
            worker=None,
            version=JobRow.version + 1,
        )
        .returning(JobRow.id)
        .execution_options(synchronize_session=False)
    ).all()
    return list(requeued), list(failed)


def due_for_sending(session: Session, *, limit: int = 200) -> list[JobRow]:
    """Queued jobs that are due and whose last message is older than a back-off of 1, 2, 4 … 60 seconds.

    Marks them as sent: the message itself goes out after the commit.
    """
    pause = sa.func.least(60, sa.func.power(2, sa.func.least(JobRow.sends, 6)))
    old_enough = sa.or_(
        sa.and_(JobRow.sent_at.is_(None), JobRow.due_at < CLOCK - sa.text("interval '300 milliseconds'")),
        JobRow.sent_at < CLOCK - sa.func.make_interval(0, 0, 0, 0, 0, 0, pause),
    )
    rows = session.scalars(
        sa.select(JobRow)
        .where(JobRow.state == JobState.QUEUED, JobRow.due_at <= CLOCK, old_enough)
        .order_by(JobRow.due_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    for row in rows:
        row.sent_at = CLOCK
        row.sends += 1
    session.flush()
    return list(rows)
