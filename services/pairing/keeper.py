"""The keeper: sends and re-sends jobs, takes back expired leases, raises and clears alerts, prunes.

`python -m services.pairing.keeper`. As many as one likes may run: the one that holds an advisory lock works, the
others wait for it. It needs neither Redis nor the workers it watches.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
from services.pairing import canary, jobs, keeping, watching
from services.pairing.broker import Broker
from services.pairing.keeper_beat import Beat
from services.pairing.keeper_http import serve
from services.pairing.metrics import Metrics

log = structlog.get_logger()

LEADER_LOCK: Final = 0x7169_7361_6B65_6570
MOST_SILENT_MS: Final = 5_000
PRUNE_EVERY: Final = 120
"""Rounds of the loop between two prunings."""


class Keeper:
    """The loop and its state. `healthy` is whether the last round reached the database."""

    def __init__(
        self, database: Database, celery: Celery, *, interval_ms: int, max_attempts: int, limits: watching.Limits
    ) -> None:
        self.database = database
        self.celery = celery
        self.broker = Broker(celery.conf.broker_url)
        self.interval = interval_ms / 1000
        self.max_attempts = max_attempts
        self.limits = limits
        self.stopped = threading.Event()
        self.healthy = False
        self.leading = False
        self.times_led = 0
        self.beat = Beat(lease_seconds=limits.lease_seconds)
        self._led_since = float("-inf")
        self._round = 0

    def run(self) -> None:
        """Leads whenever it can, until stopped."""
        while not self.stopped.is_set():
            try:
                with self._leadership() as lead:
                    self.healthy = True
                    self.beat.write(self.database, is_leading=lead is not None)
                    if lead is None:
                        self.stopped.wait(max(self.interval, 1))
                        continue
                    log.info("keeper.leading")
                    self.leading = True
                    self.times_led += 1
                    self._led_since = time.monotonic()
                    while not self.stopped.is_set():
                        lead()
                        self.beat.write(self.database, is_leading=True)
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
        """The lock lives as long as its connection; the function yielded proves that it still does.

        A leader that stands still (stopped, swapped out, on a machine that hangs) must not keep the lock: its session
        is ended by the server when it has said nothing for a lease.
        """
        connection = self.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            idle = max(self.limits.lease_seconds * 1000, int(self.interval * 4000), MOST_SILENT_MS)
            connection.execute(sa.select(sa.func.set_config("idle_session_timeout", str(idle), False)))
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
        self._take_back()
        self._send()
        with self.database.snapshot() as session:
            is_early = time.monotonic() < self._led_since + self.limits.grace_seconds
            answers = self.broker.answers
            changes = watching.changes(session, limits=self.limits, broker_answers=answers, is_early=is_early)
        for change in changes:
            with self.database.transaction() as session:
                change.make(session)
        self._round += 1
        if self._round % PRUNE_EVERY == 1:
            with self.database.transaction() as session:
                keeping.prune(session)

    def _take_back(self) -> None:
        with self.database.transaction() as session:
            requeued, failed = jobs.take_back_expired(session, max_attempts=self.max_attempts)
            for row in sorted(failed, key=lambda row: row.event_id or 0):
                keeping.tell_failed(session, row)
        for job_id in requeued:
            log.warning("job.lease_expired", job_id=job_id)

    def _send(self) -> None:
        """Sends what is due, if the broker is there; else the rows wait, and all go out when it is back."""
        was_away = not self.broker.answers
        answers = self.broker.ask()
        with self.database.transaction() as session:
            if self.limits.canary_seconds:
                canary.ask(session, every_seconds=self.limits.canary_seconds)
            if not answers:
                return
            if was_away:
                jobs.send_all_again(session)
            due = jobs.due_for_sending(session)
        for row in due:
            if not send_pair(self.celery, job_id=row.id, queue=row.queue, request_id=row.request_id):
                self.broker.lost("a message was not taken")
                break


def main() -> None:
    """Runs the keeper until SIGTERM or SIGINT."""
    telemetry.set_up_logging("keeper")
    here = settings.pairing_settings()
    database = Database(here.database_url, application="keeper", pool_size=3)
    celery = make_celery(here.redis_url, prefix=here.redis_prefix, for_worker=False)
    keeper = Keeper(
        database,
        celery,
        interval_ms=here.keeper_interval_ms,
        max_attempts=here.max_attempts,
        limits=watching.Limits(
            lease_seconds=here.lease_seconds,
            canary_seconds=here.canary_seconds,
            grace_seconds=here.alert_grace_seconds,
        ),
    )

    def stop(_signal: int, _frame: FrameType | None) -> None:
        keeper.stopped.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    metrics = Metrics(database, keeper, limits=keeper.limits)
    server = serve(keeper, metrics, host=here.keeper_host, port=here.keeper_port)
    try:
        keeper.run()
        with suppress(Unavailable):
            keeper.beat.leave(database)
    finally:
        server.shutdown()
        keeper.broker.close()
        database.close()


if __name__ == "__main__":
    main()
