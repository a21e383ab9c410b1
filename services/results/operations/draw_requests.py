"""Asking for a draw: a committed job row, of which the message in Redis is only a nudge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from celery import Celery
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from qisai.db.jobs import IS_ACTIVE, JobRow, JobState
from qisai.db.session import compare_and_set
from qisai.errors import Conflict, NotFound, Unavailable
from qisai.kernel.model import Tournament
from qisai.kernel.pairing.field import present_entrants
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from qisai.queue.names import queue_for
from qisai.queue.sending import send_pair_after_commit
from services.results.operations.drawable import read_drawable

ACTIVE: Final = (JobState.QUEUED, JobState.RUNNING)
FIELD_OF_ONE_DEADLINE: Final = 1000
"""For every so many entrants a solver gets the default deadline once more."""
HARD_LIMIT_MARGIN_MS: Final = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Budgets asked for; None: the event's, then the default by size of the field."""

    max_depth: int | None = None
    max_steps: int | None = None
    deadline_ms: int | None = None


def request_draw(
    session: Session,
    actor: Actor,
    celery: Celery,
    *,
    event_id: int,
    round_no: int,
    limits: Limits,
    default_deadline_ms: int,
) -> int:
    """The id of the round's active job: a new one, or the one that is under way already.

    Raises the `Conflict` of `read_drawable` where none is under way. The job is sent to the workers after the commit;
    while the broker is away it waits in its row.
    """
    active = _active_job(session, event_id, round_no)
    if active is not None:
        return active
    # Of a large field only what is asked here: this runs in a process that takes results too.
    tournament = read_drawable(session, event_id, round_no=round_no, with_games=False).tournament
    size = len(present_entrants(tournament))
    queue = queue_for(size)
    values = {
        "event_id": event_id,
        "round_no": round_no,
        "queue": queue,
        "size": size,
        "limits": _limits(limits, tournament, size=size, default_deadline_ms=default_deadline_ms),
        "requested_by": actor.name,
        "requested_account_id": actor.account_id,
        "request_id": actor.request_id,
    }
    for _attempt in range(3):
        job_id = _insert(session, values)
        if job_id is not None:
            break
        active = _active_job(session, event_id, round_no)
        if active is not None:
            return active
        # The active job ended between the two statements: now there is room for a new one.
    else:
        raise Unavailable("busy", "Jobs of this round come and go; ask again in a moment.", retry_after=1)
    audit.record(session, actor, action="draw.request", subject=f"round:{round_no}", event_id=event_id)
    feed.publish(session, event_id, "draw.requested", data={"round": round_no, "job": job_id})
    send_pair_after_commit(session, celery, job_id=job_id, queue=queue, request_id=actor.request_id)
    return job_id


def cancel_job(session: Session, actor: Actor, *, job_id: int) -> None:
    """Ends a job that has not ended; cancelling twice is cancelling once. Raises `NotFound`, `Conflict` `job-ended`."""
    job = session.get(JobRow, job_id)
    if job is None or job.event_id is None:  # a canary is the keeper's
        raise NotFound("job-not-found", f"There is no job {job_id}.")
    values = {"state": JobState.CANCELLED, "finished_at": sa.func.clock_timestamp(), "version": JobRow.version + 1}
    values["outcome"] = {"slug": "cancelled", "detail": f"Cancelled by {actor.name}.", "by": actor.name}
    if not compare_and_set(session, JobRow, where=[JobRow.id == job_id, JobRow.state.in_(ACTIVE)], values=values):
        session.refresh(job)
        if job.state is JobState.CANCELLED:
            return
        raise Conflict("job-ended", f"Job {job_id} has ended already: {job.state.value}.", state=job.state.value)
    audit.record(session, actor, action="job.cancel", subject=f"job:{job_id}", event_id=job.event_id)
    feed.publish(session, job.event_id, "draw.cancelled", data={"round": job.round_no, "job": job_id})


def deadline_by_size(default_ms: int, *, entrants: int) -> int:
    """How long a solver may take unless the request says, in milliseconds (docs/pipeline.md, "Limits").

    A field of 5,000 needs one second of a core, a hostile one five; but the solver comes last on its machine, and its
    deadline is by the clock on the wall.
    """
    return default_ms * (1 + entrants // FIELD_OF_ONE_DEADLINE)


def _limits(limits: Limits, tournament: Tournament, *, size: int, default_deadline_ms: int) -> dict[str, Any]:
    event = tournament.regulations.limits
    deadline_ms = limits.deadline_ms or deadline_by_size(default_deadline_ms, entrants=size)
    return {
        "max_depth": limits.max_depth or event.max_depth,
        "max_steps": limits.max_steps or event.max_steps,
        "deadline_ms": deadline_ms,
        "hard_ms": deadline_ms + HARD_LIMIT_MARGIN_MS,
    }


def _insert(session: Session, values: dict[str, Any]) -> int | None:
    """The id of the new job, or None where the round has an active one: decided by the partial unique index."""
    statement = insert(JobRow).values(values)
    return session.execute(
        statement.on_conflict_do_nothing(index_elements=["event_id", "round_no"], index_where=IS_ACTIVE).returning(
            JobRow.id
        )
    ).scalar_one_or_none()


def _active_job(session: Session, event_id: int, round_no: int) -> int | None:
    query = sa.select(JobRow.id).where(
        JobRow.event_id == event_id, JobRow.round_no == round_no, JobRow.state.in_(ACTIVE)
    )
    return session.execute(query).scalar_one_or_none()
