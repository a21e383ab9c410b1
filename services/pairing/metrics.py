"""Metrics of pairing in Prometheus' text form, read from the tables at each scrape, never from Redis.

What counts up counts what happened since this keeper started: as with any process, a restart begins at nothing.
Labels are names of our own (states, queues, kinds of alerts), never ids, so their number is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from sqlalchemy.orm import Session

from qisai.db.jobs import BreakerRow, BreakerState, JobRow, JobState, WorkerRow, worker_lives
from qisai.db.records import AlertRow, Severity
from qisai.db.session import Database
from qisai.queue.names import QUEUES
from services.pairing import jobs
from services.pairing.alert_kinds import AlertKind
from services.pairing.jobs import CLOCK
from services.pairing.watching import Limits

if TYPE_CHECKING:
    from services.pairing.keeper import Keeper

BUCKETS: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds of the histograms' buckets, in seconds."""
_COUNTED_DAYS: Final = 30
"""Counting begins anew after so many days, long before rows are pruned: a counter must never go down by a little."""
_ENDED: Final = tuple(state for state in JobState if state not in (JobState.QUEUED, JobState.RUNNING))


class Metrics:
    """Answers scrapes. `keeper` adds what only this process knows: whether it leads, whether the broker answers."""

    def __init__(self, database: Database, keeper: Keeper, *, limits: Limits) -> None:
        self._database = database
        self._keeper = keeper
        self._limits = limits
        self._started = time.monotonic()
        self._since: datetime | None = None

    def measure(self) -> bytes:
        """All metrics. Raises `Unavailable`."""
        with self._database.snapshot() as session:
            now = session.execute(sa.select(CLOCK)).scalar_one()
            if self._since is None:  # the database's clock, which may be first to be read long after the start
                self._since = now - timedelta(seconds=time.monotonic() - self._started)
            if now - self._since > timedelta(days=_COUNTED_DAYS):
                self._since = now
            families = [
                *_jobs(session, self._since),
                *_times(session, self._since),
                *_workers(session, self._limits),
                *_alerts(session, self._since),
                *_canary(session),
                _gauge("qisai_keeper_leading", "1 where this keeper is the one that works", self._keeper.leading),
                _gauge("qisai_broker_answers", "1 where the broker answers this keeper", self._keeper.broker.answers),
            ]
        registry = CollectorRegistry()
        registry.register(_Families(families))
        return generate_latest(registry)


class _Families:
    """What the client library wants: an object that yields metrics."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=float(value))


def _labelled(family: Any, values: dict[str, float]) -> Any:
    for label, value in values.items():
        family.add_metric([label], float(value))
    return family


def _counts(session: Session, what: Any, *where: Any) -> dict[Any, int]:
    return dict(iter(session.execute(sa.select(what, sa.func.count()).where(*where).group_by(what))))


def _jobs(session: Session, since: datetime) -> Iterator[Metric]:
    ours = ~JobRow.is_canary
    now = _counts(session, JobRow.state, ours)
    ended = _counts(session, JobRow.state, ours, JobRow.finished_at >= since)
    due = (JobRow.state == JobState.QUEUED, JobRow.due_at <= CLOCK, ours)
    depth, oldest = _counts(session, JobRow.queue, *due), jobs.oldest_due(session)
    yield _labelled(
        GaugeMetricFamily("qisai_jobs", "Pairing jobs in the table by state", labels=["state"]),
        {state.value: now.get(state, 0) for state in JobState},
    )
    yield _labelled(
        CounterMetricFamily("qisai_jobs_ended", "Pairing jobs that ended, by how", labels=["state"]),
        {state.value: ended.get(state, 0) for state in _ENDED},
    )
    yield _labelled(
        GaugeMetricFamily("qisai_due_jobs", "Jobs that are due and wait for a worker, by queue", labels=["queue"]),
        {queue: depth.get(queue, 0) for queue in QUEUES},
    )
    text = "Age of the oldest due job, in seconds, by queue"
    yield _labelled(
        GaugeMetricFamily("qisai_oldest_due_job_seconds", text, labels=["queue"]),
        {queue: oldest.get(queue, 0) for queue in QUEUES},
    )


def _times(session: Session, since: datetime) -> Iterator[Metric]:
    j = JobRow
    waited = sa.func.extract("epoch", j.started_at - j.requested_at)
    ran = sa.func.extract("epoch", j.finished_at - j.started_at)
    started = (~j.is_canary, j.started_at >= since)
    ended = (~j.is_canary, j.started_at.is_not(None), j.finished_at >= since)
    text = "From the request to the first start of a job, in seconds"
    yield _histogram(session, "qisai_job_wait_seconds", text, seconds=waited, where=started)
    text = "From the first start of a job to its end, in seconds"
    yield _histogram(session, "qisai_job_run_seconds", text, seconds=ran, where=ended)


def _histogram(session: Session, name: str, text: str, *, seconds: Any, where: tuple[Any, ...]) -> Metric:
    """Counted by the database: one row a queue, whatever the number of jobs."""
    upto = [sa.func.count().filter(seconds <= bound) for bound in BUCKETS]
    query = sa.select(JobRow.queue, sa.func.count(), sa.func.coalesce(sa.func.sum(seconds), 0), *upto)
    found = {row[0]: row[1:] for row in session.execute(query.where(*where).group_by(JobRow.queue))}
    family = HistogramMetricFamily(name, text, labels=["queue"])
    for queue in QUEUES:
        count, total, *cumulative = found.get(queue, (0, 0, *[0] * len(BUCKETS)))
        bounds = [str(bound) for bound in BUCKETS]
        buckets = [*zip(bounds, map(float, cumulative), strict=True), ("+Inf", float(count))]
        family.add_metric([queue], buckets=buckets, sum_value=float(total))
    return family


def _workers(session: Session, limits: Limits) -> Iterator[Metric]:
    live = worker_lives(limits.lease_seconds)
    counted = sa.select(sa.func.count(), sa.func.count(WorkerRow.job_id)).select_from(WorkerRow).where(live)
    here, busy = session.execute(counted).one()
    yield _gauge("qisai_live_workers", "Workers with a recent heartbeat", here)
    yield _gauge("qisai_busy_workers", "Live workers that have a job at hand", busy)
    breakers = _counts(session, BreakerRow.state)
    yield _labelled(
        GaugeMetricFamily("qisai_breakers", "Circuit breakers of events by state", labels=["state"]),
        {state.value: breakers.get(state, 0) for state in BreakerState},
    )


def _alerts(session: Session, since: datetime) -> Iterator[Metric]:
    is_open = AlertRow.cleared_at.is_(None)
    by_severity, by_kind = _counts(session, AlertRow.severity, is_open), _counts(session, AlertRow.kind, is_open)
    raised = _counts(session, AlertRow.kind, AlertRow.raised_at >= since)
    yield _labelled(
        GaugeMetricFamily("qisai_open_alerts", "Open alerts by severity", labels=["severity"]),
        {severity.value: by_severity.get(severity, 0) for severity in Severity},
    )
    yield _labelled(
        GaugeMetricFamily("qisai_open_alerts_by_kind", "Open alerts by kind", labels=["kind"]),
        {kind.value: by_kind.get(kind.value, 0) for kind in AlertKind},
    )
    yield _labelled(
        CounterMetricFamily("qisai_alerts_raised", "Alerts raised, by kind", labels=["kind"]),
        {kind.value: raised.get(kind.value, 0) for kind in AlertKind},
    )


def _canary(session: Session) -> Iterator[Metric]:
    back = sa.select(
        sa.func.extract("epoch", CLOCK - JobRow.finished_at),
        sa.func.extract("epoch", JobRow.finished_at - JobRow.requested_at),
    ).where(JobRow.is_canary, JobRow.state == JobState.SUCCEEDED)
    row = session.execute(back.order_by(JobRow.finished_at.desc()).limit(1)).one_or_none()
    if row is not None:
        yield _gauge("qisai_canary_age_seconds", "Since the last canary came back as a draw, in seconds", row[0])
        yield _gauge("qisai_canary_round_trip_seconds", "What the last canary took there and back, in seconds", row[1])
