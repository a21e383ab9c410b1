"""Databases and roles that nobody migrated yet."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from psycopg import sql

from qisai.db.migrate import MigrationReport, migrate
from qisai.local import postgres
from qisai.settings import SERVICES
from tests.servers import Database, Servers


@dataclass(frozen=True, slots=True)
class Ground:
    """An empty database and, for each service, the URL of a role that does not exist yet."""

    database: Database
    service_urls: dict[str, str]

    @property
    def owner_url(self) -> str:
        return self.database.owner_url

    def role(self, service: str) -> str:
        return self.service_urls[service].split("//")[1].split(":")[0]

    def migrate(self, **options: float) -> MigrationReport:
        return migrate(self.owner_url, service_urls=self.service_urls, **options)  # type: ignore[arg-type]

    def as_superuser(self, statement: str) -> list[tuple[object, ...]]:
        """Runs one statement in this database as the server's superuser."""
        with self.database.server.connect(self.database.name) as connection:
            cursor = connection.execute(statement)
            return list(cursor) if cursor.description else []


@pytest.fixture(scope="session")
def bare_database(servers: Servers) -> Iterator[Database]:
    """A database that `ground` empties for each test: that is faster than making one each time."""
    database = Database(f"bare_{secrets.token_hex(4)}", servers.postgres)
    with servers.postgres.connect() as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(database.name), sql.Identifier(postgres.OWNER))
        )
    yield database
    servers.drop(database)


@pytest.fixture
def ground(bare_database: Database) -> Iterator[Ground]:
    """As a new database is, with names of roles that nobody has; the roles are dropped after the test."""
    mark = secrets.token_hex(4)
    server, name = bare_database.server, bare_database.name
    urls = {
        service: server.url(name, user=f"{service}_{mark}", password=f"{service}/pass%word") for service in SERVICES
    }
    yield Ground(bare_database, urls)
    with server.connect(name) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND usename <> %s",
            [name, postgres.SUPERUSER],
        )
        connection.execute("DROP SCHEMA public CASCADE")
        for row in connection.execute("SELECT rolname FROM pg_roles WHERE rolname LIKE %s", [f"%_{mark}"]).fetchall():
            connection.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(sql.Identifier(row[0])))
        connection.execute("CREATE SCHEMA public AUTHORIZATION pg_database_owner")
        connection.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")
        connection.execute(sql.SQL("GRANT CONNECT, TEMPORARY ON DATABASE {} TO PUBLIC").format(sql.Identifier(name)))
