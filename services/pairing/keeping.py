"""What the keeper does besides sending and watching: tells of jobs that were given up, prunes what nobody needs."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.accounts import IdempotencyRow, WebSessionRow
from qisai.db.jobs import JobRow, KeeperRow, WorkerRow
from qisai.ledger import audit, feed
from qisai.ledger.actor import system_actor
from services.pairing.alert_kinds import AlertKind, switch
from services.pairing.ending import round_key
from services.pairing.jobs import ACTIVE, ago

_DAY: Final = 24 * 3600
KEPT_DAYS: Final = 90
"""Ended jobs are kept so long: what was asked, what came of it and why. Their draws and the audit log stay for ever."""


def tell_failed(session: Session, row: JobRow) -> None:
    """Log, alert and feed for a job that ran out of attempts. A canary's end is seen by `watching`."""
    if row.event_id is None:
        return
    actor = system_actor("keeper", request_id=row.request_id)
    audit.record(session, actor, action="job.failed", subject=f"job:{row.id}", event_id=row.event_id, new=row.outcome)
    detail = {"job": row.id, "round": row.round_no, **(row.outcome or {})}
    key = round_key(row.event_id, row.round_no)
    switch(session, AlertKind.DRAW_FAILED, on=True, key=key, event_id=row.event_id, detail=detail)
    data = {"round": row.round_no, "job": row.id, "state": row.state.value}
    feed.publish(session, row.event_id, "draw.failed", data=data)


def prune(session: Session) -> None:
    """Deletes what is past its time: idempotency keys, ended sessions, rows of dead workers and keepers, old jobs."""
    session.execute(sa.delete(IdempotencyRow).where(IdempotencyRow.created_at < ago(_DAY)))
    session.execute(sa.delete(WebSessionRow).where(WebSessionRow.expires_at < ago(7 * _DAY)))
    session.execute(sa.delete(WorkerRow).where(WorkerRow.seen_at < ago(3600)))
    session.execute(sa.delete(KeeperRow).where(KeeperRow.seen_at < ago(3600)))
    ended = JobRow.state.not_in(ACTIVE)
    session.execute(sa.delete(JobRow).where(ended, JobRow.finished_at < ago(KEPT_DAYS * _DAY)))
    session.execute(sa.delete(JobRow).where(ended, JobRow.is_canary, JobRow.finished_at < ago(_DAY)))
