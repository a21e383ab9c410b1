"""Reading the standings of 500 entrants: computed, kept in the database, kept in the process, and unchanged (304).

A read is a whole call of the public over one open connection: gateway (one process, gevent), results service (one
process, gthread) and PostgreSQL, all as shipped. The four ways take turns, so that noise of the machine falls on all
alike; and the same once more straight at the service, without the gateway's share.
"""

from __future__ import annotations

import http.client
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

import sqlalchemy as sa

from bench.fields import swiss_field
from bench.forgetful import FORGET
from bench.report import machine, table
from qisai.db.accounts import Role
from qisai.kernel.tournament_file import tournament_to_json
from qisai.web import assertion
from tests.gateway.harness import gunicorn, new_keys, running_gateway
from tests.servers import Database, servers_in_temporary_folder

ENTRANTS = 500
ROUNDS = 9
TURNS = 25
TARGET = 10
MOST_BYTES = str(16 << 20)
GTHREAD = ("--worker-class", "gthread", "--workers", "1", "--threads", "8")


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What is read from: the addresses of gateway and service, how to sign for the service, the database, the event."""

    gateway_url: str
    service_url: str
    private_key: str
    database: Database
    event: str


def run() -> str:
    """The table of this part."""
    rows = []
    with _house() as house:
        for what in ("standings", "crosstable"):
            through, straight = _take_turns(house, f"{house.event}/{what}")
            for name in through:
                rows.append((f"{what}, {name}", *_figures(through, name), *_figures(straight, name)))
                print("standings", *rows[-1], flush=True)
    head = ("read", "through the gateway", "faster than computed", "at the service", "faster than computed")
    return "\n\n".join(
        [
            f"## Standings of {ENTRANTS} entrants after {ROUNDS - 1} rounds",
            f"{__doc__.split(chr(10) * 2, 1)[1].strip()} The median of {TURNS}. {machine()}.",
            table(head, rows),
            f"Target: at least {TARGET} × from what is kept. Writing a result computes and keeps nothing.",
        ]
    )


def _figures(times: Mapping[str, float], name: str) -> tuple[str, str]:
    return f"{times[name] * 1000:.1f} ms", f"{times['computed'] / times[name]:.0f} ×"


@contextmanager
def _house() -> Iterator[House]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = stack.enter_context(servers_in_temporary_folder())
        database, keys, redis_url = servers.clone(), new_keys(), servers.valkey_url()
        environment = {
            "QISAI_RESULTS_DATABASE_URL": database.url("results"),
            "QISAI_REDIS_URL": redis_url,
            "QISAI_ASSERTION_PUBLIC_KEY": keys[1],
            "QISAI_MAX_BODY_BYTES": MOST_BYTES,
            "QISAI_LOG_LEVEL": "warning",
        }
        app, log = "bench.forgetful:create_service()", folder / "results.log"
        service = stack.enter_context(gunicorn(app, log=log, environment=environment, options=GTHREAD))
        gateway = stack.enter_context(
            running_gateway(
                database,
                redis_url,
                folder,
                services=(service, service),
                keys=keys,
                QISAI_MAX_BODY_BYTES=MOST_BYTES,
                QISAI_LOG_LEVEL="warning",
                QISAI_RATE_LIMIT="1000000/minute",
            )
        )
        admin = gateway.client(gateway.token_for(Role.ASSOCIATION_ADMIN))
        document = tournament_to_json(swiss_field(ENTRANTS, rounds_played=ROUNDS - 1))
        document["regulations"] = {**document["regulations"], "profile": "xiangqi"}
        event_id = admin.events.import_tournament(document, name="Bench").id
        yield House(
            gateway_url=gateway.url,
            service_url=service,
            private_key=keys[0],
            database=database,
            event=f"/api/v1/events/{event_id}",
        )


def _take_turns(house: House, path: str) -> tuple[dict[str, float], dict[str, float]]:
    """Median seconds of each way to read, through the gateway and straight at the service."""
    gateway, service = (_Connection(url) for url in (house.gateway_url, house.service_url))
    said = assertion.Assertion(account_id=None, method="GET", path=path, request_id="bench-standings")
    engine = sa.create_engine(house.database.owner_url)

    def forget() -> None:
        service.get(FORGET, {}, status=204)

    def forget_all() -> None:
        with engine.begin() as connection:
            connection.execute(sa.text("DELETE FROM standings_cache"))
        forget()

    tag = gateway.get(path, {}).headers["ETag"]
    ways: dict[str, tuple[Callable[[], None], dict[str, str]]] = {
        "computed": (forget_all, {}),
        "kept in the database": (forget, {}),
        "kept in the process": (lambda: None, {}),
        "unchanged (304)": (lambda: None, {"If-None-Match": tag}),
    }
    through: dict[str, list[float]] = {name: [] for name in ways}
    straight: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(TURNS):
        signed = {assertion.HEADER: assertion.sign(said, private_key=house.private_key)}
        for name, (prepare, headers) in ways.items():
            for connection, times, more in ((gateway, through, {}), (service, straight, signed)):
                prepare()
                began = perf_counter()
                connection.get(path, headers | more, status=304 if headers else 200)
                times[name].append(perf_counter() - began)
    engine.dispose()
    gateway_times, service_times = (
        {name: statistics.median(values) for name, values in times.items()} for times in (through, straight)
    )
    return gateway_times, service_times


class _Connection:
    """One open connection, used for all reads."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)

    def get(self, path: str, headers: Mapping[str, str], *, status: int = 200) -> http.client.HTTPResponse:
        """The answer, read to its end. Raises `AssertionError` for another status."""
        self._connection.request("GET", path, headers=dict(headers))
        answer = self._connection.getresponse()
        said = answer.read()
        if answer.status != status:
            raise AssertionError(f"{answer.status}: {said[:500]!r}")
        return answer
