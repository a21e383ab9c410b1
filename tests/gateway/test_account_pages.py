"""Pages about people, as a browser without scripts sees them: invitations, passwords, one's own account, accounts."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
import sqlalchemy as sa

from qisai.db.accounts import AccountRow, Role
from qisai.errors import Unauthenticated
from tests.gateway.harness import PASSWORD
from tests.gateway.platform import Platform
from tests.gateway.test_accounts import fresh
from tests.gateway.test_pages import HTML, Person

NEW = "an entirely new one"


@pytest.fixture(scope="module")
def chief(platform: Platform) -> Person:
    return Person(platform, platform.login)


@pytest.fixture
def person(platform: Platform) -> Person:
    """Somebody with an account and no role."""
    login = fresh("person")
    platform.gateway.account(login=login, password=PASSWORD, name="某人")
    found = Person(platform, login)
    found.login = login  # type: ignore[attr-defined]
    return found


def link_on(page: str, kind: str = "invitations") -> str:
    """The path of the link that a page shows."""
    found = re.search(rf'value="[^"]*(/{kind}/[\w-]+)"', page)
    assert found is not None, page
    return found[1]


def invited(chief: Person, event_id: int, **form: str) -> str:
    """A new invitation's path."""
    page = chief.post(f"/events/{event_id}/staff/invitations", **{"role": "referee", "days": "7", **form})
    assert page.headers["Cache-Control"] == "no-store"
    return link_on(page.text)


def test_an_invited_referee_makes_an_account_and_enters_only_their_boards(platform: Platform, chief: Person) -> None:
    event_id = platform.event()
    link = invited(chief, event_id, name="小李", boards="1-2")
    someone = Person(platform)
    page = someone.page(link)
    for part in ("春季赛", "referee", "boards 1–2", "裁判长", 'value="小李"'):
        assert part in page
    login = fresh("li")
    answer = someone.post(link, how="new", name="小李", login=login, password=NEW)
    assert "You are now referee of 春季赛." in answer.text
    assert answer.url.endswith(f"/events/{event_id}")
    boards = platform.admin.rounds.boards(event_id, 2).items
    address = f"/events/{event_id}/rounds/2/entry"
    assert "saved" in someone.post(address, board=boards[0].id, version=1, result="draw").text
    assert "saved" not in someone.post(address, board=boards[3].id, version=1, result="draw").text
    assert "小李" in chief.page(f"/events/{event_id}/staff")
    assert Person(platform).get(link).status_code == 404


def test_opening_an_invitation_changes_nothing(platform: Platform, chief: Person) -> None:
    link = invited(chief, platform.event())
    for _time in range(3):
        answer = Person(platform).get(link)
        assert answer.status_code == 200
        assert answer.headers["Referrer-Policy"] == "strict-origin"
        assert answer.headers["Cache-Control"] == "no-store"
        secret = link.rsplit("/", 1)[1]
        assert f"next=/invitations/{secret}" not in answer.text


def test_an_invitation_sent_twice_by_an_impatient_finger_is_one_account(platform: Platform, chief: Person) -> None:
    event_id = platform.event()
    link, login = invited(chief, event_id), fresh("twice")
    form = {"how": "new", "name": "急性子", "login": login, "password": NEW}

    def send(_time: int) -> requests.Response:
        return Person(platform).post(link, **form)

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(send, range(2)))
    assert [answer.url.endswith(f"/events/{event_id}") for answer in answers] == [True, True]
    made = platform.gateway.sql(sa.select(AccountRow.id).where(AccountRow.login == login))
    assert len(made) == 1
    assert send(0).url.endswith(f"/events/{event_id}")
    assert not Person(platform).post(link, **{**form, "password": "not that one at all"}).ok


def test_an_invitation_is_taken_with_an_account_one_has(platform: Platform, chief: Person, person: Person) -> None:
    event_id = platform.event()
    link = invited(chief, event_id, role="desk")
    assert "某人" in person.page(link)
    assert "You are now desk of 春季赛." in person.post(link).text
    link = invited(chief, event_id, role="chief_referee")
    someone = Person(platform)
    wrong = someone.post(link, how="account", login=person.login, password="wrong one")  # type: ignore[attr-defined]
    assert wrong.status_code == 401
    assert f'value="{person.login}"' in wrong.text  # type: ignore[attr-defined]
    right = someone.post(link, how="account", login=person.login, password=PASSWORD)  # type: ignore[attr-defined]
    assert "You are now chief referee of 春季赛." in right.text


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"login": "chief"}, "This login is taken."),
        ({"login": "two words"}, "Login: 2 to 64"),
        ({"password": "short"}, "Password: 10 to 200"),
        ({"name": " "}, "Name: 1 to 100"),
    ],
)
def test_what_was_typed_stays_when_an_account_cannot_be_made(
    platform: Platform, chief: Person, form: dict[str, str], says: str
) -> None:
    link = invited(chief, platform.event())
    typed = {"how": "new", "name": "新<人", "login": fresh("new"), "password": NEW, **form}
    answer = Person(platform).post(link, **typed)
    assert 400 <= answer.status_code < 500
    assert says in answer.text
    assert typed["password"] not in answer.text
    assert f'value="{typed["login"]}"' in answer.text
    if "name" not in form:
        assert "新&lt;人" in answer.text


def test_a_revoked_invitation_leads_nowhere(platform: Platform, chief: Person) -> None:
    event_id = platform.event()
    link = invited(chief, event_id, name="走了")
    page = chief.page(f"/events/{event_id}/staff")
    wanted = re.search(r'name="invitation" value="(\d+)"', page)
    assert wanted is not None
    assert "走了" in page
    assert "The invitation is revoked." in chief.post(
        f"/events/{event_id}/staff/invitations/revoke", invitation=wanted[1]
    ).text  # fmt: skip
    gone = Person(platform).get(link)
    assert (gone.status_code, gone.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "ask for a new one" in gone.text
    assert Person(platform).post(link, how="new", name="a", login=fresh(), password=NEW).status_code == 404


def test_a_sign_in_that_has_ended_does_not_keep_one_from_taking_an_invitation(
    platform: Platform, chief: Person, person: Person
) -> None:
    link = invited(chief, platform.event())
    (one,) = platform.gateway.sql(sa.select(AccountRow.id).where(AccountRow.login == person.login))  # type: ignore[attr-defined]
    platform.gateway.sql(sa.text("update web_session set revoked_at = now() where account_id = :id"), id=one[0])
    person.page(link)
    assert "You are now" in person.post(link, how="account", login=person.login, password=PASSWORD).text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "form",
    [
        {"days": "0"},
        {"days": "x"},
        {"days": "31"},
        {"boards": "x"},
        {"boards": "9-1"},
        {"boards": "0-4"},
        {"boards": "1-99999"},
        {"boards": "1-4", "role": "desk"},
        {"role": "ops"},
        {"role": "king"},
    ],
)
def test_a_bad_invitation_is_refused_and_keeps_what_was_typed(
    platform: Platform, chief: Person, form: dict[str, str]
) -> None:
    event_id = platform.event()
    page = chief.post(
        f"/events/{event_id}/staff/invitations", **{"role": "referee", "days": "7", "name": "小赵", **form}
    )
    assert page.status_code == 422
    assert "note error" in page.text
    assert 'value="小赵"' in page.text


def test_an_administrator_hands_over_a_link_for_a_new_password(
    platform: Platform, chief: Person, person: Person
) -> None:
    login: str = person.login  # type: ignore[attr-defined]
    page = chief.page(f"/accounts?q={login}")
    address = re.search(r"/accounts/(\d+)/password-link", page)
    assert address is not None
    made = chief.post(address[0]).text
    assert f"某人 · {login}" in made
    link = link_on(made, "new-password")
    someone = Person(platform)
    assert f'value="{login}"' in someone.page(link)
    assert "Password: 10 to 200" in someone.post(link, password="short").text
    for easy in ("1234567890", "0987654321", "qwertyuiop", "aaaaaaaaaaaa", "abcabcabcabc"):
        assert "among the first that somebody would try" in someone.post(link, password=easy).text, easy
    assert "Sign in with it." in someone.post(link, password=NEW).text
    assert someone.get(link).status_code == 404
    assert person.get("/account").status_code == 401
    platform.gateway.client().sign_in(login, NEW)


def test_an_account_that_is_switched_off_is_signed_out_at_once(
    platform: Platform, chief: Person, person: Person
) -> None:
    login: str = person.login  # type: ignore[attr-defined]
    page = chief.page(f"/accounts?q={login}")
    address = re.search(r"/accounts/(\d+)/active", page)
    assert address is not None
    stale = chief.post(address[0], version="99", active="")
    assert "note error" in stale.text
    assert "The account is switched off." in chief.post(address[0], version="1", active="").text
    assert person.get("/account").status_code == 401
    assert "switched off" in chief.page(f"/accounts?q={login}")


def test_roles_in_all_events_are_given_by_invitation_and_taken_away(platform: Platform, chief: Person) -> None:
    page = chief.post("/accounts/invitations", role="organiser", name="王主办", days="3").text
    assert "王主办" in page
    login = fresh("zhuban")
    someone = Person(platform)
    assert "You are now: organiser." in someone.post(
        link_on(page), how="new", name="王主办", login=login, password=NEW
    ).text  # fmt: skip
    assert someone.get("/events/new").status_code == 200
    listed = chief.page(f"/accounts?q={login}")
    address = re.search(r"/accounts/(\d+)/take-role", listed)
    held = re.search(r'name="grant" value="(\d+)"', listed)
    assert address is not None
    assert held is not None
    assert "The role is taken away." in chief.post(address[0], grant=held[1]).text
    assert someone.get("/events/new").status_code == 403


def test_ones_own_account_shows_browsers_and_signs_them_out(platform: Platform, person: Person) -> None:
    login: str = person.login  # type: ignore[attr-defined]
    other = Person(platform, login)
    page = person.page("/account")
    assert "this one" in page
    wanted = re.search(r'name="session" value="(\d+)"', page)
    assert wanted is not None
    person.post("/account/sessions/end", session=wanted[1])
    assert other.get("/account").status_code == 401
    third = Person(platform, login)
    person.post("/account/sessions/end", session="others")
    assert third.get("/account").status_code == 401
    assert person.get("/account").status_code == 200
    assert "note error" in person.post("/account/sessions/end", session="1").text


def test_ones_own_password_is_changed_and_only_this_browser_stays(platform: Platform, person: Person) -> None:
    login: str = person.login  # type: ignore[attr-defined]
    other = Person(platform, login)
    wrong = person.post("/account/password", old="wrong", new=NEW)
    assert wrong.status_code == 422
    assert "The old password is wrong." in wrong.text
    assert "Password: 10 to 200" in person.post("/account/password", old=PASSWORD, new="short").text
    assert "The password is changed." in person.post("/account/password", old=PASSWORD, new=NEW).text
    assert person.get("/account").status_code == 200
    assert other.get("/account").status_code == 401
    platform.gateway.client().sign_in(login, NEW)


def test_a_token_is_shown_once_does_what_its_scope_says_and_ends_at_once(platform: Platform, person: Person) -> None:
    made = person.post("/account/tokens", name="手机", scope="read", days="30")
    assert made.headers["Cache-Control"] == "no-store"
    secret = re.search(r"qisai_[\w-]{43}", made.text)
    assert secret is not None
    page = person.page("/account")
    assert secret[0] not in page
    assert "手机" in page
    client = platform.gateway.client(secret[0])
    assert client.people.me().account.name == "某人"
    wanted = re.search(r'name="token" value="(\d+)"', page)
    assert wanted is not None
    assert "The token is revoked." in person.post("/account/tokens/revoke", token=wanted[1]).text
    with pytest.raises(Unauthenticated):
        client.people.me()
    for form in ({"name": "", "days": "1"}, {"name": "x", "days": "0"}, {"name": "x", "days": "4000"}):
        refused = person.post("/account/tokens", scope="read", **form)
        assert refused.status_code == 422
        assert "note error" in refused.text


@pytest.mark.parametrize("path", ["/account", "/accounts"])
def test_the_public_is_asked_to_sign_in(platform: Platform, path: str) -> None:
    assert Person(platform).get(path).status_code == 401


def test_accounts_are_for_administrators(platform: Platform) -> None:
    login = fresh("zuzhi")
    platform.gateway.account(Role.ORGANISER, login=login, password=PASSWORD)
    organiser = Person(platform, login)
    assert organiser.get("/accounts").status_code == 403
    for path in ("/accounts/invitations", "/accounts/1/password-link"):
        assert organiser.post(path, role="ops", days="1").status_code == 403
    assert "note error" in organiser.post("/accounts/1/active", version="1", active="").text


def test_every_form_needs_the_pages_token(platform: Platform, person: Person) -> None:
    for path in ("/account/password", "/account/tokens", "/account/sessions/end", "/account/tokens/revoke"):
        answer = person.http.post(platform.gateway.url + path, headers=HTML, timeout=20)
        assert answer.status_code == 403, path


def test_what_is_done_to_an_account_is_asked_first_and_the_way_to_take_a_role_names_it(
    platform: Platform, chief: Person
) -> None:
    login = fresh("asked")
    account_id = platform.gateway.account(login=login, password=PASSWORD, name="问某")
    platform.admin.people.grant(account_id, Role.ORGANISER)
    page = chief.page(f"/accounts?q={login}")
    for path in ("take-role", "password-link", "active"):
        form = re.search(rf'<form method="post" action="/accounts/{account_id}/{path}"[^>]*>', page)
        assert form is not None
        assert 'data-confirm="' in form[0]
        assert "问某" in form[0]
    assert 'aria-label="Take the role “organiser” away from 问某"' in page


def test_times_of_ones_account_carry_their_moment_for_the_readers_own_zone(person: Person) -> None:
    page = person.page("/account")
    assert re.search(r'<time datetime="\d{4}-\d\d-\d\dT[^"]+\+00:00" data-local="minute">[^<]+ UTC</time>', page)
