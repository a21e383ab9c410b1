"""What ops see, from the tables alone: queue, workers, breakers, alerts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.events import EventRow
from qisai.db.jobs import KEEPER_LEADS, BreakerRow, JobRow, JobState, KeeperRow, WorkerRow, worker_lives
from qisai.db.records import AlertRow, Severity

HISTORY_STEPS: Final = 60
"""Of a whole number of minutes each; the last one ends with the present minute."""

_HISTORY: Final = sa.text(
    """
    WITH step AS (SELECT make_interval(mins => :minutes) AS long),
    recent AS MATERIALIZED (
        SELECT state, requested_at, due_at, started_at, finished_at FROM pairing_job, step
        WHERE NOT is_canary AND (finished_at IS NULL OR finished_at >= now() - :steps * long)
    )
    SELECT minute,
           count(*) FILTER (WHERE j.finished_at >= minute AND j.finished_at < minute + long
             AND j.state IN ('succeeded', 'degraded')) AS finished,
           count(*) FILTER (WHERE j.finished_at >= minute AND j.finished_at < minute + long
             AND j.state = 'failed') AS failed,
           count(*) FILTER (WHERE j.due_at < minute + long
             AND coalesce(j.started_at, j.finished_at, 'infinity') >= minute + long) AS waiting
    FROM step, generate_series(date_trunc('minute', now()) + interval '1 minute' - :steps * step.long,
                               date_trunc('minute', now()), step.long) AS minute
    LEFT JOIN recent j ON j.requested_at < minute + (SELECT long FROM step)
         AND (j.finished_at IS NULL OR j.finished_at >= minute)
    GROUP BY minute, long ORDER BY minute
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The queue now. `depth`: jobs that wait for a worker and are due."""

    depth: int
    oldest_due_seconds: float | None
    by_state: dict[str, int]
    history: Sequence[Any]
    """Rows of minute (where a step begins), finished, failed, waiting (at its end), oldest first."""


def queue(session: Session, *, hours: int = 1) -> Queue:
    """Depth, age of the oldest due job, jobs by state, and the last hours in 60 steps."""
    j = JobRow
    event_jobs = j.is_canary.is_(False)
    by_state = dict.fromkeys((state.value for state in JobState), 0)
    for state, count in session.execute(sa.select(j.state, sa.func.count()).where(event_jobs).group_by(j.state)):
        by_state[state.value] = count
    clock = sa.func.clock_timestamp()
    due = session.execute(
        sa.select(
            sa.func.count().label("depth"), sa.func.extract("epoch", clock - sa.func.min(j.due_at)).label("age")
        ).where(event_jobs, j.state == JobState.QUEUED, j.due_at <= clock)
    ).one()
    history = session.execute(_HISTORY, {"minutes": hours * 60 // HISTORY_STEPS, "steps": HISTORY_STEPS}).all()
    oldest = None if due.age is None else float(due.age)
    return Queue(depth=due.depth, oldest_due_seconds=oldest, by_state=by_state, history=history)


def event_names(session: Session, event_ids: Iterable[int | None]) -> dict[int | None, str]:
    """Names of these events by id."""
    wanted = {event_id for event_id in event_ids if event_id is not None}
    rows = session.execute(sa.select(EventRow.id, EventRow.name).where(EventRow.id.in_(wanted)))
    return {row.id: row.name for row in rows}


def workers(session: Session, *, lease_seconds: int) -> Sequence[Any]:
    """Workers by name, with the seconds since each was seen and whether it is alive by that."""
    w = WorkerRow
    age = sa.func.extract("epoch", sa.func.clock_timestamp() - w.seen_at).label("age")
    columns = (w.name, w.host, w.pid, w.release, w.algorithms, w.queues, w.started_at, w.seen_at)
    is_alive = worker_lives(lease_seconds).label("is_alive")
    return session.execute(sa.select(*columns, w.job_id, w.load, age, is_alive).order_by(w.name)).all()


def keepers(session: Session) -> Sequence[Any]:
    """Keepers, the one that leads first, with the seconds since each was seen and whether it leads and was in time."""
    k = KeeperRow
    age = sa.func.extract("epoch", sa.func.clock_timestamp() - k.seen_at).label("age")
    columns = (k.name, k.host, k.pid, k.release, k.is_leading, k.started_at, k.seen_at)
    leads = sa.and_(*KEEPER_LEADS).label("leads")
    return session.execute(sa.select(*columns, age, leads).order_by(leads.desc(), k.seen_at.desc())).all()


def breakers(session: Session) -> Sequence[BreakerRow]:
    """Breakers of all events that ever had a timeout."""
    return session.scalars(sa.select(BreakerRow).order_by(BreakerRow.event_id)).all()


def alerts(
    session: Session, *, only_open: bool, severity: Severity | None, before_id: int | None, limit: int
) -> Sequence[AlertRow]:
    """Alerts, latest first; `only_open`: those whose cause is not gone."""
    query = sa.select(AlertRow).order_by(AlertRow.id.desc()).limit(limit)
    if only_open:
        query = query.where(AlertRow.cleared_at.is_(None))
    if severity is not None:
        query = query.where(AlertRow.severity == severity)
    if before_id is not None:
        query = query.where(AlertRow.id < before_id)
    return session.scalars(query).all()


def alerts_at_event(session: Session, event_id: int, *, with_critical: bool, limit: int) -> Sequence[AlertRow]:
    """Open alerts of an event, `with_critical` also those of everywhere that are critical; latest first."""
    a = AlertRow
    wanted = a.event_id == event_id
    if with_critical:
        wanted = sa.or_(wanted, a.severity == Severity.CRITICAL)
    query = sa.select(a).where(a.cleared_at.is_(None), wanted)
    return session.scalars(query.order_by(a.id.desc()).limit(limit)).all()
