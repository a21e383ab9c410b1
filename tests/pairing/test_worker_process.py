"""A real Celery worker over a real Valkey: the whole way from job row to draft, and what kill -9 leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import sqlalchemy as sa

from qisai.db.jobs import JobState, WorkerRow
from qisai.db.rounds import DrawRow
from qisai.db.session import Database as Connections
from qisai.queue.app import make_celery
from qisai.queue.sending import send_pair
from services.pairing.priority import NICE
from tests.fields import owner_of
from tests.pairing.asking import event_with_job, job, rows
from tests.pairing.test_keeper import at_work, keeper_of
from tests.servers import Database, comes_true


@contextmanager
def worker(database: Database, valkey: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process for both queues."""
    environment = {
        **os.environ,
        "QISAI_PAIRING_DATABASE_URL": database.url("pairing"),
        "QISAI_REDIS_URL": valkey,
        "QISAI_REDIS_PREFIX": "test:",
        "QISAI_PAIRING_LEASE_SECONDS": "3",
    }
    command = [sys.executable, "-m", "celery", "-A", "services.pairing.app", "worker", "--concurrency", "1"]
    command += ["--queues", "pairing.small,pairing.large", "--without-gossip", "--without-mingle", "--loglevel", "info"]
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_message_becomes_a_draft_and_the_worker_shows_its_heartbeat(database: Database, valkey: str) -> None:
    _, job_id = event_with_job(database, entrants=10)
    with worker(database, valkey) as process:
        celery = make_celery(valkey, prefix="test:", for_worker=False)
        assert send_pair(celery, job_id=job_id, queue="pairing.small", request_id="request-of-a-test")
        assert comes_true(lambda: job(database, job_id).state is JobState.SUCCEEDED, seconds=40)
        (heartbeat,) = rows(database, WorkerRow)
        assert heartbeat.pid == process.pid
        assert sorted(heartbeat.queues) == ["pairing.large", "pairing.small"]
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        assert {one.nice() for one in family} == {max(NICE, os.nice(0))}, "people come first"
    assert rows(database, WorkerRow) == [], "a worker that leaves on purpose takes its heartbeat along"


def test_a_worker_killed_while_it_holds_a_job_loses_nothing(
    database: Database, valkey: str, pairing: Connections
) -> None:
    """The lease runs out, the keeper sends again, another worker draws; nothing of the dead one stays."""
    _, job_id = event_with_job(database, entrants=10)
    with owner_of(database.owner_url) as session:
        # Holding the entrants' table keeps the worker in the middle of its job, after the claim.
        session.execute(sa.text("LOCK TABLE entrant IN ACCESS EXCLUSIVE MODE"))
        with worker(database, valkey) as process:
            celery = make_celery(valkey, prefix="test:", for_worker=False)
            assert send_pair(celery, job_id=job_id, queue="pairing.small", request_id="request-of-a-test")
            assert comes_true(lambda: state_of(database, job_id) == "running", seconds=40)
            family = [process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))]
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            assert comes_true(lambda: not any(alive(pid) for pid in family)), "no orphan of the killed worker"
    assert job(database, job_id).state is JobState.RUNNING, "nobody has told the row yet"
    with worker(database, valkey), at_work(keeper_of(pairing, valkey)):
        assert comes_true(lambda: job(database, job_id).state is JobState.SUCCEEDED, seconds=40)
    assert job(database, job_id).attempts == 2
    assert len(rows(database, DrawRow)) == 1


def state_of(database: Database, job_id: int) -> str:
    """The job's state, read without the tables that the test holds."""
    with owner_of(database.owner_url) as session:
        return str(
            session.execute(sa.text("SELECT state FROM pairing_job WHERE id = :id"), {"id": job_id}).scalar_one()
        )


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
