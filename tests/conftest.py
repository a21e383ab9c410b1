"""Fixtures that every test may use. Nothing is started for tests that do not ask for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
import redis
from sqlalchemy import Engine, create_engine
from sqlalchemy.orm import Session

from tests.servers import Database, Servers, servers_in_temporary_folder


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow files first where several workers share the run, so that none of them is left alone with one at the end."""
    if hasattr(config, "workerinput"):
        slow = {item.path for item in items if item.get_closest_marker("slow")}
        items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """One PostgreSQL and one Valkey for this test process, each started at first use."""
    with servers_in_temporary_folder() as started:
        yield started


@pytest.fixture
def database(servers: Servers) -> Iterator[Database]:
    """A migrated database of the test's own, for tests with a second connection or process."""
    cloned = servers.clone()
    try:
        yield cloned
    finally:
        servers.drop(cloned)


@pytest.fixture(scope="session")
def shared_database(servers: Servers) -> Iterator[Database]:
    """The database that `owner_session` and `session_for` work in. Nothing may ever be committed to it."""
    cloned = servers.clone()
    yield cloned
    servers.drop(cloned)


@pytest.fixture(scope="session")
def engine_for(shared_database: Database) -> Iterator[Callable[[str], Engine]]:
    """Engines on the shared database by login: a service's name or `owner`."""
    engines: dict[str, Engine] = {}

    def engine(login: str) -> Engine:
        if login not in engines:
            engines[login] = create_engine(
                shared_database.owner_url if login == "owner" else shared_database.url(login)
            )
        return engines[login]

    yield engine
    for made in engines.values():
        made.dispose()


@pytest.fixture
def session_for(engine_for: Callable[[str], Engine]) -> Iterator[Callable[[str], Session]]:
    """A session as a service's login role (or `owner`) whose commits are savepoints, undone after the test.

    Each call with the same login returns the same session. Sessions of two logins do not see each other's rows: a test
    that needs that takes `database`.
    """
    with ExitStack() as stack:
        sessions: dict[str, Session] = {}

        def session(login: str) -> Session:
            if login not in sessions:
                connection = stack.enter_context(engine_for(login).connect())
                transaction = connection.begin()
                stack.callback(transaction.rollback)
                sessions[login] = stack.enter_context(
                    Session(bind=connection, join_transaction_mode="create_savepoint", expire_on_commit=False)
                )
            return sessions[login]

        yield session


@pytest.fixture
def owner_session(session_for: Callable[[str], Session]) -> Session:
    """A session as the owner of the schema, undone after the test."""
    return session_for("owner")


@pytest.fixture
def valkey(servers: Servers) -> str:
    """URL of a numbered Valkey database of the test's own, empty at the start."""
    url = servers.valkey_url()
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return url
