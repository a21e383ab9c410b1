"""The typed client: problems come back as the errors they stand for; reads are tried again, writes never unseen."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from qisai import errors
from qisai.client import Client, HttpTransport
from qisai.client.problems import error_of, raise_problem
from qisai.local.ports import free_port


class Server:
    """Answers each request with the next of its scripted answers; None breaks the connection off."""

    def __init__(self) -> None:
        self.script: list[bytes | None] = []
        self.seen: list[str] = []
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
                head = connection.recv(65_536).decode("latin-1")
                self.seen.append(head)
                answer = self.script.pop(0) if self.script else None
                if answer is not None:
                    connection.sendall(answer)


def answer(status: int, body: Any, *, kind: str = "application/json", more: str = "") -> bytes:
    content = json.dumps(body).encode() if not isinstance(body, bytes) else body
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n"
    return f"{head}Connection: close\r\n{more}\r\n".encode() + content


def problem(status: int, slug: str, *, more: str = "", **members: Any) -> bytes:
    body = {
        "type": f"urn:qisai:problem:{slug}",
        "title": "t",
        "status": status,
        "detail": "d",
        "instance": "-",
        **members,
    }
    return answer(status, body, kind="application/problem+json", more=more)


ME = answer(200, {"account": {"id": 1, "login": "a", "name": "甲"}, "grants": []})


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.listener.close()


@pytest.fixture
def client(server: Server) -> Client:
    return Client(HttpTransport(server.url, token="qisai_x", device="laptop", language="zh-Hans"))


def test_a_read_is_tried_again_while_the_gateway_is_away(server: Server, client: Client) -> None:
    server.script = [None, problem(503, "service-away", more="Retry-After: 0\r\n"), ME]
    assert client.people.me().account.name == "甲"
    assert len(server.seen) == 3


def test_a_write_is_sent_once_and_its_lost_answer_is_said(server: Server, client: Client) -> None:
    with pytest.raises(errors.Unavailable) as lost:
        client.people.create_account(login="x", name="x")
    assert lost.value.slug == "answer-lost"
    server.script = [problem(503, "service-away")]
    with pytest.raises(errors.Unavailable) as away:
        client.people.create_account(login="x", name="x")
    assert away.value.slug == "service-away"
    assert len(server.seen) == 2


def test_nobody_at_the_address_is_said_so() -> None:
    with pytest.raises(errors.Unavailable) as away:
        Client(HttpTransport(f"http://127.0.0.1:{free_port()}")).people.create_account(login="x", name="x")
    assert away.value.slug == "gateway-away"


def test_what_every_request_carries(server: Server, client: Client) -> None:
    server.script = [
        answer(201, {"id": 1, "login": "x", "name": "x"}),
        answer(200, {"id": 1, "login": "x", "name": "y"}),
    ]
    account = client.people.create_account(login="x", name="x", key="my-key")
    client.people.change_account(account, name="y")
    create, change = server.seen
    for line in (
        "Authorization: Bearer qisai_x",
        "Qisai-Device: laptop",
        "Accept-Language: zh-Hans",
        "Idempotency-Key: my-key",
    ):
        assert line in create
    assert 'If-Match: "v1"' in change
    assert "Idempotency-Key" not in change


def test_environment_of_the_machine_changes_nothing(
    server: Server, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    server.script = [ME]
    assert client.people.me().account.id == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, errors.Unauthenticated), (403, errors.Forbidden), (404, errors.NotFound), (409, errors.Conflict),
        (410, errors.Gone), (412, errors.Stale), (413, errors.TooLarge), (422, errors.Invalid), (400, errors.Invalid),
        (428, errors.PreconditionMissing), (429, errors.TooMany), (500, errors.Unavailable), (503, errors.Unavailable),
    ],
)  # fmt: skip
def test_each_problem_is_the_error_it_stands_for(status: int, kind: type[errors.QisaiError]) -> None:
    body = {"type": "urn:qisai:problem:some-slug", "detail": "what happened", "context": {"round": 3, "detail": "x"}}
    error = error_of(status, {"retry-after": "7"}, body)
    assert type(error) is kind
    assert (error.slug, error.detail, error.context) == ("some-slug", "what happened", {"round": 3})
    if isinstance(error, errors.Unavailable):
        assert error.retry_after == 7


def test_blockers_faults_and_the_current_value_come_along() -> None:
    kind = {"type": "urn:qisai:problem:x", "detail": "d"}
    conflict = error_of(409, {}, {**kind, "blockers": [{"slug": "s", "detail": "do this", "board": 4}]})
    assert isinstance(conflict, errors.Conflict)
    assert conflict.blockers == (errors.Blocker("s", "do this", {"board": 4}),)
    stale = error_of(412, {}, {**kind, "current": {"version": 3, "result": "draw"}})
    assert isinstance(stale, errors.Stale)
    assert stale.current == {"version": 3, "result": "draw"}
    invalid = error_of(422, {}, {**kind, "errors": [{"pointer": "/a", "detail": "bad", "slug": "s"}]})
    assert isinstance(invalid, errors.Invalid)
    assert invalid.errors == (errors.FieldError("/a", "bad", "s"),)


@pytest.mark.parametrize("content", [b"<html>", b"", b"[]", b'{"type": "about:blank"}'])
def test_an_answer_that_is_no_problem_is_no_mystery(content: bytes) -> None:
    with pytest.raises(errors.Unavailable) as strange:
        raise_problem(502, {}, content)
    assert strange.value.slug == "not-our-answer"
