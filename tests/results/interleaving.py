"""Two real connections in a chosen order: one waits in the middle of its transaction while the other runs into it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.session import Database
from tests import servers


@contextmanager
def results_session(database: servers.Database) -> Iterator[Session]:
    """A session of the service's own login role on a connection of its own; the test commits or rolls back."""
    connected = Database(database.url("results"), application="interleaving", pool_size=1)
    try:
        with Session(connected.engine, expire_on_commit=False) as session:
            yield session
    finally:
        connected.close()


class InBackground:
    """Runs a call in a thread. `waits_for_a_lock` says that it got as far as a lock that somebody holds."""

    def __init__(self, database: servers.Database, call: Callable[[], Any]) -> None:
        self._database = database
        self._outcome: list[Any] = []
        self._failure: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, args=(call,))
        self._thread.start()

    def _run(self, call: Callable[[], Any]) -> None:
        try:
            self._outcome.append(call())
        except BaseException as error:  # noqa: BLE001 - handed to the thread of the test
            self._failure.append(error)

    def is_running(self) -> bool:
        """Whether it has not come to an end yet."""
        return self._thread.is_alive()

    def waits_for_a_lock(self) -> bool:
        """Whether it stands at a lock within some seconds; False where it came to an end instead."""
        engine = sa.create_engine(self._database.superuser_url(), poolclass=sa.NullPool)
        query = sa.text(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            return servers.comes_true(
                lambda: bool(connection.execute(query).scalar_one()) or not self._thread.is_alive()
            ) and bool(self._thread.is_alive())

    def result(self) -> Any:
        """What the call returned; raises what it raised."""
        self._thread.join(timeout=30)
        assert not self._thread.is_alive(), "the call did not come to an end"
        if self._failure:
            raise self._failure[0]
        return self._outcome[0]
