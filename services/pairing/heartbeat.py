"""The worker's row in the database: who it is and that it lives. Read by the keeper and the queue page."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Sequence

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects.postgresql import insert

import qisai
from qisai.db.jobs import WorkerRow
from qisai.db.session import Database
from qisai.errors import Unavailable
from qisai.kernel.model import ALGORITHM

log = structlog.get_logger()

INTERVAL_SECONDS = 5


class Heartbeat:
    """A thread of the worker's main process, with a connection of its own."""

    def __init__(self, database_url: str, *, queues: Sequence[str]) -> None:
        self._database = Database(database_url, application="heartbeat", pool_size=1)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._row = {
            "name": f"{socket.gethostname()}:{os.getpid()}",
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
                    session.execute(
                        insert(WorkerRow)
                        .values(**self._row)
                        .on_conflict_do_update(index_elements=["name"], set_={"seen_at": sa.func.clock_timestamp()})
                    )
            except Unavailable:
                log.warning("heartbeat.failed")
            if self._stopped.wait(INTERVAL_SECONDS):
                return
