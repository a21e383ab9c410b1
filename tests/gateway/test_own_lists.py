"""Lists that the gateway answers itself take as many statements for sixty rows as for three."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import pytest
import sqlalchemy as sa
from flask import Flask

from qisai.db.accounts import GrantRow, InvitationRow, Role, TokenRow, WebSessionRow
from qisai.local.ports import free_port
from services.gateway import app as gateway_app
from services.gateway.parts import parts
from tests.gateway.harness import Gateway
from tests.gateway.test_identity import bearer
from tests.gateway.test_rights import settings

LISTS: Final = ("/api/v1/accounts", "/api/v1/grants", "/api/v1/tokens", "/api/v1/invitations", "/api/v1/me/sessions",
                "/api/v1/me", "/account", "/accounts")  # fmt: skip


@pytest.fixture(scope="module")
def app(gateway: Gateway) -> Flask:
    """The same application in this process, so that its statements can be counted; the services behind it are away."""
    away = f"http://127.0.0.1:{free_port()}"
    return gateway_app.create_app(replace(settings(gateway), registration_url=away, results_url=away))


@contextmanager
def counted(app: Flask) -> Iterator[list[str]]:
    with app.app_context():
        engine = parts().database.engine
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        sent.append(statement)

    sa.event.listen(engine, "before_cursor_execute", note)
    yield sent
    sa.event.remove(engine, "before_cursor_execute", note)


def fill(gateway: Gateway, account_id: int, count: int) -> None:
    """So many more of everything that stands in a list of this account's."""
    later = sa.func.now() + sa.text("interval '1 day'")
    for _place in range(count):
        other = gateway.account(Role.OPS)
        gateway.sql(sa.insert(GrantRow).values(account_id=account_id, role=Role.DESK, granted_by="t"))
        for table, values in (
            (TokenRow, {"account_id": account_id, "name": "t", "scopes": ["read"]}),
            (WebSessionRow, {"account_id": account_id, "expires_at": later}),
            (InvitationRow, {"role": Role.OPS, "name": "", "invited_by": other, "expires_at": later}),
        ):
            gateway.sql(sa.insert(table).values(secret_hash=secrets.token_hex(8), **values))


def test_lists_take_as_many_statements_for_many_rows_as_for_few(app: Flask, gateway: Gateway) -> None:
    account_id = gateway.account(Role.ASSOCIATION_ADMIN)
    headers = {**bearer(gateway.token(account_id)), "Accept": "text/html"}
    taken: list[dict[str, int]] = []
    for more in (3, 57):
        fill(gateway, account_id, more)
        taken.append({})
        for path in LISTS:
            app.test_client().get(path, headers=headers)  # the credential is found once
            with counted(app) as sent:
                assert app.test_client().get(path, headers=headers).status_code == 200, path
            taken[-1][path] = len(sent)
    assert taken[0] == taken[1]
    assert max(taken[0].values()) < 12, taken[0]
