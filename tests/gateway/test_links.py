"""Links that are handed over: who may make them, what they do once, and that they tell nobody anything afterwards."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
import sqlalchemy as sa

from qisai.client import Client
from qisai.db.accounts import AccountRow, InvitationRow, PasswordResetRow, Role
from qisai.db.records import AuditRow
from qisai.db.secrets import hash_password
from qisai.errors import Conflict, Forbidden, Invalid, NotFound, QisaiError, Unauthenticated
from qisai.ledger.actor import Actor
from services.gateway import accounts, invitations, password_resets
from services.gateway.app import create_app
from services.gateway.parts import parts
from tests.gateway.harness import PASSWORD, Gateway
from tests.gateway.platform import Platform
from tests.gateway.test_accounts import fresh
from tests.gateway.test_identity import bearer
from tests.gateway.test_proxy import call
from tests.gateway.test_rights import settings
from tests.results.interleaving import InBackground

NEW = "an entirely new one"


@pytest.fixture
def gateway(platform: Platform) -> Gateway:
    """The platform's: an invitation names an event, which registration makes."""
    return platform.gateway


@pytest.fixture
def event_id(platform: Platform) -> int:
    return platform.event()


def organiser(platform: Platform) -> tuple[Client, int]:
    """An organiser and an event of theirs."""
    client = platform.gateway.client(platform.gateway.token_for(Role.ORGANISER))
    return client, client.events.create(name="自办赛", profile="weiqi").id


def sign_up(gateway: Gateway, token: str, *, login: str | None = None) -> Client:
    """Makes an account by a link and signs in with it."""
    login = login or fresh()
    gateway.client().links.sign_up(token, login=login, name="新人", password=PASSWORD)
    client = gateway.client()
    client.sign_in(login, PASSWORD)
    return client


def tells_nothing(gateway: Gateway, token: str) -> bool:
    """Whether the answer is that of a link that never was."""
    said = []
    for secret in (token, "no-such-link"):
        try:
            gateway.client().links.read(secret)
            return False
        except NotFound as error:
            said.append((error.slug, error.detail, error.context))
    return said[0] == said[1]


def test_whoever_holds_the_link_makes_an_account_with_the_role_once(platform: Platform, event_id: int) -> None:
    made = platform.admin.links.invite(Role.REFEREE, event_id=event_id, boards=(1, 4), name="小李")
    assert made.link is not None
    assert made.token is not None
    assert made.link.endswith(f"/invitations/{made.token}")
    told = platform.gateway.client().links.read(made.token)
    assert (told.role, told.event, told.boards, told.name, told.invited_by) == (
        Role.REFEREE, "春季赛", (1, 4), "小李", "裁判长",
    )  # fmt: skip
    person = sign_up(platform.gateway, made.token)
    me = person.people.me()
    assert [(g.role, g.event_id, g.boards) for g in me.grants] == [(Role.REFEREE, event_id, (1, 4))]
    with pytest.raises(NotFound):
        platform.gateway.client().links.sign_up(made.token, login=fresh(), name="别人", password=PASSWORD)
    assert tells_nothing(platform.gateway, made.token)
    (listed,) = platform.admin.links.invitations(event_id=event_id)
    assert (listed.accepted_by, listed.token, listed.link) == (me.account.id, None, None)


def test_the_log_names_who_invited_and_who_took_the_role(platform: Platform, event_id: int) -> None:
    made = platform.admin.links.invite(Role.DESK, event_id=event_id)
    assert made.token is not None
    me = sign_up(platform.gateway, made.token).people.me()
    query = sa.select(AuditRow.action, AuditRow.actor_name, AuditRow.event_id).where(
        AuditRow.subject.in_([f"invitation:{made.id}", f"account:{me.account.id}", f"grant:{me.grants[0].id}"])
    )
    assert [tuple(row) for row in platform.gateway.sql(query.order_by(AuditRow.id))] == [
        ("invitation.create", "裁判长", event_id),
        ("account.create", "新人", None),
        ("grant.create", "新人", event_id),
        ("invitation.accept", "新人", event_id),
    ]


def test_somebody_with_an_account_takes_the_role_with_it(platform: Platform, event_id: int) -> None:
    made = platform.admin.links.invite(Role.CHIEF_REFEREE, event_id=event_id)
    assert made.token is not None
    gateway = platform.gateway
    account_id = gateway.account(name="老王")
    read_only = gateway.client(gateway.token(account_id, scopes=("read",)))
    with pytest.raises(Forbidden):
        read_only.links.accept(made.token)
    with pytest.raises(Unauthenticated):
        gateway.client().links.accept(made.token)
    grant = gateway.client(gateway.token(account_id)).links.accept(made.token)
    assert (grant.account_id, grant.role, grant.event_id) == (account_id, Role.CHIEF_REFEREE, event_id)


def test_of_many_who_use_one_link_at_once_one_gets_the_role(platform: Platform, event_id: int) -> None:
    made = platform.admin.links.invite(Role.DESK, event_id=event_id)
    assert made.token is not None
    clients = [platform.gateway.client(platform.gateway.token_for()) for _ in range(8)]

    def take(client: Client) -> bool:
        try:
            client.links.accept(made.token or "")
        except NotFound:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, clients)) == 1
    assert len([g for g in platform.admin.people.grants(event_id=event_id) if g.role is Role.DESK]) == 1


def test_who_read_a_link_before_somebody_took_it_does_not_take_it_again(gateway: Gateway, event_id: int) -> None:
    """Pins that the held row is read anew: the page reads the invitation first, in the transaction that takes it."""
    made = gateway.client(gateway.token_for(Role.ASSOCIATION_ADMIN)).links.invite(Role.DESK, event_id=event_id)
    assert made.token is not None
    slow, quick = (Actor(account_id=gateway.account(name=name), name=name) for name in ("慢", "快"))
    app = create_app(settings(gateway))
    with app.app_context():
        database = parts().database
    with database.transaction() as one:
        seen = invitations.find(one, made.token)
        with database.transaction() as other:
            invitations.accept(other, quick, made.token)
        with pytest.raises(NotFound):
            invitations.accept(one, slow, made.token)
        assert seen.row.accepted_by == quick.account_id
    database.close()


def test_a_login_that_is_taken_leaves_the_link_as_it_was(platform: Platform, event_id: int) -> None:
    made = platform.admin.links.invite(Role.DESK, event_id=event_id)
    assert made.token is not None
    with pytest.raises(Conflict) as refused:
        platform.gateway.client().links.sign_up(made.token, login=platform.login.upper(), name="某", password=PASSWORD)
    assert refused.value.slug == "login-taken"
    with pytest.raises(Invalid):
        platform.gateway.client().links.sign_up(made.token, login=fresh(), name="某", password="short")
    assert sign_up(platform.gateway, made.token).people.me().roles == {Role.DESK}


def revoked(platform: Platform, invitation_id: int) -> None:
    platform.admin.links.revoke(invitation_id)


def expired(platform: Platform, invitation_id: int) -> None:
    here = InvitationRow.id == invitation_id
    platform.gateway.sql(sa.update(InvitationRow).where(here).values(expires_at=sa.func.now()))


@pytest.mark.parametrize("end", [revoked, expired])
def test_a_link_that_has_ended_counts_no_more_from_the_next_call_on(
    platform: Platform, event_id: int, end: Callable[[Platform, int], None]
) -> None:
    made = platform.admin.links.invite(Role.DESK, event_id=event_id)
    assert made.token is not None
    assert platform.gateway.client().links.read(made.token).role is Role.DESK
    end(platform, made.id)
    assert tells_nothing(platform.gateway, made.token)
    with pytest.raises(NotFound):
        platform.gateway.client().links.sign_up(made.token, login=fresh(), name="某", password=PASSWORD)
    with pytest.raises(NotFound):
        platform.gateway.client(platform.gateway.token_for()).links.accept(made.token)


def test_a_link_counts_only_while_its_maker_may_give_the_role(platform: Platform) -> None:
    client, event_id = organiser(platform)
    made = client.links.invite(Role.REFEREE, event_id=event_id)
    assert made.token is not None
    (own,) = client.people.me().grants
    platform.admin.people.withdraw_grant(own.id)
    assert tells_nothing(platform.gateway, made.token)


def test_an_organiser_invites_referees_and_desk_into_their_own_event_only(platform: Platform, event_id: int) -> None:
    client, own = organiser(platform)
    made = client.links.invite(Role.REFEREE, event_id=own)
    assert [one.id for one in client.links.invitations(event_id=own)] == [made.id]
    foreign = platform.admin.links.invite(Role.DESK, event_id=event_id)
    for refused in (
        lambda: client.links.invite(Role.ORGANISER, event_id=own),
        lambda: client.links.invite(Role.REFEREE),
        lambda: client.links.invite(Role.DESK, event_id=event_id),
        lambda: client.links.invitations(),
        lambda: client.links.invitations(event_id=event_id),
        lambda: client.links.revoke(foreign.id),
    ):
        with pytest.raises(Forbidden):
            refused()
    client.links.revoke(made.id)


@pytest.mark.parametrize(
    ("role", "place"),
    [
        (Role.OPS, {"event_id": 1}),
        (Role.DESK, {"boards": (1, 2)}),
        (Role.REFEREE, {"boards": (5, 2)}),
        (Role.REFEREE, {"days": 31}),
        (Role.REFEREE, {"event_id": 10**12}),
    ],
)
def test_an_invitation_that_could_not_be_taken_is_not_made(platform: Platform, role: Role, place: object) -> None:
    with pytest.raises((Invalid, NotFound)):
        platform.admin.links.invite(role, **place)  # type: ignore[arg-type]


def test_a_repeated_invitation_does_not_show_its_link_again(platform: Platform, event_id: int) -> None:
    key = fresh("key")
    first = platform.admin.links.invite(Role.DESK, event_id=event_id, key=key)
    again = platform.admin.links.invite(Role.DESK, event_id=event_id, key=key)
    assert (again.id, again.token, again.link) == (first.id, None, None)


def test_a_new_password_by_link_ends_every_sign_in_and_the_link(platform: Platform) -> None:
    gateway, login = platform.gateway, fresh()
    account_id = gateway.account(login=login, password=PASSWORD)
    before = gateway.client()
    before.sign_in(login, PASSWORD)
    made = platform.admin.links.new_password(account_id)
    with pytest.raises(Invalid):
        gateway.client().links.set_password(made.token, "short")
    gateway.client().links.set_password(made.token, NEW)
    with pytest.raises(Unauthenticated):
        before.people.me()
    with pytest.raises(Unauthenticated):
        gateway.client().sign_in(login, PASSWORD)
    gateway.client().sign_in(login, NEW)
    with pytest.raises(NotFound) as refused:
        gateway.client().links.set_password(made.token, PASSWORD)
    assert refused.value.slug == "link-not-valid"
    actions = sa.select(AuditRow.action, AuditRow.actor_account_id).where(AuditRow.subject == f"account:{account_id}")
    me = platform.admin.people.me().account.id
    assert [tuple(row) for row in gateway.sql(actions.order_by(AuditRow.id))] == [
        ("password_reset.create", me), ("password_reset.use", account_id), ("account.change", account_id),
    ]  # fmt: skip


def test_a_new_password_by_link_ends_the_tokens_of_the_account_and_of_no_other(platform: Platform) -> None:
    """Who took an account over would else keep it by a token that they made meanwhile."""
    gateway, login = platform.gateway, fresh()
    account_id = gateway.account(login=login, password=PASSWORD)
    taken_over, other = gateway.client(gateway.token(account_id)), gateway.client(gateway.token_for())
    taken_over.people.me()
    made = platform.admin.links.new_password(account_id)
    gateway.client().links.set_password(made.token, NEW)
    with pytest.raises(Unauthenticated):
        taken_over.people.me()
    other.people.me()
    platform.admin.people.me()
    ended = sa.select(AuditRow.action).where(AuditRow.actor_account_id == account_id, AuditRow.subject.like("token:%"))
    assert [row[0] for row in gateway.sql(ended)] == ["token.revoke"]


def test_a_link_for_a_new_password_ends_in_many_ways(platform: Platform) -> None:
    gateway = platform.gateway
    account_id = gateway.account(login=fresh(), password=PASSWORD)

    def ended(token: str) -> bool:
        try:
            gateway.client().links.set_password(token, NEW)
        except NotFound as error:
            return error.slug == "link-not-valid"
        return False

    first = platform.admin.links.new_password(account_id)
    second = platform.admin.links.new_password(account_id)
    assert ended(first.token)  # by the second
    platform.admin.links.revoke_new_password(account_id)
    assert ended(second.token)
    third = platform.admin.links.new_password(account_id)
    gateway.sql(
        sa.update(PasswordResetRow).where(PasswordResetRow.account_id == account_id).values(expires_at=sa.func.now())
    )
    assert ended(third.token)
    fourth = platform.admin.links.new_password(account_id)
    (account,) = [one for one in platform.admin.people.accounts() if one.id == account_id]
    platform.admin.people.change_account(account, password=PASSWORD)
    assert ended(fourth.token)
    maker_id = gateway.account(Role.ASSOCIATION_ADMIN)
    maker = gateway.client(gateway.token(maker_id))
    fifth = maker.links.new_password(account_id)
    platform.admin.people.withdraw_grant(maker.people.me().grants[0].id)
    assert ended(fifth.token)
    assert ended("no-such-link")


def test_of_two_new_passwords_at_once_one_is_set(platform: Platform) -> None:
    gateway, login = platform.gateway, fresh()
    made = platform.admin.links.new_password(gateway.account(login=login, password=PASSWORD))

    def set_to(password: str) -> str | None:
        try:
            gateway.client().links.set_password(made.token, password)
        except QisaiError:
            return None
        return password

    with ThreadPoolExecutor(4) as pool:
        done = [password for password in pool.map(set_to, [f"{NEW} {number}" for number in range(4)]) if password]
    assert len(done) == 1
    gateway.client().sign_in(login, done[0])


def test_an_account_that_is_switched_off_while_its_link_is_used_stays_off(gateway: Gateway) -> None:
    """Pins the order of locks, the account before its links: else the two would wait for each other."""
    account_id = gateway.account(login=fresh(), password=PASSWORD)
    made = gateway.client(gateway.token_for(Role.ASSOCIATION_ADMIN)).links.new_password(account_id)
    app = create_app(settings(gateway))
    with app.app_context():
        database = parts().database

    def use() -> None:
        with database.transaction() as session:
            password_resets.use(session, made.token, password_hash="x", device="")

    with database.transaction() as session:
        session.execute(sa.update(AccountRow).where(AccountRow.id == account_id).values(is_active=False))
        used = InBackground(gateway.database, use)
        assert used.waits_for_a_lock()
        accounts.end_sign_ins(session, account_id=account_id)
    with pytest.raises(NotFound):
        used.result()
    database.close()


def test_many_uses_of_one_link_at_once_do_not_each_cost_a_hash(platform: Platform) -> None:
    """Pins the second look at the link: those who came too late would hold up all who sign in meanwhile."""
    uses, gateway = 20, platform.gateway
    made = platform.admin.links.new_password(gateway.account(login=fresh(), password=PASSWORD))
    began = time.process_time()
    for _ in range(3):
        hash_password(NEW)
    one_hash, before = (time.process_time() - began) / 3, spent(gateway.pid)

    def answer(_number: int) -> int:
        body = {"token": made.token, "new": NEW}
        return requests.post(f"{gateway.url}/api/v1/password-resets/use", json=body, timeout=60).status_code

    with ThreadPoolExecutor(uses) as pool:
        answers = sorted(pool.map(answer, range(uses)))
    assert answers == [204] + [404] * (uses - 1)
    assert spent(gateway.pid) - before < one_hash * uses * 0.7


def spent(server: int) -> float:
    """Seconds of a core that a server's workers spent."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    fields = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in children]
    return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


def test_only_administrators_make_links_for_new_passwords(platform: Platform) -> None:
    account_id = platform.gateway.account()
    for role in set(Role) - {Role.ASSOCIATION_ADMIN}:
        with pytest.raises(Forbidden):
            platform.gateway.client(platform.gateway.token_for(role)).links.new_password(account_id)


def test_no_secret_of_a_link_stands_in_the_log_or_the_database(platform: Platform, event_id: int) -> None:
    gateway = platform.gateway
    invited = platform.admin.links.invite(Role.DESK, event_id=event_id, key=fresh("key"))
    reset = platform.admin.links.new_password(gateway.account())
    assert invited.token is not None
    gateway.client().links.read(invited.token)
    for path in (f"/invitations/{invited.token}", f"/new-password/{reset.token}"):
        requests.get(gateway.url + path, headers={"Accept": "text/html"}, timeout=20)
        requests.post(gateway.url + path, headers={"Accept": "text/html"}, timeout=20)
    time.sleep(0.2)
    logs = "".join(path.read_text() for path in gateway.log.parent.glob("*.log"))
    assert "invitations" in logs
    dumped = (
        str(gateway.sql(sa.text("select body from idempotency_key")))
        + str(gateway.sql(sa.text("select i::text from invitation i union all select r::text from password_reset r")))
        + str(gateway.sql(sa.text("select l::text from audit_log l")))
    )
    for secret in (invited.token, reset.token):
        assert secret not in logs
        assert secret not in dumped


def test_ones_sessions_are_listed_and_ended_at_once(gateway: Gateway) -> None:
    login = fresh()
    gateway.account(login=login, password=PASSWORD)
    here, there = gateway.client(), gateway.client()
    here.sign_in(login, PASSWORD)
    there.sign_in(login, PASSWORD)
    mine, other = sorted(here.people.sessions(), key=lambda one: not one.is_this_one)
    assert (mine.is_this_one, other.is_this_one) == (True, False)
    stranger = gateway.client(gateway.token_for())
    with pytest.raises(NotFound):
        stranger.people.end_session(other.id)
    here.people.end_session(other.id)
    with pytest.raises(Unauthenticated):
        there.people.me()
    there = gateway.client()
    there.sign_in(login, PASSWORD)
    here.people.end_other_sessions()
    with pytest.raises(Unauthenticated):
        there.people.me()
    assert [one.id for one in here.people.sessions()] == [mine.id]


@pytest.mark.parametrize(
    ("agent", "shown"),
    [
        ("Mozilla/5.0 (Linux; Android 14; X) Chrome/120 Safari/537 MicroMessenger/8", "WeChat, Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Version/17.0 Mobile Safari/604", "Safari, iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64) Chrome/120 Safari/537 Edg/120", "Edge, Windows"),
        ("qisai-client/1", "qisai-client/1"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_session_says_which_browser_it_is(gateway: Gateway, agent: str, shown: str) -> None:
    login = fresh()
    token = gateway.token(gateway.account(login=login, password=PASSWORD))
    headers = {"User-Agent": agent} if agent else {"User-Agent": ""}
    body = {"login": login, "password": PASSWORD}
    assert call(gateway, "POST", "/api/v1/sessions", json=body, headers=headers).status_code == 201
    listed = call(gateway, "GET", "/api/v1/me/sessions", headers=bearer(token)).json()["items"]
    assert [one["browser"] for one in listed] == [shown]
