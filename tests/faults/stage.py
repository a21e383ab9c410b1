"""A whole pairing installation whose every part can be broken: servers, proxies, workers, keepers, results service."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import redis
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.orm import Session

from qisai.db.accounts import Role
from qisai.db.jobs import JobRow, JobState
from qisai.db.migrate import migrate
from qisai.db.records import AlertRow
from qisai.db.rounds import DrawRow
from qisai.local import postgres, valkey
from qisai.local.ports import free_port
from qisai.queue.names import QUEUE_SMALL, QUEUES
from services.results.app import create_app
from tests import calls, fields
from tests.faults.proxy import Proxy
from tests.servers import Database, comes_true, service_urls

LEASE_SECONDS = 3
ATTEMPTS = 3
PREFIX = "faults:"
SMALL, BOTH = QUEUE_SMALL, ",".join(QUEUES)
STEERED, REAL = "tests.faults.steered_worker", "services.pairing.app"
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Part:
    """One process of the installation, in a group of its own, its output in a file."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, unless it runs."""
        if self.is_alive():
            return
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def family(self) -> list[int]:
        """Pids of the process and everything below it."""
        with suppress(psutil.NoSuchProcess):
            return [self.pid, *(child.pid for child in psutil.Process(self.pid).children(recursive=True))]
        return []

    def send(self, number: int) -> None:
        """A signal to the process and everything below it."""
        for pid in self.family():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """SIGKILL to the main process alone, as an out-of-memory killer does, and nobody told."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self, number: int = signal.SIGTERM, *, seconds: float = 20) -> None:
        """Ends it in order; what does not end is killed."""
        if not self.is_alive():
            return
        assert self.process is not None
        self.send(signal.SIGCONT)
        self.process.send_signal(number)
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self.process.wait()

    def said(self, words: str) -> int:
        """How often its output has these words."""
        return self.log.read_text(errors="replace").count(words)


@dataclass
class Stage:
    """The installation. Workers and keeper reach PostgreSQL and Valkey through proxies, results Valkey only."""

    folder: Path
    postgres: Part
    valkey: Part
    postgres_server: postgres.PostgresServer
    valkey_server: valkey.ValkeyServer
    to_postgres: Proxy
    to_valkey: Proxy
    database: Database
    environment: dict[str, str]
    worker_app: str
    workers: list[Part] = field(default_factory=list)
    keepers: list[Part] = field(default_factory=list)
    _app: Flask | None = None

    @property
    def steering(self) -> Path:
        return self.folder / "steering"

    def steer(self, behaviour: str) -> None:
        """What solvers do from now on: see `steered_solver`."""
        (self.steering / "behaviour.new").write_text(behaviour)
        (self.steering / "behaviour.new").rename(self.steering / "behaviour")

    def held(self, job_id: int, *, seconds: float = 30) -> int:
        """Waits until a solver has the job; its pid."""
        file = self.steering / f"held-{job_id}"
        assert comes_true(file.exists, seconds=seconds), f"no solver got job {job_id}: {self.job(job_id).state}"
        pid = int(file.read_text())
        file.unlink()
        return pid

    @property
    def app(self) -> Flask:
        assert self._app is not None
        return self._app

    def start_postgres(self) -> None:
        """Starts the server and waits until it answers."""
        self.postgres_server.clear_away()
        self.postgres.start()
        assert self.postgres.process is not None
        self.postgres_server.wait_ready(self.postgres.process)

    def start_valkey(self) -> None:
        """Starts the server, empty, and waits until it answers."""
        self.valkey.start()
        assert self.valkey.process is not None
        self.valkey_server.wait_ready(self.valkey.process)

    def add_worker(self, *, queues: str = BOTH, **more: str) -> Part:
        """One more worker process, not yet started."""
        name = f"worker{len(self.workers) + 1}"
        words = ["-m", "celery", "-q", "-A", self.worker_app, "worker", "-Q", queues]
        words += ["--concurrency", "1", "--hostname", f"{name}@%h", "--loglevel", "WARNING"]
        words += ["--without-gossip", "--without-mingle"]
        self.workers.append(self._python(name, words, **more))
        return self.workers[-1]

    def add_keeper(self, **more: str) -> Part:
        """One more keeper process, not yet started."""
        name = f"keeper{len(self.keepers) + 1}"
        port = str(free_port())
        part = self._python(name, ["-m", "services.pairing.keeper"], **{"QISAI_KEEPER_PORT": port, **more})
        self.keepers.append(part)
        return part

    def _python(self, name: str, words: list[str], **more: str) -> Part:
        command = [sys.executable, "-W", "ignore:You're running the worker with superuser", *words]
        return Part(name, command, {**self.environment, **more}, ROOT, self.folder / f"{name}.log")

    @contextmanager
    def owner(self) -> Iterator[Session]:
        """A committing session behind everybody's back."""
        with fields.owner_of(self.database.owner_url) as session:
            yield session

    def rows(self, statement: str, **values: Any) -> list[Any]:
        """Rows of a plain query, as they are committed now."""
        with self.owner() as session:
            return list(session.execute(sa.text(statement), values).all())

    def job(self, job_id: int) -> JobRow:
        """A job as it is now."""
        with self.owner() as session:
            return session.scalars(sa.select(JobRow).where(JobRow.id == job_id)).one()

    def ends(self, job_id: int, *states: JobState, seconds: float = 40) -> JobRow:
        """Waits for a job to end in one of these states; the job."""
        wanted = states or (JobState.SUCCEEDED,)
        assert comes_true(lambda: self.job(job_id).state in wanted, seconds=seconds), self.story(job_id)
        return self.job(job_id)

    def story(self, job_id: int) -> str:
        """What is known about a job that did not go as wanted."""
        row = self.job(job_id)
        tails = [
            f"{part.name}: {part.log.read_text(errors='replace')[-1500:]}" for part in (*self.workers, *self.keepers)
        ]
        return f"{row.state} attempts={row.attempts} {row.outcome} {row.worker}\n" + "\n".join(tails)

    def drafts(self, job_id: int) -> list[DrawRow]:
        """The draws that a job left."""
        with self.owner() as session:
            return list(session.scalars(sa.select(DrawRow).where(DrawRow.job_id == job_id)))

    def open_alerts(self) -> set[tuple[str, str]]:
        """Kind and key of open alerts."""
        with self.owner() as session:
            rows = session.execute(sa.select(AlertRow.kind, AlertRow.key).where(AlertRow.cleared_at.is_(None)))
            return {(row.kind, row.key) for row in rows}

    def alert_opens(self, kind: str, key: str = "all", *, seconds: float = 30) -> None:
        """Waits for an alert to be raised."""
        assert comes_true(lambda: (kind, key) in self.open_alerts(), seconds=seconds), self.open_alerts()

    def alert_clears(self, kind: str, key: str = "all", *, seconds: float = 30) -> None:
        """Waits for an alert to be cleared."""
        assert comes_true(lambda: (kind, key) not in self.open_alerts(), seconds=seconds), self.open_alerts()

    def broker(self) -> redis.Redis:
        """A client of the broker itself, past the proxy."""
        return redis.Redis.from_url(self.valkey_server.url())

    def person(self, role: Role, event_id: int | None = None, *, name: str = "孙裁判长") -> calls.Caller:
        """A new account with one role, who calls the results service."""
        with self.owner() as session:
            account_id = fields.account(session, name=name, role=role, event_id=event_id)
        return calls.caller(self.app, account_id=account_id)

    def is_whole(self) -> bool:
        """Whether every worker has a fresh heartbeat and nothing is wrong any more."""
        live = self.rows("SELECT count(*) AS n FROM worker WHERE seen_at > clock_timestamp() - interval '3.5 seconds'")
        wrong = {"no-live-worker", "broker-away", "canary-late", "queue-stuck"}
        return live[0].n >= len(self.workers) and not wrong & {kind for kind, _ in self.open_alerts()}

    def heal(self) -> None:
        """Everything runs and nothing waits: the state in which every test begins."""
        self.steer("normal")
        self.to_postgres.restore()
        self.to_valkey.restore()
        for part in (self.postgres, self.valkey, *self.workers, *self.keepers):
            if part.is_alive():
                part.send(signal.SIGCONT)
        self.start_postgres() if not self.postgres.is_alive() else None
        self.start_valkey() if not self.valkey.is_alive() else None
        del self.keepers[1:], self.workers[2:]
        for part in (*self.workers, *self.keepers):
            part.start()
        for file in self.steering.glob("held-*"):
            file.unlink()
        assert comes_true(self.is_whole, seconds=60), (self.open_alerts(), self.rows("SELECT * FROM worker"))


@contextmanager
def raised(
    *, workers: Sequence[str] = (BOTH, BOTH), environment: Mapping[str, str] | None = None, worker_app: str = STEERED
) -> Iterator[Stage]:
    """An installation in a temporary folder, all of it running; nothing of it is left at the end.

    `workers` are the queues of each worker; `environment` has settings in place of the short ones of the tests.
    """
    folder = Path(tempfile.mkdtemp(prefix="qisai-faults-"))
    folder.chmod(0o711)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        made = _make(folder, stack, environment or {}, worker_app)
        for queues in workers:
            made.add_worker(queues=queues)
        made.add_keeper()
        stack.callback(_stop, made)
        for part in (*made.workers, *made.keepers):
            part.start()
        yield made


def _make(folder: Path, stack: ExitStack, environment: Mapping[str, str], worker_app: str) -> Stage:
    (folder / "steering").mkdir()
    server = postgres.prepare(
        folder / "postgres",
        port=free_port(),
        superuser_password="superuser-test",
        owner_password="owner-test",
        careless=True,
    )
    broker = valkey.prepare(folder / "valkey", port=free_port(), password="valkey-test")
    to_postgres, to_valkey = Proxy(server.port), Proxy(broker.port)
    stack.callback(to_postgres.close)
    stack.callback(to_valkey.close)
    database = Database(postgres.DATABASE, server)
    redis_url = broker.url().replace(f":{broker.port}/", f":{to_valkey.port}/")
    made = Stage(
        folder=folder,
        postgres=Part("postgres", server.command(), server.environment(), server.data, folder / "postgres.log"),
        valkey=Part("valkey", broker.command(), broker.environment(), broker.data, folder / "valkey.log"),
        postgres_server=server,
        valkey_server=broker,
        to_postgres=to_postgres,
        to_valkey=to_valkey,
        database=database,
        worker_app=worker_app,
        environment={
            **{name: value for name, value in os.environ.items() if not name.startswith("QISAI_")},
            "QISAI_PAIRING_DATABASE_URL": database.url("pairing").replace(f":{server.port}/", f":{to_postgres.port}/"),
            "QISAI_REDIS_URL": redis_url,
            "QISAI_REDIS_PREFIX": PREFIX,
            "QISAI_PAIRING_LEASE_SECONDS": str(LEASE_SECONDS),
            "QISAI_PAIRING_MAX_ATTEMPTS": str(ATTEMPTS),
            "QISAI_SOLVER_MEMORY_MB": "700",
            "QISAI_BREAKER_PAUSE_SECONDS": "1",
            "QISAI_CANARY_SECONDS": "3",
            "QISAI_ALERT_GRACE_SECONDS": "3",
            "QISAI_KEEPER_INTERVAL_MS": "50",
            "STEERING": str(folder / "steering"),
            **environment,
        },
    )
    made.steer("normal")
    stack.callback(made.valkey.stop, signal.SIGINT)
    stack.callback(made.postgres.stop, signal.SIGINT)
    made.start_postgres()
    made.start_valkey()
    server.make_owner()
    migrate(database.owner_url, service_urls=service_urls(server, database.name))
    settings = calls.service_environment("results", database, redis_url=redis_url, prefix=PREFIX)
    logs = {"QISAI_LOG_LEVEL": made.environment.get("QISAI_LOG_LEVEL", "info")}
    made._app = stack.enter_context(calls.service_app(create_app, settings | logs))
    return made


def _stop(made: Stage) -> None:
    for part in (*made.workers, *made.keepers):
        if part.is_alive():
            part.send(signal.SIGCONT)
            assert part.process is not None
            part.process.terminate()
    for part in (*made.workers, *made.keepers):
        part.stop(seconds=5)


def soon(condition: Callable[[], bool], *, seconds: float = 30) -> None:
    """Waits for a condition that must come true."""
    assert comes_true(condition, seconds=seconds)


def pause(seconds: float) -> None:
    """Time in which something must not happen."""
    time.sleep(seconds)
