"""Requests that break off on their way, or whose body is not what it claims: refused whole, nothing of them is done."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from qisai.db.accounts import Role
from tests.gateway.harness import Gateway
from tests.gateway.platform import Platform

ROSTER = ("姓名,单位\n" + "".join(f"人{number},会\n" for number in range(1000))).encode()
HALF = ROSTER[: ROSTER.index("人300,".encode())]


@contextmanager
def sending(gateway: Gateway, start: str, body: bytes, *headers: str) -> Iterator[socket.socket]:
    """A connection on which a request was sent so far."""
    where = urlsplit(gateway.url)
    with socket.create_connection((where.hostname, where.port), timeout=30) as connection:
        head = "\r\n".join((f"{start} HTTP/1.1", "Host: x", *headers, "", ""))
        connection.sendall(head.encode() + body)
        yield connection


def refusal(connection: socket.socket) -> tuple[int, str]:
    """Status and slug of the answer, which is a problem."""
    got = b""
    while piece := connection.recv(65_536):
        got += piece
        head, _, content = got.partition(b"\r\n\r\n")
        length = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        if length and len(content) >= int(length[0]):
            break
    assert b"application/problem+json" in head, got
    body: dict[str, Any] = json.loads(content)
    return int(head.split(b" ")[1]), body["type"].removeprefix("urn:qisai:problem:")


def as_admin(gateway: Gateway) -> str:
    return f"Authorization: Bearer {gateway.token_for(Role.ASSOCIATION_ADMIN)}"


def test_a_roster_that_breaks_off_at_the_end_of_a_row_is_not_imported_in_part(platform: Platform) -> None:
    event_id = platform.admin.events.create(name="断线赛", profile="xiangqi").id
    start = f"POST /api/v1/events/{event_id}/entrants/import?dry_run=false"
    headers = (as_admin(platform.gateway), "Content-Type: text/csv", f"Content-Length: {len(ROSTER)}")
    with sending(platform.gateway, start, HALF, *headers) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert refusal(connection) == (400, "body-cut")
    assert platform.admin.entrants.list(event_id) == ()


def test_whole_json_that_is_shorter_than_announced_is_not_taken(platform: Platform) -> None:
    event_id = platform.admin.events.create(name="断线赛", profile="xiangqi").id
    body = '{"name": "陈一"}'.encode()
    headers = (as_admin(platform.gateway), "Content-Type: application/json", f"Content-Length: {len(body) + 10}")
    with sending(platform.gateway, f"POST /api/v1/events/{event_id}/entrants", body, *headers) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert refusal(connection) == (400, "body-cut")
    assert platform.admin.entrants.list(event_id) == ()


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/api/v1/sessions", "application/json"),
        ("/api/v1/events", "application/json"),
        ("/api/v1/events", "application/x-www-form-urlencoded"),
    ],
)
def test_the_gateway_reads_no_part_of_a_body(gateway: Gateway, path: str, content_type: str) -> None:
    headers = (as_admin(gateway), f"Content-Type: {content_type}", "Content-Length: 40")
    with sending(gateway, f"POST {path}", b'{"a": 1}', *headers) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert refusal(connection) == (400, "body-cut")
    assert '{"a": 1}' not in requests.get(gateway.echo_url + "/writes", timeout=5).json()["writes"]


@pytest.mark.parametrize("path", ["/api/v1/sessions", "/api/v1/events"])
@pytest.mark.parametrize("chunks", [b"ZZ\r\n", b"1;\x00=\r\n1\r\n", b"3\r\n{}xyz\r\n", b"\r\n\r\n"])
def test_chunks_that_are_none_are_refused_without_a_traceback(gateway: Gateway, path: str, chunks: bytes) -> None:
    headers = (as_admin(gateway), "Content-Type: application/json", "Transfer-Encoding: chunked")
    with sending(gateway, f"POST {path}", chunks, *headers) as connection:
        assert refusal(connection) == (400, "bad-request")
    assert "Traceback" not in gateway.log.read_text()


@pytest.mark.parametrize("chunks", [b"5\r\n{}", b"2\r\n{}\r\n", b"2\r\n{}\r\n0\r\n"])
def test_chunks_that_break_off_are_refused(gateway: Gateway, chunks: bytes) -> None:
    headers = (as_admin(gateway), "Content-Type: application/json", "Transfer-Encoding: chunked")
    with sending(gateway, "POST /api/v1/events", chunks, *headers) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert refusal(connection)[0] == 400
