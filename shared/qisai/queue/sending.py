"""Messages are sent after commit, never before: a task must not start before its row is there."""

from __future__ import annotations

import structlog
from celery import Celery
from kombu.exceptions import OperationalError
from sqlalchemy import event
from sqlalchemy.orm import Session

from qisai.queue.names import TASK_PAIR

log = structlog.get_logger()


def send_pair(celery: Celery, *, job_id: int, queue: str, request_id: str) -> bool:
    """Sends the nudge for a job now. False where the broker does not take it: the keeper sends again."""
    try:
        celery.send_task(TASK_PAIR, args=[job_id, request_id], queue=queue, ignore_result=True)
    except (OperationalError, OSError) as error:
        log.warning("queue.send_failed", job_id=job_id, error=type(error).__name__)
        return False
    return True


def send_pair_after_commit(session: Session, celery: Celery, *, job_id: int, queue: str, request_id: str) -> None:
    """Sends the nudge when, and only if, this session's transaction commits."""

    def send(_session: Session) -> None:
        send_pair(celery, job_id=job_id, queue=queue, request_id=request_id)

    event.listen(session, "after_commit", send, once=True)
