"""Whatever fits or breaks the described form of a route: no answer is a 5xx, and every refusal is a problem document.

Bodies, queries and headers are made from each service's own API description, as an administrator sends them, mostly to
things that exist. `QISAI_FUZZ_EXAMPLES` says how many a route gets: a few in the suite, thousands before a release.
"""

from __future__ import annotations

import os
import string
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from json import dumps
from typing import Any, Final

import pytest
import schemathesis
import sqlalchemy as sa
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from qisai.db.accounts import AccountRow, GrantRow, InvitationRow, Role, TokenRow, WebSessionRow
from qisai.db.secrets import new_token
from qisai.db.session import Database
from qisai.settings import GatewaySettings
from qisai.web import assertion
from services.gateway.app import create_app as gateway_app
from services.gateway.parts import parts as gateway_parts
from tests import calls, fields
from tests.contracts.test_every_route_every_role import SERVICES
from tests.servers import Servers

EXAMPLES: Final = int(os.environ.get("QISAI_FUZZ_EXAMPLES", "4"))
LARGE_VERSIONS: Final = ('"v2147483646"', '"v2147483647"', '"v2147483648"', '"v9999999999"', '"v99999999999"')
"""Around what a column holds: a version that is taken is also written, alone and with one added."""
VERSIONS: Final = st.sampled_from(['"v1"', '"v2"', '"v3"', "", "*", 'W/"c1"', *LARGE_VERSIONS])
TEXT: Final = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
ROSTERS: Final = st.lists(
    st.sampled_from(["姓名", "编号", ",", "\n", "陈一", "1800", '"', "=1", "性别", "女"]), max_size=20
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One service over an event with a round and a draft, or the gateway with its own routes, as an administrator."""

    app: Flask
    proof: Callable[[str, str], dict[str, str]]
    """Headers that say who calls, by method and path."""
    values: Mapping[str, int | str]

    def operations(self) -> list[Any]:
        """Every described operation."""
        schema = schemathesis.openapi.from_dict(self.app.api_doc)  # type: ignore[attr-defined]
        found = [found.ok() for found in schema.get_all_operations()]
        # A stream does not end, and is results' to decide; readiness is 503 where nothing is ready.
        return [one for one in found if not one.path.endswith(("/stream", "/readyz"))]

    def send(self, case: Any, *, body: Any, version: str, path_values: Mapping[str, Any]) -> Any:
        path = case.operation.path
        for name, value in path_values.items():
            path = path.replace("{" + name + "}", str(value))
        headers = self.proof(case.method, path)
        if version:
            headers["If-Match"] = version
        query = {name: value for name, value in (case.query or {}).items() if value is not None}
        content = body if isinstance(body, bytes) else None if body is None else dumps(body).encode()
        kind = "text/csv" if isinstance(body, bytes) else "application/json"
        return self.app.test_client().open(
            path, method=case.method, headers=headers, query_string=query, data=content,
            content_type=None if content is None else kind,
        )  # fmt: skip


def asserted(account_id: int) -> Callable[[str, str], dict[str, str]]:
    """What the gateway says of an account to a service."""

    def headers(method: str, path: str) -> dict[str, str]:
        said = assertion.Assertion(
            account_id=account_id, scopes=("read", "write"), method=method, path=path, request_id="fuzz"
        )
        return {assertion.HEADER: assertion.sign(said, private_key=calls.key_pair()[0])}

    return headers


@pytest.fixture(scope="module", params=[*SERVICES, "gateway"])
def target(request: pytest.FixtureRequest, servers: Servers) -> Iterator[Target]:
    with _gateway(servers) if request.param == "gateway" else _service(request.param, servers) as made:
        yield made


@contextmanager
def _gateway(servers: Servers) -> Iterator[Target]:
    """The gateway without any service behind it. Those who call have ids that no drawn number meets."""
    database, far = servers.clone(), 10**15
    with fields.owner_of(database.owner_url) as session:
        event = fields.ready_event(session)
        other = fields.account(session)
        secret, secret_hash = new_token()
        session.add(AccountRow(id=far, login="fuzz", name="某"))
        session.flush()
        invitation = InvitationRow(
            secret_hash="a", role=Role.DESK, event_id=event.event_id, name="", invited_by=far,
            expires_at=sa.func.now() + sa.text("interval '1 day'"),
        )  # fmt: skip
        token = TokenRow(account_id=other, name="t", secret_hash="b", scopes=["read"])
        grant = GrantRow(account_id=other, role=Role.DESK, event_id=event.event_id, granted_by="某")
        web = WebSessionRow(account_id=far, secret_hash="c", expires_at=sa.func.now() + sa.text("interval '1 day'"))
        session.add_all(
            [
                GrantRow(id=far, account_id=far, role=Role.ASSOCIATION_ADMIN, granted_by="某"),
                TokenRow(id=far, account_id=far, name="f", secret_hash=secret_hash, scopes=["read", "write"]),
                invitation, token, grant, web,
            ]
        )  # fmt: skip
        session.flush()
        values: dict[str, int | str] = {
            "account_id": other, "invitation_id": invitation.id, "token_id": token.id, "grant_id": grant.id,
            "session_id": web.id, "event_id": event.event_id,
        }  # fmt: skip
    app = gateway_app(gateway_settings(database.url("gateway")))
    yield Target(app=app, proof=lambda _method, _path: {"Authorization": f"Bearer {secret}"}, values=values)
    database_of(app).close()
    servers.drop(database)


def gateway_settings(database_url: str) -> GatewaySettings:
    nobody = "http://127.0.0.1:1"
    return GatewaySettings(
        database_url=database_url, redis_url="redis://127.0.0.1:1/0", redis_prefix="",
        assertion_private_key=calls.key_pair()[0], secret_key="s" * 32, registration_url=nobody, results_url=nobody,
        keeper_url="", public_url="http://localhost", trusted_proxies=0, max_body_bytes=100_000,
        rate_limit="1000000/minute", sign_in_limit="1000000/minute",
    )  # fmt: skip


def database_of(gateway: Flask) -> Database:
    with gateway.app_context():
        return gateway_parts().database


@contextmanager
def _service(name: str, servers: Servers) -> Iterator[Target]:
    create_app, _table = SERVICES[name]
    database = servers.clone()
    with fields.owner_of(database.owner_url) as session:
        event = fields.ready_event(session, entrants=6)
        admin = fields.account(session, role=Role.ASSOCIATION_ADMIN)
        fields.add_round(session, event, pairs=[(1, 4), (2, 5), (3, 6)])
        fields.add_draft(session, event, round_no=2, pairs=[(1, 2), (3, 4), (5, 6)])
        values: dict[str, int | str] = {
            "event_id": event.event_id, "round_no": 2, "draw_no": 1, "board_id": event.board_ids[1, 1], "job_id": 1,
            "alert_id": 1, "entrant_number": 1, "entrant_id": event.entrant_ids[1], "pair_id": 1, "step_id": 1,
            "code": "xiangqi", "token": "x" * 43, "number": 1,
        }  # fmt: skip
    environment = calls.service_environment(name, database, redis_url="redis://127.0.0.1:1/0")
    with calls.service_app(create_app, environment) as app:
        yield Target(app=app, proof=asserted(admin), values=values)
    servers.drop(database)


def path_value(known: int | str | None) -> st.SearchStrategy[Any]:
    """Mostly the one that exists."""
    letters = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=30)
    other: st.SearchStrategy[Any] = st.integers(0, 2**70) if isinstance(known, int) else letters
    return other if known is None else st.one_of(st.just(known), st.just(known), st.just(known), other)


def body_of(case: Any, data: st.DataObject) -> Any:
    """What the description makes, now and then broken somewhere; a roster where a file is sent."""
    if case.operation.path.endswith("/entrants/import"):
        return "".join(data.draw(ROSTERS)).encode(data.draw(st.sampled_from(["utf-8", "gb18030"])))
    if isinstance(case.body, dict) and case.body and data.draw(st.integers(0, 3)) == 0:
        name = data.draw(st.sampled_from(sorted(case.body)))
        return {**case.body, name: data.draw(st.one_of(st.none(), st.integers(), st.lists(TEXT, max_size=3), TEXT))}
    return case.body if isinstance(case.body, dict | list | str | int | float | bool) else None


def test_no_described_call_ends_in_a_5xx_and_every_refusal_is_a_problem(target: Target) -> None:
    operations = target.operations()
    assert len(operations) > 20
    for operation in operations:

        @settings(
            max_examples=EXAMPLES, deadline=None, database=None, derandomize=EXAMPLES < 10, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(), data=st.data())
        def tried(case: Any, data: st.DataObject) -> None:
            names = [part[1:-1] for part in case.operation.path.split("/") if part.startswith("{")]
            path_values = {name: data.draw(path_value(target.values.get(name))) for name in names}
            body, version = body_of(case, data), data.draw(VERSIONS)
            answer = target.send(case, body=body, version=version, path_values=path_values)
            shown = (
                case.method,
                case.operation.path,
                path_values,
                case.query,
                body,
                answer.get_data()[:500],
            )
            allowed = answer.status_code < 500 or answer.json["type"].split(":")[-1] in ("busy", "draws-unavailable")
            assert allowed, shown
            if answer.status_code >= 400:
                assert answer.content_type.startswith("application/problem+json"), shown

        tried()
