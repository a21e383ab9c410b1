"""The keeper: sends and re-sends jobs, takes back expired leases, raises and clears alerts, prunes.

`python -m services.pairing.keeper`. As many as one likes may run: the one that holds an advisory lock works, the
others wait for it. It needs neither Redis nor the workers it watches.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import sqlalchemy as sa
import structlog
from celery import Celery

from qisai import settings, telemetry
from qisai.db.session import Database
from qisai.errors import Unavailable
from qisai.queue.app import make_celery
from qisai.queue.sending import send_pair
from services.pairing import jobs, keeping
from services.pairing.keeper_http import serve

log = structlog.get_logger()

LEADER_LOCK: Final = 0x7169_7361_6B65_6570
PRUNE_EVERY: Final = 120
"""Rounds of the loop between two prunings."""


class Keeper:
    """The loop and its state. `healthy` is whether the last round reached the database."""

    def __init__(self, database: Database, celery: Celery, *, interval_ms: int, max_attempts: int) -> None:
        self.database = database
        self.celery = celery
        self.interval = interval_ms / 1000
        self.max_attempts = max_attempts
        self.stopped = threading.Event()
        self.healthy = False
        self.leading = False
        self.times_led = 0
        self._round = 0

    def run(self) -> None:
        """Leads whenever it can, until stopped."""
        while not self.stopped.is_set():
            try:
                with self._leadership() as lead:
                    self.healthy = True
                    if lead is None:
                        self.stopped.wait(max(self.interval, 1))
                        continue
                    log.info("keeper.leading")
                    self.leading = True
                    self.times_led += 1
                    while not self.stopped.is_set():
                        lead()
                        self.look()
                        self.stopped.wait(self.interval)
            except (Unavailable, sa.exc.DBAPIError) as error:
                self.healthy = False
                log.warning("keeper.database_away", error=type(error).__name__)
                self.stopped.wait(1)
            finally:
                self.leading = False

    @contextmanager
    def _leadership(self) -> Iterator[Callable[[], None] | None]:
        """The lock lives as long as its connection; the function yielded proves that it still does."""
        connection = self.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            got = connection.execute(sa.select(sa.func.pg_try_advisory_lock(LEADER_LOCK))).scalar_one()

            def prove() -> None:
                connection.execute(sa.text("SELECT 1"))

            yield prove if got else None
        finally:
            # Never back to the pool while it may hold the lock.
            connection.invalidate()
            connection.close()

    def look(self) -> None:
        """One round: expired leases first, then what is due, then alerts, now and then pruning."""
        with self.database.transaction() as session:
            requeued, failed = jobs.take_back_expired(session, max_attempts=self.max_attempts)
            keeping.tell_failed(session, failed)
            due = jobs.due_for_sending(session)
        for job_id in requeued:
            log.warning("job.lease_expired", job_id=job_id)
        for row in due:
            if not send_pair(self.celery, job_id=row.id, queue=row.queue, request_id=row.request_id):
                break  # the broker is away: the rows' back-off brings them up again
        with self.database.transaction() as session:
            keeping.watch(session)
        self._round += 1
        if self._round % PRUNE_EVERY == 1:
            with self.database.transaction() as session:
                keeping.prune(session)


def main() -> None:
    """Runs the keeper until SIGTERM or SIGINT."""
    telemetry.set_up_logging("keeper")
    here = settings.pairing_settings()
    database = Database(here.database_url, application="keeper", pool_size=3)
    celery = make_celery(here.redis_url, prefix=here.redis_prefix, for_worker=False)
    keeper = Keeper(database, celery, interval_ms=here.keeper_interval_ms, max_attempts=here.max_attempts)

    def stop(_signal: int, _frame: FrameType | None) -> None:
        keeper.stopped.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    server = serve(keeper, database, host=here.keeper_host, port=here.keeper_port)
    try:
        keeper.run()
    finally:
        server.shutdown()
        database.close()


if __name__ == "__main__":
    main()
