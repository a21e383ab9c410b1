"""Pooled connections whose server went away meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from qisai.db.session import PING_AFTER_SECONDS, Database, unavailable
from qisai.db.statements import Statement
from qisai.errors import Unavailable
from tests import servers


@pytest.fixture
def pooled(database: servers.Database) -> Iterator[Database]:
    """A pool with one connection that was just used."""
    made = Database(database.url("results"), application="pool", pool_size=1)
    ask(made)
    yield made
    made.close()


def ask(database: Database) -> int:
    with database.transaction() as session:
        return session.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()


def end_backends(database: servers.Database, *, count: int = 1) -> None:
    """As a restarted server does."""
    engine = sa.create_engine(database.superuser_url(), poolclass=sa.NullPool)
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'qisai-pool'"
    with engine.connect() as connection:
        assert len(connection.execute(sa.text(query)).all()) == count
    engine.dispose()


def test_a_connection_that_rested_is_asked_before_it_is_used(database: servers.Database, pooled: Database) -> None:
    """Pins the ping: the caller notices nothing."""
    before = ask(pooled)
    end_backends(database)
    time.sleep(PING_AFTER_SECONDS + 0.1)
    assert ask(pooled) != before


def test_a_server_gone_a_moment_ago_costs_one_clear_answer(database: servers.Database, pooled: Database) -> None:
    ask(pooled)
    end_backends(database)
    with pytest.raises(Unavailable) as refused:
        ask(pooled)
    assert refused.value.slug == "database-away"
    assert ask(pooled) > 0


def test_single_reads_need_no_transaction(pooled: Database) -> None:
    with pooled.reading() as connection:
        first = connection.execute(sa.text("SELECT now()")).scalar_one()
        assert connection.execute(sa.text("SELECT now()")).scalar_one() > first


WAITING = Statement(sa.text("SELECT set_config('lock_timeout', :longest, true) AS longest"))
LOCKING = Statement(sa.text("SELECT id FROM round"))


def test_a_statement_sent_past_sqlalchemy_drops_all_connections_cut_with_its_own(database: servers.Database) -> None:
    """Pins the disposal in `Statement.first`: as with SQLAlchemy's own, the call after the failed one works."""
    pooled = Database(database.url("results"), application="pool", pool_size=2)
    with pooled.transaction() as one, pooled.transaction() as another:
        for session in (one, another):
            WAITING.first(session.connection(), {"longest": "5s"})
    end_backends(database, count=2)
    with pytest.raises(Unavailable) as refused, pooled.transaction() as session:
        WAITING.first(session.connection(), {"longest": "5s"})
    assert refused.value.slug == "database-away"
    with pooled.transaction() as session:
        found = WAITING.first(session.connection(), {"longest": "5s"})
    assert found is not None
    assert found.longest == "5s"
    pooled.close()


def test_a_statement_that_waits_too_long_for_a_lock_says_so(database: servers.Database, pooled: Database) -> None:
    engine = sa.create_engine(database.owner_url, poolclass=sa.NullPool)
    with engine.begin() as holder:
        holder.execute(sa.text("LOCK TABLE round IN ACCESS EXCLUSIVE MODE"))
        with pooled.transaction() as session:
            WAITING.first(session.connection(), {"longest": "50ms"})
            with pytest.raises(sa.exc.OperationalError) as refused:
                LOCKING.first(session.connection(), {})
    assert unavailable(refused.value).slug == "busy"
    assert ask(pooled) > 0
    engine.dispose()
