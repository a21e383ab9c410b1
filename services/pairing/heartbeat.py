"""The worker's row in the database: who it is and that it lives. Read by the keeper and the queue page."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Sequence

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

import qisai
from qisai.db.jobs import JobRow, JobState, WorkerRow
from qisai.db.session import Database
from qisai.errors import Unavailable
from qisai.kernel.model import ALGORITHM
from services.pairing.keeper_beat import tell_if_keeper_is_late

log = structlog.get_logger()


def interval_seconds(lease_seconds: int) -> float:
    """Pause between two beats: a third of a lease, as for the lease itself."""
    return lease_seconds / 3


class Heartbeat:
    """A thread of the worker's main process, with a connection of its own. Each beat says which job the worker has and
    how loaded its machine is, and looks whether a keeper keeps the queue: the keeper watches workers, they watch it."""

    def __init__(
        self, database_url: str, *, name: str, queues: Sequence[str], lease_seconds: int, grace_seconds: int
    ) -> None:
        self._database = Database(database_url, application="heartbeat", pool_size=1)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._interval = interval_seconds(lease_seconds)
        self._watches_from = time.monotonic() + grace_seconds
        self._row = {
            "name": name,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "release": qisai.__version__,
            "algorithms": [ALGORITHM],
            "queues": list(queues),
        }

    def start(self) -> None:
        """Begins to beat."""
        self._thread.start()

    def stop(self) -> None:
        """Takes the row back: this worker leaves on purpose."""
        self._stopped.set()
        self._thread.join(timeout=10)
        try:
            with self._database.transaction() as session:
                session.execute(sa.delete(WorkerRow).where(WorkerRow.name == self._row["name"]))
        except Unavailable:
            log.warning("heartbeat.not_removed")

    def _beat(self) -> None:
        while True:
            try:
                with self._database.transaction() as session:
                    self._write(session)
            except Unavailable:
                log.warning("heartbeat.failed")
            if self._stopped.wait(self._interval):
                return

    def _write(self, session: Session) -> None:
        mine = JobRow.worker.startswith(f"{self._row['name']}:", autoescape=True)
        held = sa.select(sa.func.max(JobRow.id)).where(JobRow.state == JobState.RUNNING, mine).scalar_subquery()
        now = {"job_id": held, "load": os.getloadavg()[0] / (os.cpu_count() or 1)}
        statement = insert(WorkerRow).values(**self._row, **now)
        seen = {"seen_at": sa.func.clock_timestamp(), **now}
        session.execute(statement.on_conflict_do_update(index_elements=["name"], set_=seen))
        if time.monotonic() >= self._watches_from:
            tell_if_keeper_is_late(session)
