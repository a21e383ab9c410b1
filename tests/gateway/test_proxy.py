"""Passing calls on: what reaches a service, what comes back, and what happens while a service misbehaves."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import requests
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from qisai.db.accounts import Role
from qisai.web import assertion
from tests.gateway.harness import Gateway
from tests.servers import comes_true

EVENT = "/api/v1/events/7"


def call(gateway: Gateway, method: str, path: str, **options: Any) -> requests.Response:
    return requests.request(method, gateway.url + path, timeout=10, **options)


def is_problem(answer: requests.Response, status: int, slug: str) -> bool:
    body = answer.json()
    return (
        answer.status_code == status
        and answer.headers["Content-Type"].startswith("application/problem+json")
        and body["type"] == f"urn:qisai:problem:{slug}"
        and body["instance"] == answer.headers["X-Request-ID"]
    )


def test_a_call_reaches_the_service_with_body_query_and_conditions(gateway: Gateway) -> None:
    token = gateway.token_for(Role.ORGANISER)
    headers = {"Authorization": f"Bearer {token}", "If-Match": '"v2"', "Idempotency-Key": "k1"}
    seen = call(gateway, "PATCH", f"{EVENT}?a=1&b=%E6%A3%8B", json={"name": "象棋"}, headers=headers).json()
    assert (seen["method"], seen["path"], seen["query"]) == ("PATCH", EVENT, "a=1&b=%E6%A3%8B")
    assert seen["headers"]["If-Match"] == '"v2"'
    assert seen["headers"]["Idempotency-Key"] == "k1"
    assert seen["headers"]["Content-Type"] == "application/json"
    assert "\\u8c61\\u68cb" in seen["body"]


@pytest.mark.parametrize("name", ["a%3Fb%3Dc", "a%23b", "a%25b", "%E6%A3%8B", "a%2541"])
def test_what_a_path_holds_reaches_the_service_as_part_of_the_path(gateway: Gateway, name: str) -> None:
    seen = call(gateway, "GET", f"/api/v1/profiles/{name}").json()
    assert (seen["path"], seen["query"]) == (f"/api/v1/profiles/{unquote(name)}", "")


@pytest.mark.parametrize("path", ["/api/v1//events/7", "/api/v1/events//7"])
def test_a_doubled_slash_is_not_found_and_leads_nowhere(gateway: Gateway, path: str) -> None:
    answer = call(gateway, "GET", path, headers={"Host": "evil.example"}, allow_redirects=False)
    assert is_problem(answer, 404, "not-found")


def test_the_service_is_told_who_calls_for_this_method_and_path_only(gateway: Gateway) -> None:
    account_id = gateway.account(Role.REFEREE)
    token = gateway.token(account_id, scopes=("read",))
    headers = {"Authorization": f"Bearer {token}", "Qisai-Device": "phone-1", "X-Request-ID": "my-request-1"}
    seen = call(gateway, "GET", EVENT, headers=headers).json()["headers"]
    key = load_pem_public_key(gateway.public_key.encode())
    said = assertion.verify(seen["Qisai-Assertion"], public_key=key, method="GET", path=EVENT)
    assert (said.account_id, said.scopes, said.device) == (account_id, ("read",), "phone-1")
    assert said.request_id == seen["X-Request-Id"] == "my-request-1"


def test_what_claims_to_prove_an_identity_from_outside_never_arrives(gateway: Gateway) -> None:
    forged = {"Qisai-Assertion": "forged", "X-Forwarded-User": "root", "Cookie": "other=1", "X-Request-ID": "bad id\t!"}
    seen = call(gateway, "GET", EVENT, headers=forged).json()["headers"]
    assert seen["Qisai-Assertion"] != "forged"
    assert not {"X-Forwarded-User", "Cookie", "Authorization"} & set(seen)
    assert seen["X-Request-Id"] != "bad id\t!"


def test_inner_headers_and_cookies_of_a_service_do_not_come_back(gateway: Gateway) -> None:
    answer = call(gateway, "GET", EVENT)
    assert answer.headers["ETag"] == '"v3"'
    assert not {"X-Inner", "Set-Cookie"} & set(answer.headers)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v1/events/x", "/internal/openapi.json", "/writes"])
def test_a_path_that_is_not_in_the_table_is_not_passed_on(gateway: Gateway, path: str) -> None:
    assert is_problem(call(gateway, "GET", path), 404, "not-found")


@pytest.mark.parametrize("method", ["TRACE", "DELETE", "PUT", "FOO"])
def test_a_method_that_is_not_in_the_table_is_refused(gateway: Gateway, method: str) -> None:
    assert is_problem(call(gateway, method, EVENT), 405, "method-not-allowed")


def test_a_body_over_the_limit_is_refused_and_not_passed_on(gateway: Gateway) -> None:
    token = gateway.token_for()
    headers = {"Authorization": f"Bearer {token}"}
    answer = call(gateway, "POST", "/api/v1/events", data=b"y" * 100_001, headers=headers)
    assert is_problem(answer, 413, "request-entity-too-large")
    chunked = call(gateway, "POST", "/api/v1/events", data=iter([b"z" * 60_000] * 2), headers=headers)
    assert chunked.status_code == 413
    written = requests.get(gateway.echo_url + "/writes", timeout=5).json()["writes"]
    assert not [body for body in written if body.startswith(("yy", "zz"))]


def test_a_stream_comes_piece_by_piece(gateway: Gateway) -> None:
    began = time.monotonic()
    with requests.get(f"{gateway.url}{EVENT}?pieces=4", stream=True, timeout=10) as answer:
        assert "Content-Length" not in answer.headers
        pieces = answer.iter_content(None)
        first = next(pieces)
        waited = time.monotonic() - began
        rest = b"".join(pieces)
    assert first == b"piece 0\n"
    assert waited < 0.5  # the service needs 0.8 s for all
    assert rest.endswith(b"piece 3\n")


def test_a_long_answer_arrives_whole(gateway: Gateway) -> None:
    answer = call(gateway, "GET", f"{EVENT}?length=3000000")
    assert answer.content == b"x" * 3_000_000


def test_a_stream_that_breaks_off_is_not_taken_for_a_whole_one(gateway: Gateway) -> None:
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        call(gateway, "GET", f"{EVENT}?break=1")
    assert comes_true(lambda: call(gateway, "GET", EVENT).status_code == 200)


def test_many_slow_calls_run_at_once_in_one_process(gateway: Gateway) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: call(gateway, "GET", f"{EVENT}?sleep=0.5").status_code, range(8)))
    assert statuses == [200] * 8
    assert time.monotonic() - began < 2.5


def test_an_error_page_of_a_service_becomes_a_problem(gateway: Gateway) -> None:
    answer = call(gateway, "GET", f"{EVENT}?html=1")
    assert is_problem(answer, 503, "bad-answer")
    assert "Traceback" not in answer.text


def test_a_write_whose_answer_is_lost_says_so_and_was_sent_once(gateway: Gateway) -> None:
    token = gateway.token_for()
    answer = call(gateway, "POST", "/api/v1/events?die=1", data=b"lost", headers={"Authorization": f"Bearer {token}"})
    assert is_problem(answer, 503, "answer-lost")
    assert answer.headers["Retry-After"] == "1"
    assert comes_true(lambda: call(gateway, "GET", EVENT).status_code == 200)  # gunicorn starts the worker again
    written = requests.get(gateway.echo_url + "/writes", timeout=5).json()["writes"]
    assert "lost" not in written  # the new process was not asked again


def test_options_are_answered_here(gateway: Gateway) -> None:
    answer = call(gateway, "OPTIONS", EVENT)
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "PATCH", "OPTIONS"}


def test_head_has_no_body(gateway: Gateway) -> None:
    answer = call(gateway, "HEAD", EVENT)
    assert (answer.status_code, answer.content) == (200, b"")


def test_two_requests_in_one_are_not_smuggled_through(gateway: Gateway) -> None:
    where = urlsplit(gateway.url)
    both = (
        f"POST /api/v1/events HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Length: 4\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /writes HTTP/1.1\r\nHost: x\r\n\r\n"
    )
    with socket.create_connection((where.hostname, where.port), timeout=5) as connection:
        connection.sendall(both.encode())
        answer = connection.recv(65_536)
    assert b" 400 " in answer.split(b"\r\n", 1)[0]
