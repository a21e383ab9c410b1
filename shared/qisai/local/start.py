"""`qisai up`: from an empty folder to a platform that answers, and back to nothing running."""

from __future__ import annotations

import http.client
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import sqlalchemy as sa

from qisai import settings
from qisai.db.jobs import WorkerRow
from qisai.errors import Unavailable
from qisai.local import leftovers, preflight, processes, run_state, secrets
from qisai.local.output import Output
from qisai.local.processes import Installation
from qisai.local.supervisor import Supervisor

_SERVER_SECONDS: Final = 300.0
"""How long a database may take at start: it may have to go through its log after a crash."""
_REMIND_SECONDS: Final = 15.0


@dataclass(slots=True)
class _Run:
    """One run, from its lock to its end."""

    installation: Installation
    output: Output
    supervisor: Supervisor
    notice: list[str] = field(default_factory=list)
    """What people must not miss among the logs: the first administrator's password. Shown with the address, once."""

    def start_servers(self) -> None:
        """Starts the embedded servers one after the other and waits for each."""
        installation = self.installation
        checks: dict[str, Callable[[], bool]] = {}
        if installation.postgres is not None:
            checks["postgres"] = installation.postgres.is_ready
        if installation.valkey is not None:
            checks["valkey"] = installation.valkey.is_ready
        for process in processes.embedded_servers(installation):
            self.supervisor.add(process)
            self._wait({process.name: checks[process.name]}, seconds=_SERVER_SECONDS)
        if installation.postgres is not None and not self.supervisor.stop_requests:
            installation.postgres.make_owner()

    def migrate(self) -> None:
        """Brings the database up to date. Raises `Unavailable` where that fails; the reason was shown by then."""
        if self.supervisor.stop_requests:
            return

        def show(line: str) -> None:
            if line.startswith("first administrator"):
                self.notice.append(line)
            else:
                self.output.line("migrate", line)

        code = self.supervisor.run_once(processes.migration(self.installation), show=show)
        if code:
            raise Unavailable("migration-failed", "the database could not be migrated; the reason stands above")

    def start_platform(self) -> None:
        """Starts services, workers, keeper and gateway, and waits until all answer."""
        since = self._database_time()
        for process in processes.platform(self.installation):
            if self.supervisor.stop_requests:
                return
            self.supervisor.add(process)
        checks = {name: _answers(url) for name, url in self.installation.ready_urls().items()}
        self._wait({**checks, "workers": lambda: self._workers_since(since) >= self.installation.workers})

    def announce(self) -> None:
        """Prints the address, and what people must not miss."""
        lines = [f"qisai is ready: {self.installation.address}/", *self.notice, "Stop it with Ctrl-C."]
        self.notice.clear()
        self.output.plain("\n" + "\n".join(f"  {line}" for line in lines) + "\n")

    def _wait(self, checks: dict[str, Callable[[], bool]], *, seconds: float | None = None) -> None:
        """Waits for all checks, naming now and then what is still missing. Raises `Unavailable` when time is up."""
        missing = dict(checks)
        reminder = time.monotonic() + _REMIND_SECONDS

        def done() -> bool:
            nonlocal reminder
            for name in [name for name, check in missing.items() if check()]:
                del missing[name]
            if missing and time.monotonic() > reminder:
                self.supervisor.say(f"still waiting for {', '.join(sorted(missing))}")
                reminder = time.monotonic() + _REMIND_SECONDS
            return not missing

        if not self.supervisor.run_until(done, seconds=seconds) and not self.supervisor.stop_requests:
            raise Unavailable("silent", f"{', '.join(sorted(missing))} did not start; the reason stands above")

    def _owner(self) -> sa.Engine:
        return sa.create_engine(
            self.installation.owner_url,
            poolclass=sa.NullPool,
            hide_parameters=True,
            connect_args={"connect_timeout": 5},
        )

    def _database_time(self) -> object:
        if self.supervisor.stop_requests:
            return None
        with self._owner().connect() as connection:
            return connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()

    def _workers_since(self, since: object) -> int:
        alive = sa.select(sa.func.count()).select_from(WorkerRow).where(WorkerRow.seen_at >= since)
        try:
            with self._owner().connect() as connection:
                return int(connection.execute(alive).scalar_one())
        except sa.exc.OperationalError:  # it is being restarted; asked again in a moment
            return 0


def _answers(url: str) -> Callable[[], bool]:
    """Whether that address says it is ready; a question takes a second at most."""
    parts = urlsplit(url)

    def ask() -> bool:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=1)
        try:
            connection.request("GET", parts.path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return ask


def up(output: Output, *, var: Path, host: str, port: int) -> None:
    """Runs the platform until it is told to stop (SIGINT, SIGTERM).

    Raises `Invalid`, `Conflict` or `Unavailable` with one line that says what is wrong and what to do.
    """
    try:
        with _folder(var):
            count = leftovers.stop(var)
            if count:
                output.line("up", f"stopped {count} processes that an earlier run had left behind")
            preflight.check_port(host, port, choose="--port or QISAI_PORT")
            keeper = settings.number("QISAI_KEEPER_PORT", default=0, most=65_535)
            if keeper:
                preflight.check_port("127.0.0.1", keeper, choose="QISAI_KEEPER_PORT", patience=0.5)
            shutil.rmtree(var / "tmp", ignore_errors=True)
            (var / "tmp").mkdir(mode=0o700)
            _supervise(output, var=var, host=host, port=port)
    except OSError as error:
        raise Unavailable("file-trouble", preflight.explain(error, Path(error.filename or var))) from error
    except sa.exc.OperationalError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise Unavailable("database-away", f"the database went away: {reason}") from error


@contextmanager
def _folder(var: Path) -> Iterator[None]:
    """The data folder: usable, with room, and ours alone."""
    preflight.check_folder(var)
    lock = preflight.take_lock(var)
    try:
        embedded = settings.read("QISAI_DATABASE_URL") is None
        preflight.check_room(var, fresh=embedded and not (var / "postgres" / "PG_VERSION").exists())
        yield
    finally:
        lock.release()


def _supervise(output: Output, *, var: Path, host: str, port: int) -> None:
    kept = secrets.load_or_make(var / "secrets")
    installation = processes.settle(var=var, host=host, port=port, secrets=kept)
    myself = run_state.identify("up", os.getpid())
    assert myself is not None

    def record(alive: Sequence[run_state.Running]) -> None:
        state = run_state.RunState(
            address=installation.address, supervisor=myself, ports=installation.ports, processes=tuple(alive)
        )
        try:
            run_state.write(var, state)
        except OSError as error:  # a full disk is no reason to fall over; the next change writes it again
            output.line("up", f"run.json was not written: {error.strerror}")

    supervisor = Supervisor(output, on_change=record)
    run = _Run(installation, output, supervisor)
    with supervisor.signals():
        record([])
        try:
            run.start_servers()
            run.migrate()
            run.start_platform()
            if not supervisor.stop_requests:
                run.announce()
                supervisor.run()
            supervisor.say("stopping")
        finally:
            supervisor.stop()
            run_state.remove(var)
            for line in run.notice:  # a start that was broken off must not swallow a password
                output.line("migrate", line)
        supervisor.say("stopped")
