"""What every service refuses before any view runs: calls that the gateway did not vouch for, routes without a right."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jwt
import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask import Flask
from flask_openapi3 import APIBlueprint

from qisai.db.accounts import AccountRow, Role, TokenRow, WebSessionRow
from qisai.db.session import Database
from qisai.web import assertion
from qisai.web.app import make_service
from services.results.app import create_app
from tests import calls, fields
from tests.servers import Servers

PATH = "/api/v1/ops/queue"


@dataclass(frozen=True, slots=True)
class World:
    app: Flask
    owner_url: str
    ops: int

    def get(self, header: str | None) -> Any:
        headers = {} if header is None else {assertion.HEADER: header}
        return self.app.test_client().get(PATH, headers=headers)

    def said(self, **changes: Any) -> assertion.Assertion:
        values = {"account_id": self.ops, "method": "GET", "path": PATH, "request_id": "r", "scopes": ("read",)}
        return assertion.Assertion(**(values | changes))


@pytest.fixture(scope="module")
def world(servers: Servers) -> Iterator[World]:
    database = servers.clone()
    with fields.owner_of(database.owner_url) as session:
        ops = fields.account(session, role=Role.OPS)
    environment = calls.service_environment("results", database, redis_url="redis://127.0.0.1:1/0")
    with calls.service_app(create_app, environment) as app:
        yield World(app, database.owner_url, ops)
    servers.drop(database)


def signed(said: assertion.Assertion) -> str:
    return assertion.sign(said, private_key=calls.key_pair()[0])


def _claims(world: World, **changes: Any) -> dict[str, Any]:
    issued = int(time.time())
    claims = {"aud": "qisai-services", "iat": issued, "exp": issued + 60, "mth": "GET", "pth": PATH, "acc": world.ops}
    return {name: value for name, value in (claims | changes).items() if value is not None}


def test_a_good_assertion_is_believed(world: World) -> None:
    assert world.get(signed(world.said())).status_code == 200


def test_an_assertion_for_another_path_or_method_is_refused(world: World) -> None:
    assert world.get(signed(world.said(path="/api/v1/ops/jobs"))).status_code == 401
    assert world.get(signed(world.said(method="POST"))).status_code == 401


@pytest.mark.parametrize(
    "changes",
    [{"exp": int(time.time()) - 600, "iat": int(time.time()) - 660}, {"aud": "others"}, {"exp": None}, {"pth": None}],
    ids=["expired", "another audience", "without end", "without path"],
)
def test_an_assertion_that_is_old_or_incomplete_is_refused(world: World, changes: dict[str, Any]) -> None:
    token = jwt.encode(_claims(world, **changes), calls.key_pair()[0], algorithm="EdDSA")
    assert world.get(token).status_code == 401


def test_an_assertion_signed_by_somebody_else_is_refused(world: World) -> None:
    other = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public_as_secret = calls.key_pair()[1].encode().replace(b"-----", b"")
    for header in (
        jwt.encode(_claims(world), other, algorithm="EdDSA"),
        jwt.encode(_claims(world), public_as_secret, algorithm="HS256"),
        jwt.encode(_claims(world), None, algorithm="none"),
        "nonsense",
        "",
        None,
    ):
        assert world.get(header).status_code == 401, header


def test_an_account_that_is_switched_off_or_unknown_is_signed_out(world: World) -> None:
    with fields.owner_of(world.owner_url) as session:
        former = fields.account(session, role=Role.OPS)
        session.execute(sa.update(AccountRow).where(AccountRow.id == former).values(is_active=False))
    for account_id in (former, 999_999):
        answer = world.get(signed(world.said(account_id=account_id)))
        assert (answer.status_code, answer.json["type"]) == (401, "urn:qisai:problem:signed-out")


def test_a_session_or_token_is_looked_up_at_every_call(world: World) -> None:
    """Revoking works at once, although the assertion is still good; a session of somebody else never counts."""
    later = sa.func.now() + sa.text("interval '1 hour'")
    with fields.owner_of(world.owner_url) as session:
        stranger = fields.account(session)
        web = WebSessionRow(account_id=world.ops, secret_hash="a", expires_at=later)
        foreign = WebSessionRow(account_id=stranger, secret_hash="b", expires_at=later)
        over = WebSessionRow(account_id=world.ops, secret_hash="c", expires_at=sa.func.now())
        token = TokenRow(account_id=world.ops, name="t", secret_hash="d", scopes=["read"])
        old = TokenRow(account_id=world.ops, name="u", secret_hash="e", scopes=["read"], expires_at=sa.func.now())
        session.add_all([web, foreign, over, token, old])
        session.flush()
        ids = {"web": web.id, "foreign": foreign.id, "over": over.id, "token": token.id, "old": old.id}

    def status(**proof: int) -> int:
        return int(world.get(signed(world.said(**proof))).status_code)

    assert (status(session_id=ids["web"]), status(token_id=ids["token"])) == (200, 200)
    assert (status(session_id=ids["foreign"]), status(session_id=ids["over"]), status(token_id=ids["old"])) == (
        401,
    ) * 3
    with fields.owner_of(world.owner_url) as session:
        for table in (WebSessionRow, TokenRow):
            session.execute(sa.update(table).values(revoked_at=sa.func.now()))
    assert (status(session_id=ids["web"]), status(token_id=ids["token"])) == (401, 401)


def test_a_route_without_a_declared_right_stops_the_service_from_starting(world: World) -> None:
    blueprint = APIBlueprint("forgotten", __name__, url_prefix="/api/v1")

    @blueprint.get("/forgotten")
    def forgotten() -> str:
        return ""

    database: Database = world.app.extensions["qisai.database"]
    with pytest.raises(RuntimeError, match="GET /api/v1/forgotten"):
        make_service(
            "forgetful",
            database=database,
            assertion_public_key=calls.key_pair()[1],
            max_body_bytes=1024,
            blueprints=[blueprint],
        )
