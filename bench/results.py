"""Writing results: against a bare service with the same SQL, and while workers pair large rounds.

One installation (PostgreSQL, Valkey, a worker, the keeper), with the results service and the gateway under gunicorn as
they are shipped, and the bare pair under gunicorn with the same workers and threads beside them.
"""

from __future__ import annotations

import secrets
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
import sqlalchemy as sa

from bench.queue import SETTINGS, add_event
from bench.referees import Orders, Report, write
from bench.report import machine, table
from qisai.db.accounts import Role
from tests import fields
from tests.faults.stage import BOTH, REAL, Stage, raised
from tests.gateway.harness import Gateway, gunicorn, new_keys

BOARDS = 60
REFEREES = 8
SECONDS = 6.0
TURNS = 4
"""Ours and bare are measured in turns, so that a noisy minute hits both."""
PACE = 10.0
"""Writes a second of each of four referees while workers pair: a busy hall."""
FIELDS = (500, 1000, 5000)
LOOK_SECONDS = 0.5
PAUSE = 0.01
"""Seconds between two looks at locks."""
GTHREAD = ("--worker-class", "gthread", "--workers", "2", "--threads", "8")
GEVENT = ("--worker-class", "gevent", "--workers", "2", "--worker-connections", "4000")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hall:
    """What is measured: the installation, its gateway, and the bare proxy."""

    stage: Stage
    gateway: Gateway
    chief_token: str
    token: str
    bare_url: str


def run() -> str:
    """Both parts on one installation; Markdown."""
    with _hall() as hall:
        texts = [machine(), throughput(hall), while_pairing(hall)]
    return "\n\n".join(texts)


@contextmanager
def _hall() -> Iterator[Hall]:
    with ExitStack() as stack:
        stage = stack.enter_context(raised(workers=(BOTH,), environment=SETTINGS, worker_app=REAL))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        keys = new_keys()
        environment = {
            "QISAI_RESULTS_DATABASE_URL": stage.database.url("results"),
            "QISAI_REDIS_URL": stage.valkey_server.url(),  # itself, not the proxy that tests break
            "QISAI_ASSERTION_PUBLIC_KEY": keys[1],
            "QISAI_LOG_LEVEL": "warning",
        }
        app = "services.results.app:create_app()"
        service = stack.enter_context(
            gunicorn(app, log=folder / "results.log", environment=environment, options=GTHREAD)
        )
        gateway = Gateway(
            stack.enter_context(_gateway(stage, folder, environment, keys=keys, service=service)),
            keys[1],
            stage.database,
            service,
            folder / "gateway.log",
        )
        account_id = gateway.account(Role.REFEREE)
        address = stage.database.url("results").replace("postgresql+psycopg://", "postgresql://")
        bare = stack.enter_context(
            gunicorn(
                "bench.bare:create_service()",
                log=folder / "bare.log",
                environment={"BARE_DATABASE_URL": address, "BARE_ACCOUNT_ID": str(account_id)},
                options=GTHREAD,
            )
        )
        proxy = stack.enter_context(
            gunicorn(
                "bench.bare:create_proxy()",
                log=folder / "proxy.log",
                environment={"BARE_SERVICE_URL": bare},
                options=GEVENT,
            )
        )
        chief_token = gateway.token(gateway.account(Role.ASSOCIATION_ADMIN))
        token = gateway.token(account_id)
        yield Hall(stage=stage, gateway=gateway, chief_token=chief_token, token=token, bare_url=proxy)


def _gateway(
    stage: Stage, folder: Path, environment: dict[str, str], *, keys: tuple[str, str], service: str
) -> AbstractContextManager[str]:
    """The gateway as it is shipped, with as many processes."""
    settings = {
        "QISAI_GATEWAY_DATABASE_URL": stage.database.url("gateway"),
        "QISAI_REDIS_URL": environment["QISAI_REDIS_URL"],
        "QISAI_ASSERTION_PRIVATE_KEY": keys[0],
        "QISAI_SECRET_KEY": secrets.token_urlsafe(32),
        "QISAI_REGISTRATION_URL": service,
        "QISAI_RESULTS_URL": service,
        "QISAI_LOG_LEVEL": "warning",
        "QISAI_RATE_LIMIT": "1000000/minute",
    }
    app = "services.gateway.app:create_app()"
    return gunicorn(app, log=folder / "gateway.log", environment=settings, options=GEVENT)


def _boards(hall: Hall) -> dict[str, int]:
    """A new event of a round with 60 boards: board id → version."""
    with hall.stage.owner() as session:
        event = fields.ready_event(session, entrants=2 * BOARDS)
        fields.add_round(session, event, pairs=[(i, i + BOARDS) for i in range(1, BOARDS + 1)])
    return {str(board): 1 for board in event.board_ids.values()}


def throughput(hall: Hall) -> str:
    """Results a second as fast as eight referees get answers, ours and bare in turns."""
    ours, bare = _Side(hall.gateway.url, hall.token, _boards(hall)), _Side(hall.bare_url, "-", _boards(hall))
    for side in (ours, bare):
        side.measure(1.0)  # warm
        side.reports.clear()
    for _turn in range(TURNS):
        for side in (ours, bare):
            side.measure(SECONDS)
    ratios = [a.rate() / b.rate() for a, b in zip(ours.turns(), bare.turns(), strict=True)]
    rows = [
        (name, f"{side.rate():.0f}", f"{side.share_ms(0.5):.1f}", f"{side.share_ms(0.99):.1f}", side.refused())
        for name, side in (("gateway and results service", ours), ("bare proxy and bare service", bare))
    ]
    share = statistics.median(ratios)
    return (
        f"**Result writes**, {REFEREES} referees without pause, {TURNS} × {SECONDS:g} s each in turns"
        " (the bare pair sends the same five statements and decides nothing from them)\n\n"
        + table(("", "writes/s", "p50 ms", "p99 ms", "refused"), rows)
        + f"\n\nShare of the bare pair: {share:.0%} (median of the turns; wanted ≥ 60 %)"
    )


@dataclass(slots=True)
class _Side:
    url: str
    token: str
    versions: dict[str, int]
    reports: list[tuple[float, Report]] = field(default_factory=list)

    def measure(self, seconds: float, *, referees: int = REFEREES, pace: float | None = None) -> Report:
        report = write(
            Orders(
                url=self.url,
                token=self.token,
                versions=self.versions,
                referees=referees,
                seconds=seconds,
                each_per_second=pace,
            )
        )
        self.versions = report.versions
        self.reports.append((seconds, report))
        return report

    def turns(self) -> list[_Side]:
        return [_Side(self.url, self.token, {}, [one]) for one in self.reports]

    def rate(self) -> float:
        return sum(len(report.took_ms) for _, report in self.reports) / sum(seconds for seconds, _ in self.reports)

    def share_ms(self, share: float) -> float:
        whole = Report(took_ms=[took for _, report in self.reports for took in report.took_ms])
        return whole.share_ms(share)

    def refused(self) -> str:
        """How many, and why."""
        why: Counter[str] = Counter()
        for _, report in self.reports:
            why.update(report.refused)
        return ", ".join(f"{count} {slug}" for slug, count in why.items()) or "0"


def while_pairing(hall: Hall) -> str:
    """Results at a steady pace while a worker draws one large round after the other, in the same database."""
    side = _Side(hall.gateway.url, hall.token, _boards(hall))
    rows = []
    for entrants in (None, *FIELDS):
        side.reports.clear()
        with _Pairing(hall, entrants) as pairing, _Locks(hall) as locks:
            side.measure(4 * SECONDS, referees=4, pace=PACE)
        name = "nobody pairs" if entrants is None else f"{entrants:,} entrants are paired"
        waits = f"{locks.longest_ms:.0f}"
        p50, p99 = f"{side.share_ms(0.5):.1f}", f"{side.share_ms(0.99):.1f}"
        rows.append((name, pairing.draws, f"{side.rate():.0f}", p50, p99, side.refused(), waits))
    head = ("", "draws begun", "writes/s", "p50 ms", "p99 ms", "refused", "longest lock wait ms")
    return (
        "**Result writes while a round is paired**, four referees at ten writes a second each, another event\n\n"
        + table(head, rows)
    )


class _Pairing:
    """A chief referee's page: asks through the gateway, looks twice a second how far it is, asks anew at the end."""

    def __init__(self, hall: Hall, entrants: int | None) -> None:
        self._hall = hall
        self._stop = threading.Event()
        self.draws = 0
        self._event = None if entrants is None else add_event(hall.stage, entrants=entrants)
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> _Pairing:
        self._thread.start()
        if self._event is not None:
            time.sleep(2)  # until a solver is at it
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if self._event is not None:
            with self._hall.stage.owner() as session:
                active = sa.text("UPDATE pairing_job SET state = 'cancelled' WHERE state IN ('queued', 'running')")
                session.execute(active)

    def _ask(self) -> None:
        if self._event is None:
            return
        job: Any = {"state": "none"}
        with requests.Session() as session:
            session.headers["Authorization"] = f"Bearer {self._hall.chief_token}"
            api = f"{self._hall.gateway.url}/api/v1"
            while not self._stop.wait(LOOK_SECONDS):
                if job["state"] in ("queued", "running"):
                    answer = session.get(f"{api}/jobs/{job['id']}")
                else:
                    answer = session.post(
                        f"{api}/events/{self._event}/rounds/4/draws", json={"limits": {"deadline_ms": 60_000}}
                    )
                    self.draws += 1
                answer.raise_for_status()
                job = answer.json()


class _Locks:
    """Looks at who waits for a lock, and since when, as long as it is entered."""

    def __init__(self, hall: Hall) -> None:
        self._url = hall.stage.database.owner_url
        self._stop = threading.Event()
        self.longest_ms = 0.0
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> _Locks:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        query = sa.text(
            "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart)) * 1000, 0) FROM pg_locks"
            " WHERE NOT granted"
        )
        engine = sa.create_engine(self._url, poolclass=sa.NullPool)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            while not self._stop.wait(PAUSE):
                self.longest_ms = max(self.longest_ms, float(connection.execute(query).scalar_one()))
        engine.dispose()
