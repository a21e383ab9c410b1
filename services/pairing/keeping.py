"""What the keeper does besides sending: alerts from the state of things, and pruning of what nobody needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.accounts import IdempotencyRow, WebSessionRow
from qisai.db.jobs import BreakerRow, BreakerState, JobRow, JobState, WorkerRow
from qisai.db.records import AlertRow, Severity
from qisai.db.rounds import RoundRow, RoundState
from qisai.ledger import alerts, audit, feed
from qisai.ledger.actor import system_actor
from services.pairing.breaker import BREAKER_ALERT
from services.pairing.ending import DEGRADED_ALERT, FAILED_ALERT
from services.pairing.jobs import CLOCK

QUEUE_ALERT: Final = "queue-stuck"
WORKERS_ALERT: Final = "no-live-worker"
QUEUE_STUCK_SECONDS: Final = 60
WORKER_DEAD_SECONDS: Final = 20


def _ago(seconds: int) -> sa.ColumnElement[Any]:
    return CLOCK - sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def tell_failed(session: Session, failed: Sequence[JobRow]) -> None:
    """Log, alert and feed for jobs that ran out of attempts."""
    for row in failed:
        actor = system_actor("keeper", request_id=row.request_id)
        audit.record(
            session, actor, action="job.failed", subject=f"job:{row.id}", event_id=row.event_id, new=row.outcome
        )
        alerts.raise_alert(
            session,
            FAILED_ALERT,
            key=f"{row.event_id}:{row.round_no}",
            severity=Severity.WARNING,
            event_id=row.event_id,
            detail={"job": row.id, "round": row.round_no, **(row.outcome or {})},
        )
        data = {"round": row.round_no, "job": row.id, "state": row.state.value}
        feed.publish(session, row.event_id, "draw.failed", data=data)


def watch(session: Session) -> None:
    """Raises and clears the alerts that follow from the job table and the workers' heartbeats."""
    oldest = session.execute(
        sa.select(sa.func.extract("epoch", CLOCK - sa.func.min(JobRow.due_at))).where(
            JobRow.state == JobState.QUEUED, JobRow.due_at <= CLOCK
        )
    ).scalar_one()
    moving = session.execute(
        sa.select(sa.literal(1)).where(JobRow.finished_at > _ago(QUEUE_STUCK_SECONDS)).limit(1)
    ).first()
    _switch(
        session,
        QUEUE_ALERT,
        on=oldest is not None and oldest > QUEUE_STUCK_SECONDS and moving is None,
        detail={"oldest_seconds": int(oldest or 0)},
    )
    live = session.execute(
        sa.select(sa.func.count()).select_from(WorkerRow).where(WorkerRow.seen_at > _ago(WORKER_DEAD_SECONDS))
    ).scalar_one()
    _switch(session, WORKERS_ALERT, on=live == 0, detail={"live": live})
    _clear_settled(session)


def _switch(session: Session, kind: str, *, on: bool, detail: dict[str, Any]) -> None:
    is_open = session.execute(
        sa.select(AlertRow.id).where(AlertRow.kind == kind, AlertRow.key == "all", AlertRow.cleared_at.is_(None))
    ).first()
    if on and is_open is None:
        alerts.raise_alert(session, kind, key="all", severity=Severity.CRITICAL, detail=detail)
    elif not on and is_open is not None:
        alerts.clear_alert(session, kind, key="all")


def _clear_settled(session: Session) -> None:
    """A degraded or failed draw is settled once its round is published, a breaker once somebody has closed it."""
    published = sa.select(sa.literal(1)).where(
        RoundRow.event_id == AlertRow.event_id,
        RoundRow.state != RoundState.PENDING,
        AlertRow.key == sa.func.concat(RoundRow.event_id, ":", RoundRow.number),
    )
    session.execute(
        sa.update(AlertRow)
        .where(AlertRow.kind.in_((DEGRADED_ALERT, FAILED_ALERT)), AlertRow.cleared_at.is_(None), published.exists())
        .values(cleared_at=CLOCK)
        .execution_options(synchronize_session=False)
    )
    closed = sa.select(sa.literal(1)).where(
        BreakerRow.event_id == AlertRow.event_id, BreakerRow.state == BreakerState.CLOSED
    )
    session.execute(
        sa.update(AlertRow)
        .where(AlertRow.kind == BREAKER_ALERT, AlertRow.cleared_at.is_(None), closed.exists())
        .values(cleared_at=CLOCK)
        .execution_options(synchronize_session=False)
    )


def prune(session: Session) -> None:
    """Deletes what is past its time: idempotency keys after a day, ended sessions, dead workers' rows, old jobs."""
    session.execute(sa.delete(IdempotencyRow).where(IdempotencyRow.created_at < _ago(24 * 3600)))
    session.execute(sa.delete(WebSessionRow).where(WebSessionRow.expires_at < _ago(7 * 24 * 3600)))
    session.execute(sa.delete(WorkerRow).where(WorkerRow.seen_at < _ago(3600)))
    session.execute(sa.delete(JobRow).where(JobRow.finished_at < _ago(90 * 24 * 3600)))
