"""What is no request at all is refused with a problem like everything else, and who sends half of one is given up."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
import requests

from qisai.web.gunicorn import SILENT_SECONDS
from tests.gateway.harness import gunicorn

THREADS = 2
CLASSES = {
    "gthread": ("--worker-class", "gthread", "--workers", "1", "--threads", str(THREADS)),
    "gevent": ("--worker-class", "gevent", "--workers", "1"),
}


@pytest.fixture(scope="module", params=CLASSES)
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("refusing") / "echo.log"
    app = "tests.gateway.echo_service:app"
    with gunicorn(app, log=log, environment={}, options=CLASSES[request.param]) as found:
        yield found


def connected(url: str) -> socket.socket:
    where = urlsplit(url)
    return socket.create_connection((where.hostname, where.port), timeout=30)


@pytest.mark.parametrize(
    ("sent", "status", "slug"),
    [
        (b"GET / HTTP/9.9\r\n\r\n", 400, "bad-request"),
        (b"\x16\x03\x01\x02\r\n\r\n", 400, "bad-request"),
        (b"GET / HTTP/1.1\r\nHost x\r\n\r\n", 400, "bad-request"),
        (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n", 414, "request-uri-too-long"),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n", 431, "request-header-fields-too-large"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: zip\r\n\r\n", 501, "not-implemented"),
        (b"GET / HTTP/1.1\r\nAccept-Language: zh-TW\r\nContent-Length: -1\r\n\r\n", 400, "bad-request"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_problem(url: str, sent: bytes, status: int, slug: str) -> None:
    with connected(url) as connection:
        connection.sendall(sent)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    head, _, content = answer.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"application/problem+json" in head
    body = json.loads(content)
    assert (body["status"], body["type"]) == (status, f"urn:qisai:problem:{slug}")
    assert body["title"]
    assert body["detail"]
    assert f"X-Request-ID: {body['instance']}".encode() in head
    assert b"<" not in content


@pytest.mark.parametrize(
    "half",
    [
        b"GET /writes HT",
        b"GET /writes HTTP/1.1\r\nHost: x\r\n",
        b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1",
    ],
)
def test_who_stops_within_a_request_does_not_hold_the_service(url: str, half: bytes) -> None:
    """Pins the time-out between two pieces: without it as many half requests as threads hold a service for ever."""
    with ExitStack() as stack:
        for _ in range(THREADS):
            stack.enter_context(connected(url)).sendall(half)
        time.sleep(0.5)
        began = time.monotonic()
        assert requests.get(f"{url}/writes", timeout=SILENT_SECONDS + 5).status_code == 200
        assert time.monotonic() - began < SILENT_SECONDS + 3


def test_a_slow_but_steady_body_is_taken(url: str) -> None:
    with connected(url) as connection:
        connection.sendall(b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\n")
        for piece in (b"1", b"2", b"3"):
            time.sleep(0.3)
            connection.sendall(piece)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
