"""State changes of pairing jobs: each a compare-and-set on the row, so a second worker or keeper is harmless.

Leases are compared with `clock_timestamp()`: the database's clock, not the machine's, and not a transaction's start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.events import EventRow
from qisai.db.jobs import JobRow, JobState
from qisai.kernel.model import ALGORITHM

CLOCK: Final = sa.func.clock_timestamp()
ACTIVE: Final = (JobState.QUEUED, JobState.RUNNING)
LONGEST_PAUSE: Final = 60
"""Most seconds between two messages for one job that nobody takes."""
_CANDIDATES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A job that this worker holds. `attempt` tells this hold from an earlier one of the same worker."""

    job_id: int
    event_id: int | None
    """None for a canary."""
    round_no: int
    attempt: int
    restarts: int
    worker: str
    limits: Mapping[str, Any]
    request_id: str


def seconds(count: float | sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """An interval of so many seconds."""
    return sa.func.make_interval(0, 0, 0, 0, 0, 0, count)


def ago(count: float) -> sa.ColumnElement[datetime]:
    """The moment so many seconds ago, by the database's clock."""
    return CLOCK - seconds(count)


def _lease(lease_seconds: int) -> sa.ColumnElement[datetime]:
    return CLOCK + seconds(lease_seconds)


def _to_be_had(max_attempts: int) -> tuple[sa.ColumnElement[bool], ...]:
    """Queued and due, or running under a lease that ran out, with attempts left; and its event has no other running."""
    other = sa.orm.aliased(JobRow)
    taken = sa.exists().where(other.event_id == JobRow.event_id, other.id != JobRow.id, other.state == JobState.RUNNING)
    queued = sa.and_(JobRow.state == JobState.QUEUED, JobRow.due_at <= CLOCK)
    lost = sa.and_(JobRow.state == JobState.RUNNING, JobRow.lease_until < CLOCK, JobRow.attempts < max_attempts)
    return sa.or_(queued, lost), ~taken


def _known(algorithms: Sequence[str]) -> sa.ColumnElement[bool]:
    """The event's draws are of an algorithm that this worker has: an event keeps the one it began with."""
    event = sa.orm.aliased(EventRow)
    own = sa.select(event.algorithm).where(event.id == JobRow.event_id).scalar_subquery()
    return sa.func.coalesce(own, ALGORITHM).in_(algorithms)


def claim(session: Session, job_id: int, *, worker: str, lease_seconds: int, max_attempts: int) -> Claim | None:
    """Takes a queued job, or one whose holder's lease ran out. None where it is not to be had: a no-op.

    No event holds more than one worker. Of two workers that claim two jobs of one event at the same moment, the unique
    index on running jobs lets one through.
    """
    statement = (
        sa.update(JobRow)
        .where(JobRow.id == job_id, *_to_be_had(max_attempts))
        .values(
            state=JobState.RUNNING,
            worker=worker,
            lease_until=_lease(lease_seconds),
            attempts=JobRow.attempts + 1,
            started_at=sa.func.coalesce(JobRow.started_at, CLOCK),
            version=JobRow.version + 1,
        )
        .returning(JobRow)
        .execution_options(synchronize_session=False, populate_existing=True)
    )
    try:
        with session.begin_nested():
            row = session.execute(statement).scalar_one_or_none()
    except sa.exc.IntegrityError:
        return None
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


def claim_next(
    session: Session,
    *,
    nudged: int,
    worker: str,
    lease_seconds: int,
    max_attempts: int,
    queues: Sequence[str],
    algorithms: Sequence[str],
) -> Claim | None:
    """Takes the job that has been due for longest, of these queues and algorithms. None where there is nothing to do.

    A message says that there is work, not which: so a burst of messages of one event moves nobody else back. Only a
    canary is taken by its own message alone (`nudged`), and first, because it has to prove that messages arrive.
    """
    wanted = sa.or_(
        sa.and_(JobRow.is_canary, JobRow.id == nudged), sa.and_(~JobRow.is_canary, JobRow.queue.in_(queues))
    )
    candidates = session.scalars(
        sa.select(JobRow.id)
        .where(JobRow.state.in_(ACTIVE), *_to_be_had(max_attempts), wanted, _known(algorithms))
        .order_by(JobRow.is_canary.desc(), JobRow.due_at, JobRow.id)
        .limit(_CANDIDATES)
    ).all()
    for job_id in candidates:
        held = claim(session, job_id, worker=worker, lease_seconds=lease_seconds, max_attempts=max_attempts)
        if held is not None:
            return held
    return None


def lacking(session: Session, job_id: int, *, algorithms: Sequence[str]) -> str | None:
    """The algorithm that a due job needs and this worker does not have; None where that is not what it waits for."""
    query = sa.select(EventRow.algorithm).join(JobRow, JobRow.event_id == EventRow.id)
    return session.execute(
        query.where(JobRow.id == job_id, JobRow.state == JobState.QUEUED, ~_known(algorithms))
    ).scalar_one_or_none()


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


def renew(session: Session, held: Claim, *, lease_seconds: int, **values: Any) -> bool:
    """Renews the lease and stores progress or limits. False: cancelled, or taken by somebody else."""
    return _set(session, *_held(held), lease_until=_lease(lease_seconds), **values)


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
        sends=0,
        lease_until=None,
        worker=None,
        progress=None,
    )


def retry_later(session: Session, held: Claim, *, pause: int) -> bool:
    """Gives a job back after a crash; the attempt counts. It becomes due again after `pause` seconds."""
    return _set(
        session,
        *_held(held),
        state=JobState.QUEUED,
        due_at=CLOCK + seconds(pause),
        sent_at=None,
        sends=0,
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
                "times": max_attempts,
            },
        )
        .returning(JobRow)
        .execution_options(synchronize_session=False)
    ).all()
    requeued = session.scalars(
        sa.update(JobRow)
        .where(expired, JobRow.attempts < max_attempts)  # one may expire between the two statements
        .values(
            state=JobState.QUEUED,
            due_at=CLOCK,
            sent_at=None,
            sends=0,
            lease_until=None,
            worker=None,
            version=JobRow.version + 1,
        )
        .returning(JobRow.id)
        .execution_options(synchronize_session=False)
    ).all()
    return list(requeued), list(failed)


def oldest_due(session: Session) -> dict[str, float]:
    """For each queue in which something is due, the age of its oldest due job in seconds. Canaries do not count."""
    age = sa.func.extract("epoch", CLOCK - sa.func.min(JobRow.due_at))
    due = (JobRow.state == JobState.QUEUED, JobRow.due_at <= CLOCK, ~JobRow.is_canary)
    rows = session.execute(sa.select(JobRow.queue, age.label("age")).where(*due).group_by(JobRow.queue))
    return {row.queue: float(row.age) for row in rows}


def due_for_sending(session: Session, *, limit: int = 200) -> list[JobRow]:
    """Queued jobs that are due and whose last message is older than a back-off of 2, 4, 8 … 60 seconds, oldest first.

    Marks them as sent: the message itself goes out after the commit.
    """
    pause = sa.func.least(LONGEST_PAUSE, sa.func.power(2, sa.func.least(JobRow.sends, 6)))
    old_enough = sa.or_(
        sa.and_(JobRow.sent_at.is_(None), JobRow.due_at < ago(0.3)), JobRow.sent_at < CLOCK - seconds(pause)
    )
    rows = session.scalars(
        sa.select(JobRow)
        .where(JobRow.state == JobState.QUEUED, JobRow.due_at <= CLOCK, old_enough)
        .order_by(JobRow.due_at, JobRow.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    for row in rows:
        row.sent_at = CLOCK
        row.sends += 1
    session.flush()
    return list(rows)


def send_all_again(session: Session) -> int:
    """Forgets what was sent: the broker was away, and may have come back empty. The number of jobs that wait."""
    waiting = sa.update(JobRow).where(JobRow.state == JobState.QUEUED, JobRow.sent_at.is_not(None))
    result = session.execute(waiting.values(sent_at=None, sends=0).execution_options(synchronize_session=False))
    return int(result.rowcount)  # type: ignore[attr-defined]
