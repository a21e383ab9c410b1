"""Who calls: tokens and cookies, good and bad, and what a browser must bring along with a write."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
import requests
import sqlalchemy as sa
from flask import Request
from werkzeug.test import EnvironBuilder

from qisai.db.accounts import Role, TokenRow, WebSessionRow
from qisai.db.secrets import hash_secret
from qisai.db.session import Database
from qisai.errors import NotFound, TooMany, Unauthenticated
from services.gateway.credentials import Credentials
from tests.gateway.harness import PASSWORD, Gateway
from tests.gateway.test_proxy import EVENT, call, is_problem


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class Browser:
    """A signed-in browser: cookie jar and CSRF token."""

    def __init__(self, gateway: Gateway, *roles: Role) -> None:
        self.gateway = gateway
        self.login = f"user{time.monotonic_ns()}"
        self.account_id = gateway.account(*roles, login=self.login, password=PASSWORD)
        self.http = requests.Session()
        self.http.trust_env = False
        answer = self.call("POST", "/api/v1/sessions", json={"login": self.login, "password": PASSWORD})
        assert answer.status_code == 201, answer.text
        self.csrf = {"X-CSRF-Token": answer.json()["csrf_token"]}

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        return self.http.request(method, self.gateway.url + path, timeout=10, **options)


@pytest.fixture
def browser(gateway: Gateway) -> Browser:
    return Browser(gateway)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer x",
        "Basic cm9vdDpyb290",
        "Bearer qisai_",
        "Bearer qisai_" + "A" * 43,
        "Bearer qisai_" + "x" * 500,
    ],
)
def test_a_token_that_is_none_is_refused_even_for_public_reads(gateway: Gateway, header: str) -> None:
    assert is_problem(call(gateway, "GET", EVENT, headers={"Authorization": header}), 401, "bad-token")


def test_an_expired_token_is_refused(gateway: Gateway) -> None:
    token = gateway.token_for()
    late = sa.update(TokenRow).where(TokenRow.secret_hash == hash_secret(token)).values(expires_at=sa.func.now())
    gateway.sql(late)
    assert is_problem(call(gateway, "GET", "/api/v1/me", headers=bearer(token)), 401, "bad-token")


def test_a_revoked_token_is_refused_at_once(gateway: Gateway) -> None:
    client = gateway.client(gateway.token_for())
    made = client.people.create_token(name="phone")
    assert made.secret is not None
    other = gateway.client(made.secret)
    assert other.people.me().account.id == made.account_id
    client.people.revoke_token(made.id)
    with pytest.raises(Unauthenticated):
        other.people.me()


def test_a_closed_account_is_refused_at_once(gateway: Gateway) -> None:
    admin = gateway.client(gateway.token_for(Role.ASSOCIATION_ADMIN))
    account = admin.people.create_account(login=f"gone{time.monotonic_ns()}", name="丁")
    other = gateway.client(gateway.token(account.id))
    assert other.people.me().account.name == "丁"
    admin.people.change_account(account, is_active=False)
    with pytest.raises(Unauthenticated):
        other.people.me()


def test_a_token_that_may_only_read_cannot_write(gateway: Gateway) -> None:
    token = gateway.token(gateway.account(), scopes=("read",))
    assert call(gateway, "GET", "/api/v1/me", headers=bearer(token)).status_code == 200
    refused = call(gateway, "POST", "/api/v1/tokens", json={"name": "more"}, headers=bearer(token))
    assert is_problem(refused, 403, "read-only")


def test_signing_in_makes_a_guarded_cookie_and_stores_no_secret(browser: Browser) -> None:
    answer = browser.call("POST", "/api/v1/sessions", json={"login": browser.login.upper(), "password": PASSWORD})
    cookie = answer.headers["Set-Cookie"]
    assert re.search(r"qisai_session=[\w-]{43};", cookie)
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    secret = browser.http.cookies["qisai_session"]
    rows = browser.gateway.sql(
        sa.select(WebSessionRow.secret_hash).where(WebSessionRow.account_id == browser.account_id)
    )
    assert (hash_secret(secret),) in [tuple(row) for row in rows]
    assert secret not in str(rows)


@pytest.mark.parametrize("secret", ["", "x", "A" * 43, "qisai_" + "A" * 43, "æ" * 10, "../../x"])
def test_a_forged_cookie_is_the_public(gateway: Gateway, secret: str) -> None:
    cookie = {"Cookie": f"qisai_session={secret}".encode()}
    assert call(gateway, "GET", EVENT, headers=cookie).status_code == 200
    assert is_problem(call(gateway, "GET", "/api/v1/me", headers=cookie), 401, "sign-in-needed")


def test_a_token_in_a_cookie_and_a_session_in_a_header_are_nothing(browser: Browser) -> None:
    token = browser.gateway.token(browser.account_id)
    assert call(browser.gateway, "GET", "/api/v1/me", headers=bearer(token)).status_code == 200
    cookie = {"Cookie": f"qisai_session={token}"}
    assert call(browser.gateway, "GET", "/api/v1/me", headers=cookie).status_code == 401
    secret = bearer(browser.http.cookies["qisai_session"])
    assert call(browser.gateway, "GET", "/api/v1/me", headers=secret).status_code == 401


def test_a_tampered_cookie_is_the_public(browser: Browser) -> None:
    secret = browser.http.cookies["qisai_session"]
    changed = ("A" if secret[0] != "A" else "B") + secret[1:]
    answer = call(browser.gateway, "GET", "/api/v1/me", headers={"Cookie": f"qisai_session={changed}"})
    assert answer.status_code == 401


def test_a_token_wins_over_a_cookie(browser: Browser) -> None:
    account_id = browser.gateway.account()
    answer = browser.call("GET", "/api/v1/me", headers=bearer(browser.gateway.token(account_id)))
    assert answer.json()["account"]["id"] == account_id
    assert "csrf_token" not in answer.json()


@pytest.mark.parametrize("headers", [{}, {"X-CSRF-Token": "x"}, {"X-CSRF-Token": ""}])
def test_a_write_by_cookie_needs_the_token_of_its_session(browser: Browser, headers: dict[str, str]) -> None:
    assert is_problem(browser.call("POST", "/api/v1/events", json={}, headers=headers), 403, "csrf")
    assert is_problem(browser.call("POST", "/api/v1/tokens", json={"name": "x"}, headers=headers), 403, "csrf")


def test_a_csrf_token_of_another_session_is_refused(browser: Browser, gateway: Gateway) -> None:
    other = Browser(gateway)
    assert is_problem(browser.call("POST", "/api/v1/events", json={}, headers=other.csrf), 403, "csrf")


def test_a_write_by_cookie_with_the_token_goes_through(browser: Browser) -> None:
    seen = browser.call("POST", "/api/v1/events", json={"name": "x"}, headers=browser.csrf).json()
    assert seen["method"] == "POST"
    assert "X-Csrf-Token" not in seen["headers"]


@pytest.mark.parametrize(
    "where",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://["}, {"Sec-Fetch-Site": "cross-site"}],
)
def test_a_write_from_another_sites_page_is_refused(browser: Browser, where: dict[str, str]) -> None:
    refused = browser.call("POST", "/api/v1/events", json={}, headers={**browser.csrf, **where})
    assert is_problem(refused, 403, "foreign-origin")
    signing_in = {"login": browser.login, "password": PASSWORD}
    assert is_problem(browser.call("POST", "/api/v1/sessions", json=signing_in, headers=where), 403, "foreign-origin")


@pytest.mark.parametrize(
    "where", ["//evil.example", "https://evil.example/", "/\\evil.example", "/\t/x", "//[", "http://["]
)
def test_signing_in_leads_to_no_other_site(browser: Browser, where: str) -> None:
    answer = browser.call("GET", "/sign-in", params={"next": where}, allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")


def test_signing_out_ends_the_session_at_once_everywhere(browser: Browser) -> None:
    secret = browser.http.cookies["qisai_session"]
    copied = {"Cookie": f"qisai_session={secret}"}
    assert call(browser.gateway, "GET", "/api/v1/me", headers=copied).status_code == 200
    answer = browser.call("DELETE", "/api/v1/sessions/current", headers=browser.csrf)
    assert answer.status_code == 204
    assert "qisai_session" not in browser.http.cookies
    assert call(browser.gateway, "GET", "/api/v1/me", headers=copied).status_code == 401
    ended = call(browser.gateway, "POST", "/api/v1/events", json={}, headers={**copied, **browser.csrf})
    assert is_problem(ended, 401, "signed-out")


def test_an_expired_session_is_refused(browser: Browser) -> None:
    mine = WebSessionRow.account_id == browser.account_id
    browser.gateway.sql(sa.update(WebSessionRow).where(mine).values(expires_at=sa.func.now()))
    assert browser.call("GET", "/api/v1/me").status_code == 401


def test_a_session_is_prolonged_by_use_but_not_for_ever(browser: Browser) -> None:
    mine = WebSessionRow.account_id == browser.account_id
    request = Request(
        EnvironBuilder(headers={"Cookie": f"qisai_session={browser.http.cookies['qisai_session']}"}).get_environ()
    )

    def hours_left_after_use(**moments: str) -> float:
        values = {name: sa.text(f"now() {text}") for name, text in moments.items()}
        browser.gateway.sql(sa.update(WebSessionRow).where(mine).values(values))
        database = Database(browser.gateway.database.url("gateway"), application="test")
        used = Credentials(database, secret_key="k" * 32, public_url=browser.gateway.url).of(request)
        database.close()
        assert used.account_id == browser.account_id
        left = sa.select(sa.func.extract("epoch", WebSessionRow.expires_at - sa.func.now())).where(mine)
        return round(float(browser.gateway.sql(left)[0][0]) / 3600, 1)  # type: ignore[arg-type]

    assert hours_left_after_use(expires_at="+ interval '1 hour'") == 12.0
    old = "- interval '7 days' + interval '3 hours'"
    assert hours_left_after_use(created_at=old, expires_at="+ interval '1 hour'") == 3.0


@pytest.mark.parametrize("text", ["\x00", "\ud800", "a" * 100_000, "'; --", "𠮷"])
def test_strange_logins_and_passwords_are_refused_without_an_error_of_ours(gateway: Gateway, text: str) -> None:
    for body in ({"login": text, "password": "x"}, {"login": "x", "password": text}):
        assert 400 <= call(gateway, "POST", "/api/v1/sessions", json=body).status_code < 500
    form = {"login": text.encode(errors="replace"), "password": text.encode(errors="replace")}
    assert 400 <= call(gateway, "POST", "/sign-in", data=form).status_code < 500


@pytest.mark.parametrize("password", ["wrong password", ""])
def test_a_wrong_password_and_an_unknown_login_get_the_same_answer(gateway: Gateway, password: str) -> None:
    login = f"known{time.monotonic_ns()}"
    gateway.account(login=login, password=PASSWORD)
    client = gateway.client()
    if not password:
        answer = call(gateway, "POST", "/api/v1/sessions", json={"login": login, "password": ""})
        assert is_problem(answer, 422, "invalid-request")
        return
    details = []
    seconds = []
    for name in (login, f"un{login}"):
        began = time.monotonic()
        with pytest.raises(Unauthenticated) as refused:
            client.sign_in(name, password)
        seconds.append(time.monotonic() - began)
        details.append((refused.value.slug, refused.value.detail))
    assert details[0] == details[1]
    assert seconds[1] > 0.3 * seconds[0]  # the hash is computed for nobody, too


def test_guessing_a_password_is_stopped(gateway: Gateway) -> None:
    login = f"guess{time.monotonic_ns()}"
    gateway.account(login=login, password=PASSWORD)
    client = gateway.client()
    for _ in range(15):
        with pytest.raises(Unauthenticated):
            client.sign_in(login, "guess")
    with pytest.raises(TooMany) as stopped:
        client.sign_in(login, PASSWORD)
    assert 1 <= stopped.value.retry_after <= 61


def test_the_client_signs_in_writes_and_signs_out(gateway: Gateway) -> None:
    login = f"client{time.monotonic_ns()}"
    account_id = gateway.account(Role.ASSOCIATION_ADMIN, login=login, password=PASSWORD, name="王")
    client = gateway.client()
    assert client.sign_in(login, PASSWORD).account.name == "王"
    assert client.people.me().roles == {Role.ASSOCIATION_ADMIN}
    token = client.people.create_token(name="laptop", days=2)
    assert token.account_id == account_id
    client.sign_out()
    with pytest.raises(Unauthenticated):
        client.people.me()
    with pytest.raises(NotFound):
        gateway.client(token.secret).people.revoke_token(10**12)
