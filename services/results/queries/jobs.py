"""Pairing jobs as people ask for them: the job table is the record, whatever Redis says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.jobs import JobRow, JobState
from qisai.db.rounds import DrawRow
from qisai.errors import NotFound
from qisai.web.rights import EventOf

EVENT_OF_JOB: Final = EventOf(
    "SELECT event_id FROM pairing_job WHERE id = :about",
    "job_id",
    lambda job_id: NotFound("job-not-found", f"There is no job {job_id}."),
)
"""The event of the job in a path, for its rights. A canary has none: nobody has a right to it, so it is not found."""


def job(session: Session, job_id: int) -> Any:
    """One job with the number of its draw and for how long it has waited. Raises `NotFound`."""
    row = session.execute(_query().where(JobRow.id == job_id)).one_or_none()
    if row is None:
        raise NotFound("job-not-found", f"There is no job {job_id}.")
    return row


def latest_of_round(session: Session, event_id: int, *, round_no: int) -> Any | None:
    """The job that was asked for last, as `job` gives it; None where nobody asked yet."""
    of_round = _query().where(JobRow.event_id == event_id, JobRow.round_no == round_no)
    return session.execute(of_round.order_by(JobRow.id.desc()).limit(1)).one_or_none()


def jobs(
    session: Session,
    *,
    state: JobState | None = None,
    event_id: int | None = None,
    before_id: int | None = None,
    limit: int = 50,
) -> Sequence[Any]:
    """Jobs, latest first."""
    query = _query().order_by(JobRow.id.desc()).limit(limit)
    if state is not None:
        query = query.where(JobRow.state == state)
    if event_id is not None:
        query = query.where(JobRow.event_id == event_id)
    if before_id is not None:
        query = query.where(JobRow.id < before_id)
    return session.execute(query).all()


def active(session: Session, *, limit: int) -> Sequence[Any]:
    """Jobs that run, then those that wait, the oldest first."""
    running_first = sa.case((JobRow.state == JobState.RUNNING, 0), else_=1)
    query = _query().where(JobRow.state.in_((JobState.QUEUED, JobState.RUNNING)))
    return session.execute(query.order_by(running_first, JobRow.due_at, JobRow.id).limit(limit)).all()


def in_trouble(session: Session, *, hours: int, limit: int) -> Sequence[Any]:
    """Jobs of the last hours that ended without a draw, or with one that must be read first; latest first."""
    bad = (JobState.DEGRADED, JobState.FAILED, JobState.SUPERSEDED)
    since = sa.func.now() - sa.func.make_interval(0, 0, 0, 0, hours)
    query = _query().where(JobRow.state.in_(bad), JobRow.finished_at > since)
    return session.execute(query.order_by(JobRow.finished_at.desc()).limit(limit)).all()


def _query() -> Any:
    """Jobs of events: the keeper's canaries are none."""
    j = JobRow
    asked = (j.id, j.event_id, j.round_no, j.state, j.queue, j.size, j.limits, j.requested_at, j.requested_by)
    went = (j.sends, j.attempts, j.restarts, j.worker, j.started_at, j.finished_at, j.progress, j.outcome, j.version)
    seconds = sa.func.extract("epoch", sa.func.clock_timestamp() - j.due_at)
    waits = sa.case((sa.and_(j.state == JobState.QUEUED, j.due_at <= sa.func.clock_timestamp()), seconds))
    return (
        sa.select(
            *asked, *went, j.request_id, j.sent_at, j.due_at, waits.label("waited"), DrawRow.number.label("draw_number")
        )
        .outerjoin(DrawRow, DrawRow.id == j.draw_id)
        .where(j.is_canary.is_(False))
    )
