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


def _drop_roles(servers: Servers, names: list[str]) -> None:
    with servers.postgres.connect() as connection:
        for name in names:
            if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone():
                connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@pytest.fixture
def ground(servers: Servers) -> Iterator[Ground]:
    """Made fresh for the test; database and roles are dropped after it."""
    mark = secrets.token_hex(4)
    name = f"empty_{mark}"
    with servers.postgres.connect() as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(postgres.OWNER))
        )
    database = Database(name, servers.postgres)
    urls = {
        service: servers.postgres.url(name, user=f"{service}_{mark}", password=f"{service}/pass%word")
        for service in SERVICES
    }
    yield Ground(database, urls)
    servers.drop(database)
    _drop_roles(servers, [f"{service}_{mark}" for service in SERVICES])
