"""Every route of the gateway's own API for every role, enumerated from its URL map; and none without a right."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from qisai.db.accounts import Role
from qisai.settings import GatewaySettings
from qisai.web import rights
from qisai.web.rights import Right
from services.gateway import app as gateway_app
from services.gateway.proxy import ENDPOINT
from services.gateway.routes import API
from tests.gateway.harness import Gateway, new_keys
from tests.gateway.test_identity import bearer
from tests.gateway.test_proxy import call

ANYBODY = frozenset({"public", "nobody", *(role.value for role in Role)})
SIGNED_IN = ANYBODY - {"public"}
ADMIN = frozenset({Role.ASSOCIATION_ADMIN.value})
OPERATE = ADMIN | {Role.OPS.value}
APPOINT = ADMIN | {Role.ORGANISER.value}

ALLOWED: dict[tuple[str, str], frozenset[str]] = {
    ("POST", "/sessions"): ANYBODY,
    ("DELETE", "/sessions/current"): SIGNED_IN,
    ("GET", "/me"): SIGNED_IN,
    ("PUT", "/me/password"): SIGNED_IN,
    ("GET", "/accounts"): ADMIN,
    ("POST", "/accounts"): ADMIN,
    ("PATCH", "/accounts/<int:account_id>"): ADMIN,
    ("GET", "/grants"): APPOINT,
    ("POST", "/grants"): APPOINT,
    ("DELETE", "/grants/<int:grant_id>"): APPOINT,
    ("GET", "/tokens"): SIGNED_IN,
    ("POST", "/tokens"): SIGNED_IN,
    ("DELETE", "/tokens/<int:token_id>"): SIGNED_IN,
    ("GET", "/me/sessions"): SIGNED_IN,
    ("DELETE", "/me/sessions"): SIGNED_IN,
    ("DELETE", "/me/sessions/<int:session_id>"): SIGNED_IN,
    ("GET", "/invitations"): APPOINT,
    ("POST", "/invitations"): APPOINT,
    ("DELETE", "/invitations/<int:invitation_id>"): APPOINT,
    ("POST", "/invitations/read"): ANYBODY,
    ("POST", "/invitations/accept"): SIGNED_IN,
    ("POST", "/invitations/sign-up"): ANYBODY,
    ("POST", "/accounts/<int:account_id>/password-reset"): ADMIN,
    ("DELETE", "/accounts/<int:account_id>/password-reset"): ADMIN,
    ("POST", "/password-resets/use"): ANYBODY,
    ("GET", "/ops/services"): OPERATE,
    ("GET", "/openapi.json"): ANYBODY,
    ("GET", "/docs"): ANYBODY,
    ("GET", "/events/<int:event_id>/stream"): ANYBODY,  # results decides, who knows the event
}
"""Who gets past the check of rights. The operation may still refuse, as an organiser who names no event."""


@pytest.fixture(scope="module")
def app(gateway: Gateway) -> Flask:
    """The same application in this process, to be looked at."""
    return gateway_app.create_app(settings(gateway))


def settings(gateway: Gateway) -> GatewaySettings:
    return GatewaySettings(
        database_url=gateway.database.url("gateway"),
        redis_url="redis://127.0.0.1:1/0",
        redis_prefix="",
        assertion_private_key=new_keys()[0],
        secret_key="s" * 32,
        registration_url=gateway.echo_url,
        results_url=gateway.echo_url,
        keeper_url="",
        public_url=gateway.url,
        trusted_proxies=0,
        max_body_bytes=100_000,
        rate_limit="1000/minute",
        sign_in_limit="1000/minute",
    )


@pytest.fixture(scope="module")
def callers(gateway: Gateway) -> dict[str, dict[str, str]]:
    """Headers of one caller for each role, of an account without any, and of the public."""
    found = {role.value: bearer(gateway.token_for(role)) for role in Role}
    return {"public": {}, "nobody": bearer(gateway.token_for()), **found}


def test_the_table_names_every_route_of_the_gateways_own_api(app: Flask) -> None:
    own = {
        (method, rule.rule.removeprefix(API))
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(API) and not rule.endpoint.startswith(ENDPOINT)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert own == set(ALLOWED)


@pytest.mark.parametrize(("method", "pattern"), sorted(ALLOWED), ids=lambda part: part.replace("/", "."))
def test_only_these_roles_get_in(
    gateway: Gateway, callers: dict[str, dict[str, str]], method: str, pattern: str
) -> None:
    path = API + re.sub(r"<[^>]+>", "987654321", pattern)
    for name, headers in callers.items():
        answer = call(gateway, method, path, json=None if method in ("GET", "DELETE") else {}, headers=headers)
        if name in ALLOWED[method, pattern]:
            lets_in = answer.status_code not in (401, 403)
            narrowed = (
                answer.status_code == 403 and name == "organiser" and ("grants" in path or "invitations" in path)
            )  # no event is named
            assert lets_in or narrowed, (name, answer.status_code, answer.text)
        else:
            assert answer.status_code == (401 if name == "public" else 403), (name, answer.text)


def test_pages_and_what_is_passed_on_leave_rights_to_those_who_know_the_event(app: Flask) -> None:
    for rule in app.url_map.iter_rules():
        declared = rights.declaration_of(app.view_functions[rule.endpoint])
        assert declared is not None, rule.rule
        if not rule.rule.startswith(API) or rule.endpoint.startswith(ENDPOINT):
            inner = rule.rule in ("/healthz", "/readyz", "/metrics")
            assert declared.right is (Right.INTERNAL if inner else Right.PUBLIC), rule.rule


def test_a_route_without_a_right_keeps_the_gateway_from_starting(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_forgotten_route(app: Flask) -> None:
        app.add_url_rule("/api/v1/forgotten", view_func=lambda: "open to all", endpoint="forgotten")

    monkeypatch.setattr(gateway_app.health, "install", with_a_forgotten_route)
    with pytest.raises(RuntimeError, match="/api/v1/forgotten"):
        gateway_app.create_app(settings(gateway))
