"""Accounts, grants and tokens over the API, and the rows that tell afterwards who did what."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.client import Account, Client
from qisai.db.accounts import GrantRow, Role
from qisai.db.records import AuditRow
from qisai.db.session import Database
from qisai.errors import Conflict, Forbidden, Invalid, NotFound, QisaiError, Stale, Unauthenticated
from qisai.ledger.actor import Actor
from qisai.web.requests import encode_cursor
from qisai.web.shapes import moment
from services.gateway.accounts import give_role
from tests.gateway.harness import PASSWORD, Gateway
from tests.gateway.test_identity import bearer
from tests.gateway.test_proxy import call, is_problem


def fresh(word: str = "login") -> str:
    return f"{word}{time.monotonic_ns()}"


@pytest.fixture
def admin(gateway: Gateway) -> Client:
    return gateway.client(gateway.token_for(Role.ASSOCIATION_ADMIN))


@pytest.fixture
def account(admin: Client) -> Account:
    return admin.people.create_account(login=fresh(), name="李四")


def audited(gateway: Gateway, subject: str) -> list[str]:
    query = sa.select(AuditRow.action).where(AuditRow.subject == subject).order_by(AuditRow.id)
    return [str(row[0]) for row in gateway.sql(query)]


def test_an_administrator_appoints_a_referee_who_gets_a_token(
    admin: Client, gateway: Gateway, account: Account
) -> None:
    grant = admin.people.grant(account.id, Role.REFEREE, boards=(1, 20))
    token = admin.people.create_token(name="phone", account_id=account.id)
    me = gateway.client(token.secret).people.me()
    assert (me.account.name, me.roles, me.grants[0].boards) == ("李四", {Role.REFEREE}, (1, 20))
    admin.people.withdraw_grant(grant.id)
    assert gateway.client(token.secret).people.me().roles == frozenset()
    assert audited(gateway, f"account:{account.id}") == ["account.create"]
    assert audited(gateway, f"grant:{grant.id}") == ["grant.create", "grant.delete"]
    assert audited(gateway, f"token:{token.id}") == ["token.create"]


def test_a_login_is_taken_once_in_any_case_even_when_two_ask_at_once(admin: Client, gateway: Gateway) -> None:
    login = fresh()

    def create(name: str) -> bool:
        try:
            admin.people.create_account(login=name, name="赵")
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(create, [login, login.upper(), login, login.upper()]))
    assert sum(made) == 1


def test_the_same_key_makes_one_account_and_another_body_is_refused(admin: Client) -> None:
    login, key = fresh(), fresh("key")
    first = admin.people.create_account(login=login, name="钱", password=PASSWORD, key=key)
    again = admin.people.create_account(login=login, name="钱", password=PASSWORD, key=key)
    assert first == again
    with pytest.raises(Invalid) as refused:
        admin.people.create_account(login=login, name="钱", password=PASSWORD + "!", key=key)
    assert refused.value.slug == "idempotency-key-reused"


def test_a_repeated_request_for_a_token_does_not_show_its_secret_again(gateway: Gateway) -> None:
    client = gateway.client(gateway.token_for())
    key = fresh("key")
    first = client.people.create_token(name="laptop", key=key)
    again = client.people.create_token(name="laptop", key=key)
    assert first.secret is not None
    assert (again.id, again.secret) == (first.id, None)
    stored = gateway.sql(sa.text("select body from idempotency_key where key = :key"), key=key)
    assert first.secret not in str(stored)


def test_changes_need_the_version_seen(admin: Client, gateway: Gateway, account: Account) -> None:
    renamed = admin.people.change_account(account, name="李四四")
    assert (renamed.name, renamed.version) == ("李四四", 2)
    with pytest.raises(Stale) as stale:
        admin.people.change_account(account, name="别名")
    assert stale.value.current["name"] == "李四四"
    rows = gateway.sql(
        sa.text("select actor_name, at from audit_log where action = 'account.change' and subject = :subject"),
        subject=f"account:{account.id}",
    )
    ((who, at),) = rows
    assert (stale.value.current["updated_by"], stale.value.current["updated_at"]) == (who, moment(at))
    token = gateway.token_for(Role.ASSOCIATION_ADMIN)
    answer = call(gateway, "PATCH", f"/api/v1/accounts/{account.id}", json={"name": "x"}, headers=bearer(token))
    assert is_problem(answer, 428, "version-needed")
    assert audited(gateway, f"account:{account.id}") == ["account.create", "account.change"]


def test_a_new_password_ends_earlier_sign_ins(admin: Client, gateway: Gateway) -> None:
    login = fresh()
    account = admin.people.create_account(login=login, name="孙", password=PASSWORD)
    client = gateway.client()
    client.sign_in(login, PASSWORD)
    admin.people.change_account(account, password="another long one")
    with pytest.raises(Unauthenticated):
        client.people.me()
    with pytest.raises(Unauthenticated):
        gateway.client().sign_in(login, PASSWORD)
    gateway.client().sign_in(login, "another long one")


def test_one_changes_ones_own_password_with_the_old_one(gateway: Gateway) -> None:
    login = fresh()
    token = gateway.token(gateway.account(login=login, password=PASSWORD))
    body = {"old": "wrong wrong", "new": "a longer new one"}
    refused = call(gateway, "PUT", "/api/v1/me/password", json=body, headers=bearer(token))
    assert is_problem(refused, 403, "wrong-password")
    body["old"] = PASSWORD
    assert call(gateway, "PUT", "/api/v1/me/password", json=body, headers=bearer(token)).status_code == 204
    gateway.client().sign_in(login, "a longer new one")


def test_the_last_administrator_stays(servers: object, gateway: Gateway) -> None:
    token = gateway.token_for(Role.ASSOCIATION_ADMIN)
    client = gateway.client(token)
    me = client.people.me()
    others = GrantRow.account_id != me.account.id
    gateway.sql(sa.delete(GrantRow).where(GrantRow.role == Role.ASSOCIATION_ADMIN, others))
    with pytest.raises(Conflict) as refused:
        client.people.withdraw_grant(me.grants[0].id)
    assert refused.value.slug == "last-admin"
    account = next(a for a in client.people.accounts() if a.id == me.account.id)
    with pytest.raises(Conflict):
        client.people.change_account(account, is_active=False)
    assert client.people.me().roles == {Role.ASSOCIATION_ADMIN}


@pytest.mark.parametrize("role", [None, Role.ORGANISER, Role.CHIEF_REFEREE, Role.REFEREE, Role.DESK, Role.OPS])
def test_nobody_else_makes_accounts_or_gives_high_roles(gateway: Gateway, role: Role | None) -> None:
    account_id = gateway.account(*([role] if role else []))
    client = gateway.client(gateway.token(account_id))
    with pytest.raises(Forbidden):
        client.people.create_account(login=fresh(), name="x")
    with pytest.raises(Forbidden):
        client.people.grant(account_id, Role.ASSOCIATION_ADMIN)
    with pytest.raises(Forbidden):
        client.people.create_token(name="x", account_id=gateway.account())
    with pytest.raises(QisaiError):
        client.people.grant(account_id, Role.REFEREE)


@pytest.mark.parametrize("path", ["accounts", "grants", "tokens", "me", "ops/services"])
def test_the_public_sees_none_of_it(gateway: Gateway, path: str) -> None:
    assert is_problem(call(gateway, "GET", f"/api/v1/{path}"), 401, "sign-in-needed")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"login": "a", "name": "x"}, "/login"),
        ({"login": "has space", "name": "x"}, "/login"),
        ({"login": "okay", "name": " "}, "/name"),
        ({"login": "okay", "name": "x", "more": 1}, "/more"),
        ({"login": "okay", "name": "x", "password": "short"}, "/password"),
        ({"name": "x"}, "/login"),
        ({"login": "okay", "name": "a\x00b"}, "/name"),
        ({"login": "okay", "name": "\u3164\u200b"}, "/name"),
        ({"login": "okay", "name": "a\ud800b"}, "/name"),
        ({"login": "okay", "name": "x", "password": "long enough \x00"}, "/password"),
    ],
)
def test_a_bad_account_is_refused_with_the_place(gateway: Gateway, body: dict[str, str], pointer: str) -> None:
    headers = bearer(gateway.token_for(Role.ASSOCIATION_ADMIN))
    answer = call(gateway, "POST", "/api/v1/accounts", json=body, headers=headers)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"login": NaN}', b"[" * 5000])
def test_a_broken_body_is_refused_without_an_error_of_ours(gateway: Gateway, content: bytes) -> None:
    headers = {**bearer(gateway.token_for(Role.ASSOCIATION_ADMIN)), "Content-Type": "application/json"}
    answer = call(gateway, "POST", "/api/v1/accounts", data=content, headers=headers)
    assert 400 <= answer.status_code < 500
    assert answer.headers["Content-Type"].startswith("application/problem+json")


def test_a_role_that_does_not_fit_its_place_is_refused(admin: Client, account: Account) -> None:
    with pytest.raises(Invalid):
        admin.people.grant(account.id, Role.OPS, event_id=1)
    with pytest.raises(Invalid):
        admin.people.grant(account.id, Role.DESK, boards=(1, 2))
    with pytest.raises(Invalid):
        admin.people.grant(account.id, Role.REFEREE, boards=(5, 2))
    with pytest.raises(NotFound):
        admin.people.grant(account.id, Role.REFEREE, event_id=10**12)
    with pytest.raises(NotFound):
        admin.people.grant(10**12, Role.REFEREE)


def test_the_same_role_given_twice_is_one_grant(admin: Client, account: Account) -> None:
    first = admin.people.grant(account.id, Role.DESK)
    assert admin.people.grant(account.id, Role.DESK).id == first.id
    assert admin.people.grants(account_id=account.id) == (first,)


def test_the_same_role_given_by_two_at_once_is_one_grant(gateway: Gateway, account: Account) -> None:
    database = Database(gateway.database.url("gateway"), application="test")
    place = {"role": Role.DESK, "event_id": None, "boards": None}

    def give(session: Session) -> int:
        actor = Actor(account_id=None, name="test")
        row = give_role(session, actor, account_id=account.id, granted_by="test", **place)  # type: ignore[arg-type]
        return row.id

    def give_and_commit() -> int:
        with database.transaction() as session:
            return give(session)

    with ThreadPoolExecutor(1) as other:
        with database.transaction() as session:
            first = give(session)
            second = other.submit(give_and_commit)
            with pytest.raises(FutureTimeout):
                second.result(timeout=0.7)  # it waits until the first is committed, then finds it
        assert second.result(timeout=10) == first
    database.close()


def test_lists_are_paged_by_cursor(gateway: Gateway) -> None:
    headers = bearer(gateway.token_for(Role.ASSOCIATION_ADMIN))
    first = call(gateway, "GET", "/api/v1/accounts?limit=2", headers=headers).json()
    second = call(gateway, "GET", f"/api/v1/accounts?limit=2&cursor={first['next']}", headers=headers).json()
    assert len(first["items"]) == 2
    assert second["items"][0]["id"] > first["items"][-1]["id"]
    assert is_problem(call(gateway, "GET", "/api/v1/accounts?cursor=x", headers=headers), 422, "bad-cursor")
    for foreign in ([1 << 63], [0], ["a"]):
        path = f"/api/v1/accounts?cursor={encode_cursor(foreign)}"
        assert is_problem(call(gateway, "GET", path, headers=headers), 422, "bad-cursor")


def test_guessing_links_is_limited(gateway: Gateway) -> None:
    statuses = [
        call(gateway, "POST", "/api/v1/invitations/read", json={"token": f"guess{number}"}).status_code
        for number in range(80)
    ]
    assert statuses[0] == 404
    assert statuses[-1] == 429
    answer = call(gateway, "POST", "/api/v1/password-resets/use", json={"token": "guess", "new": "an entirely new one"})
    assert is_problem(answer, 429, "too-many-sign-ins")
