"""Pages that need no service behind the gateway: signing in and out, errors, files."""

from __future__ import annotations

import re
import time

import pytest
import requests

from qisai.db.accounts import Role
from tests.gateway.harness import PASSWORD, Gateway

HTML = {"Accept": "text/html,application/xhtml+xml", "Accept-Language": "en"}


def sign_in(gateway: Gateway, *roles: Role, next_page: str = "") -> tuple[requests.Session, requests.Response]:
    login = f"page{time.monotonic_ns()}"
    gateway.account(*roles, login=login, password=PASSWORD, name="陈某")
    browser = requests.Session()
    browser.headers.update(HTML)
    form = {"login": login, "password": PASSWORD, "next": next_page}
    return browser, browser.post(f"{gateway.url}/sign-in", data=form, allow_redirects=False, timeout=10)


def test_signing_in_by_form_leads_back_to_where_one_wanted_to_go(gateway: Gateway) -> None:
    browser, answer = sign_in(gateway, next_page="/sign-in?x=1")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?x=1")
    assert "qisai_session" in browser.cookies


@pytest.mark.parametrize(
    "where", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "evil"]
)
def test_signing_in_never_leads_to_another_site(gateway: Gateway, where: str) -> None:
    _browser, answer = sign_in(gateway, next_page=where)
    assert answer.headers["Location"] == "/"


def test_a_wrong_password_shows_the_form_again_with_the_login(gateway: Gateway) -> None:
    form = {"login": "<b>someone", "password": "wrong"}
    answer = requests.post(f"{gateway.url}/sign-in", data=form, headers=HTML, timeout=10)
    assert answer.status_code == 401
    assert "Login or password is wrong." in answer.text
    assert 'value="&lt;b&gt;someone"' in answer.text


def test_signing_out_needs_the_pages_token_and_ends_the_session(gateway: Gateway) -> None:
    browser, _answer = sign_in(gateway)
    page = browser.get(f"{gateway.url}/nothing", timeout=10).text
    token = re.search(r'name="csrf_token" value="([0-9a-f]{64})"', page)
    assert token is not None
    without = browser.post(f"{gateway.url}/sign-out", timeout=10)
    assert without.status_code == 403
    done = browser.post(f"{gateway.url}/sign-out", data={"csrf_token": token[1]}, allow_redirects=False, timeout=10)
    assert done.status_code == 303
    assert browser.get(f"{gateway.url}/api/v1/me", timeout=10).status_code == 401


def test_an_unknown_page_is_a_page_for_people_and_a_problem_for_programs(gateway: Gateway) -> None:
    page = requests.get(f"{gateway.url}/nothing", headers=HTML, timeout=10)
    assert (page.status_code, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert page.headers["X-Request-ID"] in page.text
    api = requests.get(f"{gateway.url}/api/v1/nothing", headers=HTML, timeout=10)
    assert api.headers["Content-Type"].startswith("application/problem+json")


def test_a_name_with_markup_is_shown_as_typed(gateway: Gateway) -> None:
    login = f"page{time.monotonic_ns()}"
    gateway.account(login=login, password=PASSWORD, name="<script>alert(1)</script>")
    browser = requests.Session()
    browser.post(f"{gateway.url}/sign-in", data={"login": login, "password": PASSWORD}, timeout=10)
    page = browser.get(f"{gateway.url}/nothing", headers=HTML, timeout=10).text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


@pytest.mark.parametrize("name", ["style.css", "entry.js", "site.js", "session.js", "live.js", "draw.js", "icon.svg"])
def test_files_of_pages_are_served_and_kept_when_named_with_their_print(gateway: Gateway, name: str) -> None:
    plain = requests.get(f"{gateway.url}/assets/{name}", timeout=10)
    assert plain.status_code == 200
    assert len(plain.content) < 30_000
    named = requests.get(f"{gateway.url}/assets/{name}?v=1", timeout=10)
    assert "max-age=31536000" in named.headers["Cache-Control"]


@pytest.mark.parametrize("name", ["..%2fsite.py", "../site.py", "nothing.css", "%2e%2e%2f%2e%2e%2fapp.py"])
def test_nothing_else_is_served(gateway: Gateway, name: str) -> None:
    assert requests.get(f"{gateway.url}/assets/{name}", timeout=10).status_code == 404


def test_metrics_are_for_those_who_operate(gateway: Gateway) -> None:
    assert requests.get(f"{gateway.url}/metrics", timeout=10).status_code == 401
    plain = {"Authorization": f"Bearer {gateway.token_for(Role.ORGANISER)}"}
    assert requests.get(f"{gateway.url}/metrics", headers=plain, timeout=10).status_code == 403
    ops = {"Authorization": f"Bearer {gateway.token_for(Role.OPS)}"}
    answer = requests.get(f"{gateway.url}/metrics", headers=ops, timeout=10)
    assert "qisai_http_requests_total" in answer.text
