"""What callers see while something behind the gateway is away: a clear problem, soon, and nothing done twice."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import redis
import requests
import sqlalchemy as sa

from qisai.errors import Unavailable
from qisai.local.ports import free_port
from services.gateway import upstreams
from services.gateway.upstreams import Service
from tests.faults.proxy import Proxy
from tests.gateway.harness import Gateway, gunicorn, running_gateway
from tests.gateway.test_proxy import EVENT, call, is_problem
from tests.servers import Servers, comes_true, running_valkey


@contextmanager
def before(servers: Servers, folder: Path, *, services: tuple[str, str], **settings: str) -> Iterator[Gateway]:
    """A gateway of the test's own."""
    with ExitStack() as stack:
        database = servers.clone()
        stack.callback(servers.drop, database)
        redis_url = settings.pop("redis_url", None) or servers.valkey_url()
        yield stack.enter_context(running_gateway(database, redis_url, folder, services=services, **settings))


def test_a_service_that_is_away_is_said_at_once_and_comes_back_by_itself(servers: Servers, tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with before(servers, tmp_path, services=(url, url)) as gateway:
        for _ in range(5):
            began = time.monotonic()
            answer = call(gateway, "GET", EVENT)
            assert is_problem(answer, 503, "service-away")
            assert answer.headers["Retry-After"] == "1"
            assert time.monotonic() - began < 3
        headers = {"Authorization": f"Bearer {gateway.token_for()}"}
        assert is_problem(call(gateway, "POST", "/api/v1/events", json={}, headers=headers), 503, "service-away")
        ready = call(gateway, "GET", "/readyz")
        assert is_problem(ready, 503, "services-away")
        assert ready.json()["context"]["services"] == ["registration", "results"]
        assert call(gateway, "GET", "/healthz").status_code == 200
        page = requests.get(gateway.url, headers={"Accept": "text/html", "Accept-Language": "en"}, timeout=10)
        assert page.status_code == 503
        assert "Try again" in page.text
        options = ("--worker-class", "gthread", "--workers", "1")
        with gunicorn(
            "tests.gateway.echo_service:app", log=tmp_path / "echo.log", environment={}, options=options, port=port
        ):
            assert comes_true(lambda: call(gateway, "GET", EVENT).status_code == 200)
            assert call(gateway, "GET", "/readyz").status_code == 200


def test_a_slow_service_holds_a_caller_only_so_long(echo_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service("echo", echo_url, read_seconds=0.3)
    began = time.monotonic()
    with pytest.raises(Unavailable) as read:
        service.send("GET", f"{EVENT}?sleep=5", headers={})
    with pytest.raises(Unavailable) as write:
        service.send("POST", f"{EVENT}?sleep=5", headers={}, body=b"once")
    assert time.monotonic() - began < 3
    assert (read.value.slug, write.value.slug) == ("service-away", "answer-lost")


class ClosingServer:
    """Answers one request on each connection, then closes it without a word, as an impatient service does."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _address = self.listener.accept()
            except OSError:
                return
            with connection:
                request = connection.recv(65_536)
                self.requests.append(request.split(b"\r\n", 1)[0])
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


@pytest.fixture
def closing() -> Iterator[ClosingServer]:
    server = ClosingServer()
    yield server
    server.listener.close()


def test_a_write_on_a_connection_that_the_service_closed_goes_over_a_new_one_and_once(closing: ClosingServer) -> None:
    service = Service("closing", closing.url)
    for number in range(5):
        answer = service.send("POST", f"/{number}", headers={}, body=b"x")
        assert answer.content == b"ok"
        time.sleep(0.02)  # the close arrives before the connection is taken again
    assert closing.requests == [b"POST /%d HTTP/1.1" % number for number in range(5)]


def test_a_connection_that_lay_idle_too_long_is_not_written_on(echo_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service("echo", echo_url)
    for _ in range(2):
        assert service.send("GET", EVENT, headers={}).json()["method"] == "GET"
    pools = service.session.get_adapter(echo_url).poolmanager.pools  # type: ignore[attr-defined]
    pool = pools[next(iter(pools.keys()))]
    assert pool.num_connections == 1
    first = pool.pool.queue[-1].sock.getsockname()
    monkeypatch.setattr(upstreams, "IDLE_SECONDS", 0.0)
    assert service.send("POST", EVENT, headers={}, body=b"later").json()["body"] == "later"
    assert pool.pool.queue[-1].sock.getsockname() != first


def test_without_redis_limits_are_kept_in_memory_and_nothing_waits(
    servers: Servers, tmp_path: Path, echo_url: str
) -> None:
    dead = f"redis://127.0.0.1:{free_port()}/0"
    services = (echo_url, echo_url)
    with before(servers, tmp_path, services=services, redis_url=dead, QISAI_SIGN_IN_LIMIT="3/minute") as gateway:
        began = time.monotonic()
        assert [call(gateway, "GET", EVENT).status_code for _ in range(10)] == [200] * 10
        assert time.monotonic() - began < 5
        body = {"login": "nobody", "password": "wrong password"}
        statuses = [call(gateway, "POST", "/api/v1/sessions", json=body).status_code for _ in range(4)]
        assert statuses == [401, 401, 401, 429]


@pytest.mark.parametrize("fault", ["stopped", "silent", "refused"])
def test_redis_lost_under_many_calls_at_once_costs_none_of_them(
    servers: Servers, tmp_path: Path, echo_url: str, fault: str
) -> None:
    """Each call is counted in memory, soon, and after the return of Redis all processes count together again."""
    with running_valkey(tmp_path / "valkey") as server, redis.Redis.from_url(server.url(0)) as seen:
        proxy = Proxy(server.port)
        url = server.url(0).replace(f":{server.port}/", f":{proxy.port}/")
        services = (echo_url, echo_url)
        with before(servers, tmp_path, services=services, redis_url=url, QISAI_RATE_LIMIT="60/hour") as gateway:
            tokens = [{"Authorization": f"Bearer {gateway.token_for()}"} for _ in range(4)]
            statuses, usual = statuses_at_once(gateway, tokens[0], 40)  # connections of a busy hall are open
            assert statuses == {200: 40}
            assert counts(seen) == [40]
            pid = int(seen.info("server")["process_id"])
            if fault == "stopped":
                os.kill(pid, signal.SIGSTOP)
            elif fault == "silent":
                proxy.stall()
            else:
                proxy.refuse()
            try:
                for _ in range(2):
                    statuses, slowest = statuses_at_once(gateway, tokens[1], 40)
                    assert set(statuses) <= {200, 429}
                    assert slowest < usual + 1
                assert statuses[429] == 20  # 60 of 80 in all: memory counts as Redis does
                time.sleep(1.1)  # the call that tries Redis again
                assert statuses_at_once(gateway, tokens[2], 30)[0] == {200: 30}
            finally:
                os.kill(pid, signal.SIGCONT)
                proxy.restore()
            assert comes_true(lambda: call(gateway, "GET", EVENT).ok and counts(seen, "address:"), seconds=5)
            assert statuses_at_once(gateway, tokens[3], 10)[0] == {200: 10}
            assert 10 in counts(seen)
        proxy.close()


def statuses_at_once(gateway: Gateway, headers: dict[str, str], number: int) -> tuple[Counter[int], float]:
    """How often each status came when so many call at the same moment, and the longest wait in seconds."""

    def one(_number: int) -> tuple[int, float]:
        began = time.monotonic()
        return call(gateway, "GET", EVENT, headers=headers).status_code, time.monotonic() - began

    with ThreadPoolExecutor(number) as pool:
        answers = list(pool.map(one, range(number)))
    return Counter(status for status, _ in answers), max(seconds for _, seconds in answers)


def counts(seen: redis.Redis, who: str = "") -> list[int]:
    """What Redis has counted, for each caller whose name has this in it."""
    return [int(str(seen.get(key), "ascii")) for key in seen.scan_iter(f"*/calls/*{who}*")]  # type: ignore[arg-type]


def test_too_many_calls_are_told_when_to_come_back(servers: Servers, tmp_path: Path, echo_url: str) -> None:
    with before(servers, tmp_path, services=(echo_url, echo_url), QISAI_RATE_LIMIT="6/minute") as gateway:
        token = {"Authorization": f"Bearer {gateway.token_for()}"}
        statuses = [call(gateway, "GET", path).status_code for path in (EVENT, "/api/v1/profiles") * 3]
        assert statuses == [200] * 6
        stopped = call(gateway, "GET", EVENT)
        assert is_problem(stopped, 429, "too-many-requests")
        assert 1 <= int(stopped.headers["Retry-After"]) <= 61
        assert (stopped.headers["RateLimit-Limit"], stopped.headers["RateLimit-Remaining"]) == ("6", "0")
        guess = {"Authorization": "Bearer qisai_" + "g" * 43}
        assert call(gateway, "GET", EVENT, headers=guess).status_code == 429  # guessing tokens counts for the address
        assert call(gateway, "GET", EVENT, headers=token).status_code == 200
        assert call(gateway, "GET", "/healthz").status_code == 200
        for path in ("/no/such/page", "/api/v1/nothing"):  # a page that says so costs as much as another
            assert call(gateway, "GET", path).status_code == 429


def test_the_gateway_lives_through_the_loss_of_its_database_connections(
    servers: Servers, tmp_path: Path, echo_url: str
) -> None:
    with before(servers, tmp_path, services=(echo_url, echo_url)) as gateway:
        headers = {"Authorization": f"Bearer {gateway.token_for()}"}
        assert call(gateway, "GET", "/api/v1/me", headers=headers).status_code == 200
        engine = sa.create_engine(gateway.database.superuser_url())
        with engine.connect() as connection:
            others = "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
            connection.execute(sa.text(f"{others} and pid <> pg_backend_pid()"))
        engine.dispose()
        assert call(gateway, "GET", "/api/v1/me", headers=headers).status_code == 200


def test_passwords_are_checked_beside_the_loop_so_that_others_go_on(gateway: Gateway) -> None:
    headers = {"Authorization": f"Bearer {gateway.token_for()}"}
    body = {"login": f"slow{time.monotonic_ns()}", "password": "wrong password"}
    threads = [
        threading.Thread(target=call, args=(gateway, "POST", "/api/v1/sessions"), kwargs={"json": body})
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    slowest = 0.0
    while any(thread.is_alive() for thread in threads):
        began = time.monotonic()
        assert call(gateway, "GET", EVENT, headers=headers).status_code == 200
        slowest = max(slowest, time.monotonic() - began)
    whole = sum(1 for thread in threads if not thread.is_alive())
    assert whole == 6
    assert slowest < 1.0


def test_a_request_under_way_is_finished_when_the_gateway_stops(
    servers: Servers, tmp_path: Path, echo_url: str
) -> None:
    with before(servers, tmp_path, services=(echo_url, echo_url)) as gateway:
        pid = int(call(gateway, "GET", EVENT).json()["pid"])
        assert pid != os.getpid()
        answers: list[int] = []
        thread = threading.Thread(target=lambda: answers.append(call(gateway, "GET", f"{EVENT}?sleep=0.8").status_code))
        thread.start()
        time.sleep(0.3)
        os.kill(gateway.pid, signal.SIGTERM)
        thread.join(10)
        assert answers == [200]
