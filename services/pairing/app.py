"""The worker's Celery application: `celery -A services.pairing.app worker -Q pairing.small,pairing.large`."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import socket
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import structlog
from celery.signals import (
    setup_logging,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)

from qisai import settings, telemetry
from qisai.db.session import Database
from qisai.queue.app import make_celery
from services.pairing.heartbeat import Heartbeat
from services.pairing.priority import step_back
from services.pairing.solving import SOLVER_COMMAND, Solver
from services.pairing.terms import Terms

log = structlog.get_logger()

SETTINGS = settings.pairing_settings()
app = make_celery(SETTINGS.redis_url, prefix=SETTINGS.redis_prefix, for_worker=True)
app.conf.update(
    imports=["services.pairing.tasks"],
    # The second wall, further out than any deadline of a solver (which is enforced on the child process).
    task_soft_time_limit=3_900,
    task_time_limit=4_000,
    worker_proc_alive_timeout=30,
)
_PR_SET_PDEATHSIG = 1
_stopping = mmap.mmap(-1, 1)
"""Shared with the pool's processes, which are forked: the main process has been told to stop."""


def is_stopping() -> bool:
    """Whether this worker was told to end: the job at hand is finished, another is not begun."""
    return _stopping[0] != 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What one pool process works with."""

    database: Database
    solver: Solver
    terms: Terms


@cache
def bench() -> Bench:
    """The database, the warm solver and the terms of this pool process, made after the fork."""
    return Bench(
        database=Database(SETTINGS.database_url, application="worker", pool_size=2),
        solver=Solver(memory_bytes=SETTINGS.solver_memory_mb << 20, command=SOLVER_COMMAND),
        terms=Terms(
            worker=f"{worker_name(os.getppid())}:{os.getpid()}",
            queues=tuple(app.amqp.queues.consume_from),
            lease_seconds=SETTINGS.lease_seconds,
            max_attempts=SETTINGS.max_attempts,
            deadline_ms=SETTINGS.deadline_ms,
            breaker_pause_seconds=SETTINGS.breaker_pause_seconds,
        ),
    )


def worker_name(pid: int) -> str:
    """The name of the worker whose main process has this pid; its pool processes add their own."""
    return f"{socket.gethostname()}:{pid}"


@setup_logging.connect  # type: ignore[untyped-decorator]
def _logging(**_kwargs: Any) -> None:
    telemetry.set_up_logging("worker")


@worker_init.connect  # type: ignore[untyped-decorator]
def _before_the_pool(**_kwargs: Any) -> None:
    step_back()


@worker_process_init.connect  # type: ignore[untyped-decorator]
def _pool_process(**_kwargs: Any) -> None:
    """A pool process dies with its worker, and starts its solver ahead of the first job."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    bench.cache_clear()
    bench().solver.start()


@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def _pool_process_ends(**_kwargs: Any) -> None:
    bench().solver.kill()
    bench().database.close()


_heartbeats: list[Heartbeat] = []


@worker_ready.connect  # type: ignore[untyped-decorator]
def _ready(sender: Any = None, **_kwargs: Any) -> None:
    queues = sorted(queue.name for queue in sender.task_consumer.queues) if sender is not None else []
    name = worker_name(os.getpid())
    heartbeat = Heartbeat(
        SETTINGS.database_url,
        name=name,
        queues=queues,
        lease_seconds=SETTINGS.lease_seconds,
        grace_seconds=SETTINGS.alert_grace_seconds,
    )
    _heartbeats.append(heartbeat)
    heartbeat.start()


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def _shutting_down(**_kwargs: Any) -> None:
    _stopping[0] = 1
    log.info("worker.stopping")


@worker_shutdown.connect  # type: ignore[untyped-decorator]
def _shutdown(**_kwargs: Any) -> None:
    for heartbeat in _heartbeats:
        heartbeat.stop()
