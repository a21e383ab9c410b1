"""Callers who hold connections for nothing: given up in time, and never enough of them to keep others out."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from qisai.web.connections import SEND_SECONDS
from tests.gateway.harness import Gateway
from tests.gateway.test_broken_off import as_admin, refusal, sending
from tests.gateway.test_faults import before
from tests.gateway.test_proxy import EVENT
from tests.servers import Servers, comes_true

MOST = 20
HALF = "POST /api/v1/sessions", b'{"logi', "Content-Type: application/json", "Content-Length: 500"


def answered_from(gateway: Gateway, address: str) -> bytes:
    """Status line of a plain read from one of this machine's own addresses."""
    where = urlsplit(gateway.url)
    with socket.create_connection((where.hostname, where.port), timeout=10, source_address=(address, 0)) as connection:
        connection.sendall(f"GET {EVENT} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        return connection.recv(65_536).split(b"\r\n")[0]


def test_half_sent_requests_of_one_address_do_not_keep_others_out(
    servers: Servers, tmp_path: Path, echo_url: str
) -> None:
    """Pins the bound: without it they take all of the 30 connections of this gateway."""
    options = {"QISAI_CONNECTIONS_PER_ADDRESS": str(MOST)}
    with before(servers, tmp_path, services=(echo_url, echo_url), connections=30, **options) as gateway:
        with ExitStack() as stack:
            held = [stack.enter_context(sending(gateway, *HALF)) for _ in range(40)]
            assert refusal(held[-1]) == (429, "too-many-requests")
            assert answered_from(gateway, "127.0.0.1").startswith(b"HTTP/1.1 429 ")
            assert answered_from(gateway, "127.0.0.2").startswith(b"HTTP/1.1 200 ")
        assert comes_true(lambda: answered_from(gateway, "127.0.0.1").startswith(b"HTTP/1.1 200 "))


def test_who_stops_within_a_request_is_given_up(gateway: Gateway) -> None:
    """Pins the time-out: gunicorn has none for a body under gevent, and waits more than a minute for a head."""
    logged = gateway.log.stat().st_size
    with ExitStack() as stack:
        own = stack.enter_context(sending(gateway, *HALF))
        passed_on = stack.enter_context(sending(gateway, "POST /api/v1/events", *HALF[1:], as_admin(gateway)))
        chunked = stack.enter_context(sending(gateway, HALF[0], b"5\r\nab", "Transfer-Encoding: chunked", HALF[2]))
        head = stack.enter_context(socket.create_connection(own.getpeername(), timeout=30))
        head.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        time.sleep(1)
        head.sendall(b"X: y\r\n")  # a piece now and then does not help
        began = time.monotonic()
        assert [refusal(one) for one in (own, passed_on, chunked)] == [(408, "request-timeout")] * 3
        assert head.recv(100) == b""
        assert SEND_SECONDS - 3 < time.monotonic() - began < SEND_SECONDS + 5
    assert b"Traceback" not in gateway.log.read_bytes()[logged:]


def test_who_takes_a_pause_between_requests_is_not(gateway: Gateway) -> None:
    connection = HTTPConnection(urlsplit(gateway.url).netloc, timeout=10)
    with closing(connection):
        connection.connect()
        first = connection.sock
        for pause in (0, SEND_SECONDS + 2):
            time.sleep(pause)
            connection.request("GET", EVENT)
            answer = connection.getresponse()
            answer.read()
            assert (answer.status, connection.sock) == (200, first), "on the same connection"
