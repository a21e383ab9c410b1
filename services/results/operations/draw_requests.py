"""Asking for a draw: a committed job row, of which the message in Redis is only a nudge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from celery import Celery
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.events import EventRow, EventState
from qisai.db.jobs import IS_ACTIVE, JobRow, JobState
from qisai.db.session import compare_and_set
from qisai.db.snapshot import read_tournament
from qisai.errors import Blocker, Conflict, NotFound, Unavailable
from qisai.kernel.model import Tournament
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from qisai.queue.names import queue_for
from qisai.queue.sending import send_pair_after_commit
from services.results.operations.rounds import missing_result
from services.results.queries.boards import open_boards

ACTIVE: Final = (JobState.QUEUED, JobState.RUNNING)
LARGE_FIELD: Final = 2000
"""Entrants above which a solver gets three times the default deadline."""
HARD_LIMIT_MARGIN_MS: Final = 5000
MOST_NAMED: Final = 50
"""Blockers named one by one; a whole round without results would hide the others."""


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

    Raises `Conflict`: `round-published`, `earlier-round-missing`, `attendance-open`, `round-beyond-end`, or
    `draw-not-possible` with everything that stands in the way. The job is sent to the workers after the commit; while
    the broker is away it waits in its row.
    """
    snapshot = read_tournament(session, event_id, round_no=round_no, for_pairing=True)
    tournament = snapshot.tournament
    planned = tournament.regulations.rounds
    if planned is not None and round_no > planned:
        raise Conflict("round-beyond-end", f"This event has {planned} rounds.", rounds=planned)
    size = len(_present(tournament))
    blockers = list(_blockers(session, event_id, round_no=round_no, size=size))
    if blockers:
        raise Conflict("draw-not-possible", f"Round {round_no} cannot be drawn yet.", blockers=blockers)
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
    values["outcome"] = {"slug": "cancelled", "detail": f"Cancelled by {actor.name}."}
    if not compare_and_set(session, JobRow, where=[JobRow.id == job_id, JobRow.state.in_(ACTIVE)], values=values):
        session.refresh(job)
        if job.state is JobState.CANCELLED:
            return
        raise Conflict("job-ended", f"Job {job_id} has ended already: {job.state.value}.", state=job.state.value)
    audit.record(session, actor, action="job.cancel", subject=f"job:{job_id}", event_id=job.event_id)
    feed.publish(session, job.event_id, "draw.cancelled", data={"round": job.round_no, "job": job_id})


def _present(tournament: Tournament) -> set[int]:
    """Numbers of those who will be paired."""
    pool, drawing = tournament.next, tournament.next_round
    assert pool is not None
    away = {*pool.absent, *(bye.entrant for bye in pool.byes)}
    return {
        entrant.number
        for entrant in tournament.entrants
        if entrant.number not in away and (entrant.withdrawn_from is None or entrant.withdrawn_from > drawing)
    }


def _blockers(session: Session, event_id: int, *, round_no: int, size: int) -> list[Blocker]:
    """Everything that stands in the way of the draw, each with what to do."""
    blockers: list[Blocker] = []
    state = session.execute(sa.select(EventRow.state).where(EventRow.id == event_id)).scalar_one()
    allowed = (EventState.CLOSED, EventState.RUNNING) if round_no == 1 else (EventState.RUNNING,)
    if state not in allowed:
        what = "close registration first" if state in (EventState.DRAFT, EventState.OPEN) else "reopen it first"
        blockers.append(Blocker("event-not-running", f"The event is {state.value}: {what}.", {"state": state.value}))
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


def _limits(limits: Limits, tournament: Tournament, *, size: int, default_deadline_ms: int) -> dict[str, Any]:
    event = tournament.regulations.limits
    by_size = default_deadline_ms * (3 if size > LARGE_FIELD else 1)
    deadline_ms = limits.deadline_ms or by_size
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
