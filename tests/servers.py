"""Real servers for tests: one PostgreSQL and one Valkey for each test process, and databases cloned from a template."""

from __future__ import annotations

import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from psycopg import sql

from qisai.local import postgres, valkey
from qisai.local.ports import free_port
from qisai.settings import SERVICES

TEMPLATE = "qisai_template"
"""Database that is migrated once and then only cloned."""


@contextmanager
def running(command: list[str], *, folder: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A server process in its folder, its output in `server.log` beside the data; stopped by SIGINT at the end."""
    with (folder.parent / f"{folder.name}.log").open("ab") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def running_postgres(data: Path, *, port: int | None = None) -> Iterator[postgres.PostgresServer]:
    """A PostgreSQL with its owner and empty database, its data in `data`; careless about durability."""
    server = postgres.prepare(
        data,
        port=free_port() if port is None else port,
        superuser_password="superuser-test",
        owner_password="owner-test",
        careless=True,
    )
    with running(server.command(), folder=data, environment=server.environment()) as process:
        server.wait_ready(process)
        server.make_owner()
        yield server


@contextmanager
def running_valkey(data: Path, *, port: int | None = None) -> Iterator[valkey.ValkeyServer]:
    """A Valkey with its folder in `data`."""
    server = valkey.prepare(data, port=free_port() if port is None else port, password="valkey-test")
    with running(server.command(), folder=data, environment=server.environment()) as process:
        server.wait_ready(process)
        yield server


@dataclass(frozen=True, slots=True)
class Database:
    """One migrated database. `url(service)` is the URL of a service's login role, `owner_url` the owner's."""

    name: str
    server: postgres.PostgresServer

    @property
    def owner_url(self) -> str:
        return self.server.url(self.name)

    def url(self, service: str) -> str:
        """URL for `registration`, `results`, `pairing` or `gateway`."""
        return service_urls(self.server, self.name)[service]

    def superuser_url(self) -> str:
        """URL for what a test has to do behind everybody's back, as ending connections."""
        return self.server.url(self.name, user=postgres.SUPERUSER)


def service_urls(server: postgres.PostgresServer, database: str) -> dict[str, str]:
    """For each service the URL of its login role; the roles are made by `migrate`."""
    return {name: server.url(database, user=f"qisai_{name}", password=f"{name}-test") for name in SERVICES}


@dataclass
class Servers:
    """The servers of one test process, each started when it is first asked for."""

    folder: Path
    stack: ExitStack = field(default_factory=ExitStack)
    _next_valkey: int = 0

    @cached_property
    def postgres(self) -> postgres.PostgresServer:
        return self.stack.enter_context(running_postgres(self.folder / "postgres"))

    @cached_property
    def valkey(self) -> valkey.ValkeyServer:
        return self.stack.enter_context(running_valkey(self.folder / "valkey"))

    @cached_property
    def template(self) -> str:
        """Name of the migrated template; nobody can connect to it, so that it can always be cloned."""
        from qisai.db.migrate import migrate  # here, so that tests without a database do not load it

        server = self.postgres
        with server.connect() as connection:
            name = sql.Identifier(TEMPLATE)
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(name))  # of a migration that failed
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(name, sql.Identifier(postgres.OWNER)))
            migrate(server.url(TEMPLATE), service_urls=service_urls(server, TEMPLATE))
            connection.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [TEMPLATE])
        return TEMPLATE

    def clone(self) -> Database:
        """A fresh migrated database. Drop it with `drop`."""
        template = sql.Identifier(self.template)
        name = f"test_{secrets.token_hex(6)}"
        with self.postgres.connect() as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY file_copy").format(
                    sql.Identifier(name), sql.Identifier(postgres.OWNER), template
                )
            )
        return Database(name, self.postgres)

    def drop(self, database: Database) -> None:
        """Drops a cloned database, whoever is still connected to it."""
        with self.postgres.connect() as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database.name)))

    def valkey_url(self) -> str:
        """URL of an empty numbered database of Valkey. There are 64; they are handed out in turn."""
        number = self._next_valkey % valkey.DATABASES
        self._next_valkey += 1
        return self.valkey.url(number)


@contextmanager
def servers_in_temporary_folder() -> Iterator[Servers]:
    """Servers that stop at the end; their folder is removed."""
    folder = Path(tempfile.mkdtemp(prefix="qisai-test-"))
    folder.chmod(0o711)  # PostgreSQL may have to run as another user than root
    try:
        with ExitStack() as stack:
            yield Servers(folder, stack)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def comes_true(condition: Callable[[], bool], *, seconds: float = 10.0) -> bool:
    """Waits until the condition holds; whether that came in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
