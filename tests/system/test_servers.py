"""The servers and databases that tests get: real, migrated, their own, and gone afterwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session

from qisai.settings import SERVICES
from tests.servers import Database, Servers


def test_a_database_is_migrated_and_every_service_can_log_in(database: Database) -> None:
    for url in (database.owner_url, *(database.url(service) for service in SERVICES)):
        engine = create_engine(url)
        with engine.connect() as connection:
            assert connection.execute(text("SELECT count(*) FROM alembic_version")).scalar_one() == 1
        engine.dispose()


def test_databases_are_apart_and_dropped_even_while_in_use(servers: Servers) -> None:
    one, other = servers.clone(), servers.clone()
    engine = create_engine(one.owner_url)
    with engine.connect() as connection:
        connection.execute(text("CREATE TABLE only_here (x int)"))
        connection.commit()
        with create_engine(other.owner_url).connect() as elsewhere:
            assert elsewhere.execute(text("SELECT to_regclass('only_here')")).scalar_one() is None
        servers.drop(one)
    servers.drop(other)
    engine.dispose()
    with servers.postgres.connect() as connection:
        names = {row[0] for row in connection.execute("SELECT datname FROM pg_database")}
    assert not names & {one.name, other.name}


@pytest.mark.parametrize("turn", [1, 2])
def test_a_commit_in_a_session_of_the_shared_database_is_undone(owner_session: Session, turn: int) -> None:
    assert owner_session.execute(text("SELECT to_regclass('made_by_a_test')")).scalar_one() is None
    owner_session.execute(text("CREATE TABLE made_by_a_test (x int)"))
    owner_session.commit()
    owner_session.execute(text("INSERT INTO made_by_a_test VALUES (1)"))
    owner_session.rollback()
    assert owner_session.execute(text("SELECT count(*) FROM made_by_a_test")).scalar_one() == 0


def test_each_service_has_a_session_of_its_own_role(session_for: Callable[[str], Session]) -> None:
    roles = {session_for(service).execute(text("SELECT current_user")).scalar_one() for service in SERVICES}
    assert roles == {f"qisai_{service}" for service in SERVICES}
    assert session_for("results") is session_for("results")


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_has_an_empty_valkey_database(valkey: str, turn: int) -> None:
    with redis.Redis.from_url(valkey) as client:
        assert client.dbsize() == 0
        client.set("key", turn)
