"""Connections and transactions. Opened only in views, tasks and the keeper; operations flush and never commit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session, sessionmaker

from qisai.errors import Unavailable

DATABASE_AWAY: Final = "database-away"
_USED: Final = "qisai.used"
PING_AFTER_SECONDS: Final = 1.0
"""A pooled connection that rested longer is asked whether it lives before it is used again."""


class Database:
    """One engine with its pool. Dispose it after a fork (`dispose_after_fork`)."""

    def __init__(
        self,
        url: str,
        *,
        application: str,
        pool_size: int = 8,
        statement_timeout_ms: int = 15_000,
        ping_after_seconds: float = PING_AFTER_SECONDS,
        echo: bool = False,
    ) -> None:
        self._ping_after_seconds = ping_after_seconds
        self.engine = sa.create_engine(
            url,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_use_lifo=True,  # the connection that was just used has its plans and pages at hand
            pool_timeout=5,
            pool_recycle=1800,
            echo=echo,
            hide_parameters=True,  # an error is logged with its statement; the values are of people
            connect_args={
                "application_name": f"qisai-{application}",
                "connect_timeout": 5,
                # A server that vanished without a word is given up within half a minute, not after the hours of TCP.
                "keepalives_idle": 15,
                "keepalives_interval": 5,
                "keepalives_count": 3,
                "tcp_user_timeout": 30_000,
                "options": f"-c statement_timeout={statement_timeout_ms} -c idle_in_transaction_session_timeout=30000"
                " -c lock_timeout=5000 -c timezone=UTC",
            },
        )
        sa.event.listen(self.engine, "checkout", self._ping_if_it_rested)
        sa.event.listen(self.engine, "checkin", self._note_use)
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)
        self._readers = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session in one transaction: committed at the end, rolled back on any exception.

        Raises `Unavailable` where the database does not answer, before or during the work.
        """
        try:
            with self._sessions.begin() as session:
                yield session
        except (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError) as error:
            raise unavailable(error) from error

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection whose statements each stand alone, without a transaction around them: for a few quick reads.

        Raises `Unavailable` as `transaction` does.
        """
        try:
            with self._readers.connect() as connection:
                yield connection
        except (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError) as error:
            raise unavailable(error) from error

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """A read-only REPEATABLE READ session: everything read inside is of one moment."""
        try:
            with self._sessions.begin() as session:
                session.connection(
                    execution_options={"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
                )
                yield session
        except (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError) as error:
            raise unavailable(error) from error

    def _ping_if_it_rested(self, connection: Any, record: Any, _proxy: Any) -> None:
        """Asks whether a pooled connection still lives, unless it was used a moment ago: a round trip saved each time.

        A server that went away within that moment costs one `Unavailable`; then the pool drops all its connections.
        """
        used: float | None = record.info.get(_USED)
        if used is not None and time.monotonic() - used > self._ping_after_seconds:
            try:
                self.engine.dialect.do_ping(connection)
            except self.engine.dialect.loaded_dbapi.Error as error:
                raise sa.exc.DisconnectionError from error

    def _note_use(self, _connection: Any, record: Any) -> None:
        record.info[_USED] = time.monotonic()

    def dispose_after_fork(self) -> None:
        """Forgets the parent's connections without closing them."""
        self.engine.dispose(close=False)

    def close(self) -> None:
        """Closes all pooled connections."""
        self.engine.dispose()


def unavailable(error: Exception) -> Unavailable:
    """The error a caller gets when the database does not answer, is full, or a lock is not to be had in time."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
    if state == "55P03":
        return Unavailable("busy", "Somebody else is changing the same thing; try again in a moment.")
    if state == "57014":
        return Unavailable("too-slow", "The database took too long for this; try again in a moment.")
    if state in ("40001", "40P01"):
        return Unavailable("busy", "Two changes got in each other's way; try again.", retry_after=1)
    if state.startswith("53"):
        return Unavailable("database-full", "The database has no room or no free connection; nothing was changed.")
    return Unavailable(DATABASE_AWAY, "The database does not answer; nothing was changed. Try again in a moment.")


def now(session: Session) -> datetime:
    """Time the transaction began, by the database's clock, in UTC. Asked once a transaction."""
    cached: datetime | None = session.info.get("now")
    transaction = session.get_transaction()
    if cached is None or session.info.get("now_of") is not transaction:
        cached = session.execute(sa.select(sa.func.now())).scalar_one()
        session.info["now"] = cached
        session.info["now_of"] = transaction
    return cached


def compare_and_set(session: Session, table: type[Any], *, where: list[Any], values: dict[str, Any]) -> bool:
    """Updates the one row that `where` names and says whether it was there. The version test is part of `where`."""
    result = session.execute(
        sa.update(table).where(*where).values(**values).execution_options(synchronize_session=False)
    )
    return bool(result.rowcount == 1)  # type: ignore[attr-defined]
