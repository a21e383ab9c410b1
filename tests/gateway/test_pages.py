"""Pages on a real event: what each shows to whom, and what its forms do without scripts."""

from __future__ import annotations

import re
from typing import Any

import pytest
import requests
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.errors import Forbidden
from qisai.kernel.model import Result
from tests.gateway.harness import PASSWORD
from tests.gateway.platform import NAMES, Platform, tournament

HTML = {"Accept": "text/html", "Accept-Language": "en"}


class Person:
    """Somebody at a browser without scripts."""

    def __init__(self, platform: Platform, login: str | None = None) -> None:
        self.url = platform.gateway.url
        self.http = requests.Session()
        self.http.headers.update(HTML)
        if login is not None:
            answer = self.http.post(f"{self.url}/sign-in", data={"login": login, "password": PASSWORD}, timeout=20)
            assert answer.ok

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.http.get(self.url + path, timeout=20, **options)

    def page(self, path: str) -> str:
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    def post(self, path: str, **form: Any) -> requests.Response:
        token = re.search(r'name="csrf_token" value="(\w+)"', self.page("/"))
        files = form.pop("files", None)
        data = {"csrf_token": token[1] if token else "", **form}
        return self.http.post(self.url + path, data=data, files=files, timeout=20)


@pytest.fixture(scope="module")
def chief(platform: Platform) -> Person:
    return Person(platform, platform.login)


@pytest.fixture(scope="module")
def public(platform: Platform) -> Person:
    return Person(platform)


def referee(platform: Platform, event_id: int, role: Role = Role.REFEREE) -> Person:
    login = f"{role.value}{event_id}"
    account_id = platform.gateway.account(login=login, password=PASSWORD, name="裁判员")
    platform.admin.people.grant(account_id, role, event_id=event_id)
    return Person(platform, login)


def test_the_public_sees_pairings_by_board_and_by_name_standings_and_the_sums(
    platform: Platform, public: Person
) -> None:
    event_id = platform.event(tournament(reported=1), name="夏季赛")
    assert "夏季赛" in public.page("/")
    by_board = public.page(f"/events/{event_id}")
    assert all(name in by_board for name in NAMES)
    assert "Red" in by_board
    assert "1 of 4 boards reported" in by_board
    by_name = public.page(f"/events/{event_id}/rounds/2?by=name")
    assert [by_name.index(name) for name in ("陈一", "李二", "钱六", "孙七")] == sorted(
        by_name.index(name) for name in ("陈一", "李二", "钱六", "孙七")
    )  # in order of their sounds: chén, lǐ, qián, sūn
    standings = public.page(f"/events/{event_id}/standings?after=1")
    assert "Opponents&#39; scores" in standings
    assert "Opponent" in public.page(f"/events/{event_id}/standings/1")
    for part in ("Enter results", "Desk", "Set-up"):
        assert part not in by_board


def test_names_are_marked_so_that_browsers_do_not_translate_them(platform: Platform, public: Person) -> None:
    page = public.page(f"/events/{platform.event()}")
    assert page.count('<span class="player" translate="no">') == 8


def test_a_first_page_is_small(platform: Platform, public: Person) -> None:
    page = public.page(f"/events/{platform.event()}")
    parts = re.findall(r'(?:href|src)="(/assets/[^"]+)"', page)
    modules = ["/assets/session.js"]
    total = len(page.encode()) + sum(len(public.get(part).content) for part in [*parts, *modules])
    assert total < 100_000


def test_a_hidden_event_is_not_found_by_the_public(platform: Platform, public: Person, chief: Person) -> None:
    hidden = platform.admin.events.create(name="内部赛", profile="xiangqi", is_public=False)
    assert public.get(f"/events/{hidden.id}").status_code == 404
    assert "内部赛" not in public.page("/")
    assert "内部赛" in chief.page("/")


@pytest.mark.parametrize("end", ["session", "cookie"])
def test_whose_sign_in_has_ended_is_asked_to_sign_in_also_for_what_only_they_see(platform: Platform, end: str) -> None:
    hidden = platform.admin.events.create(name="草稿赛", profile="xiangqi")
    login = f"ended-{end}-{hidden.id}"
    account_id = platform.gateway.account(Role.ASSOCIATION_ADMIN, login=login, password=PASSWORD, name="管理员")
    person = Person(platform, login)
    address = f"/events/{hidden.id}/set-up/edit"
    token = re.search(r'name="csrf_token" value="(\w+)"', person.page(address))
    assert token is not None
    if end == "session":
        query = sa.text("update web_session set revoked_at = now() where account_id = :id")
        platform.gateway.sql(query, id=account_id)
    else:
        person.http.cookies.clear()
    form = {"csrf_token": token[1], "name": "草稿赛", "venue": "东馆", "version": 1}
    answer = person.http.post(f"{person.url}{address}", data=form, timeout=20)
    assert answer.status_code == 401
    assert "Your sign-in has ended" in answer.text
    assert ">Sign in</a>" in answer.text
    assert "go back and copy it" in answer.text
    if end == "session":
        looked = person.get(address)
        assert looked.status_code == 401
        assert f"/sign-in?next={address}" in looked.text


@pytest.mark.parametrize("path", ["/events/{}/rounds/2/entry", "/events/{}/rounds/3/draw", "/events/{}/desk", "/queue"])
def test_pages_of_those_who_work_ask_others_to_sign_in(platform: Platform, public: Person, path: str) -> None:
    event_id = platform.event()
    where = path.format(event_id)
    answer = public.get(where)
    assert answer.status_code == 401
    assert f"/sign-in?next={where}" in answer.text
    desk = referee(platform, event_id, Role.DESK)
    assert desk.get(where).status_code == (200 if path.endswith("desk") else 403)


def test_a_referee_enters_a_result_without_scripts_and_meets_a_conflict(platform: Platform) -> None:
    event_id = platform.event()
    person = referee(platform, event_id)
    board = platform.admin.rounds.boards(event_id, 2).items[0]
    address = f"/events/{event_id}/rounds/2/entry"
    assert "Draw" not in re.findall(r'<nav class="tabs".*?</nav>', person.page(address), re.S)[0]
    saved = person.post(address, board=board.id, version=board.version, result="first_win")
    assert "Board 1 is saved." in saved.text
    stale = person.post(address, board=board.id, version=board.version, result="draw")
    assert stale.status_code == 412
    assert "Red wins" in stale.text
    assert "Yours was: draw" in stale.text
    assert platform.admin.rounds.board(board.id).result is Result.FIRST_WIN
    mine = person.post(address, board=board.id, version=board.version + 1, result="draw")
    assert mine.ok
    log = platform.admin.rounds.board_log(board.id)
    assert [change["new"]["result"] for change in log.changes] == ["first_win", "draw"]
    assert len(log.conflicts) == 1


def test_a_result_can_be_taken_back(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=1))
    board = platform.admin.rounds.boards(event_id, 2).items[0]
    chief.post(f"/events/{event_id}/rounds/2/entry", board=board.id, version=board.version, result="")
    assert platform.admin.rounds.board(board.id).result is None


def test_the_chief_referee_sees_what_blocks_the_next_round(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=3))
    page = chief.page(f"/events/{event_id}/rounds/3/draw")
    assert "1 board has no result yet" in page
    assert "孙七" in page
    asked = chief.post(f"/events/{event_id}/rounds/3/draw")
    assert "Round 3 cannot be drawn yet." in asked.text


def test_what_blocks_a_large_round_is_said_in_a_cookie_that_browsers_keep(platform: Platform, chief: Person) -> None:
    document = tournament()
    names = [
        f"{family}{given}"
        for family in "赵钱孙李周吴郑王冯陈褚卫"
        for given in "一乙二丁三丙四戊五己六庚七辛八壬九癸十甲"
    ]
    document |= {"entrants": [{"number": n, "name": name} for n, name in enumerate(names, start=1)], "lots": {}}
    boards = [{"board": n // 2 + 1, "first": n + 1, "second": n + 2} for n in range(0, len(names), 2)]
    document["rounds"] = [{"number": 1, "boards": boards, "byes": []}]
    document["next"] = {"round": 2}
    event_id = platform.event(document, name="大赛")
    version = platform.admin.rounds.get(event_id, 1).version
    page = chief.post(f"/events/{event_id}/rounds/1/draw/close", version=version)
    assert "… and 108 more like these" in page.text
    assert all(len(answer.headers.get("Set-Cookie", "")) < 2000 for answer in page.history)


def test_the_chief_referee_closes_and_reopens_a_round(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=3))
    address = f"/events/{event_id}/rounds/2/draw"
    last = platform.admin.rounds.boards(event_id, 2).items[3]
    version = platform.admin.rounds.get(event_id, 2).version
    assert "note error" in chief.post(f"{address}/close", version=version).text
    assert platform.admin.rounds.get(event_id, 2).state == "published"
    platform.admin.rounds.put_result(last.id, Result.DRAW, version=last.version)
    version = platform.admin.rounds.get(event_id, 2).version
    assert "The round is closed." in chief.post(f"{address}/close", version=version).text
    again = chief.post(f"{address}/close", version=version)
    assert "note error" in again.text
    version = platform.admin.rounds.get(event_id, 2).version
    assert "The round is open again." in chief.post(f"{address}/reopen", version=version, reason="更正").text
    assert chief.post(f"{address}/nothing").status_code == 404


def test_an_asked_for_draw_shows_that_it_waits(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=4))
    page = chief.post(f"/events/{event_id}/rounds/3/draw")
    assert "The draw is being computed" in page.text
    job = int(re.findall(r'data-look="[^"]+/(\d+)"', page.text)[0])
    assert "The draw was cancelled." in chief.post(f"/events/{event_id}/rounds/3/draw/cancel", number=job).text
    assert platform.admin.rounds.job(job).state == "cancelled"
    assert "cancelled: Cancelled by 裁判长." in chief.page(f"/events/{event_id}/rounds/3/draw")


def test_an_organiser_makes_an_event_and_the_desk_fills_it(platform: Platform, chief: Person) -> None:
    form = {
        "name": "社区赛",
        "profile": "weiqi",
        "rounds": "4",
        "is_public": "on",
        "needs_approval": "on",
        "key": "k-set-up",
    }
    page = chief.post("/events/new", **form)
    assert "The event is made." in page.text
    event_id = int(re.search(r"/events/(\d+)/set-up", page.url)[1])  # type: ignore[index]
    event = platform.admin.events.get(event_id)
    chief.post(f"/events/{event_id}/set-up/open", version=event.version)
    assert platform.admin.events.get(event_id).state == "open"
    desk = f"/events/{event_id}/desk"
    assert "吴九 is registered." in chief.post(f"{desk}/add", name="吴九", club="丙队", seed="1500").text
    refused = chief.post(f"{desk}/add", name="郑十", club="丁队", seed="9999")
    assert refused.status_code == 422
    assert 'value="郑十"' in refused.text
    assert chief.post(f"{desk}/add", name="郑十", seed="9" * 5000).status_code == 422
    refused = chief.post(f"{desk}/add", name="郑十", seed="15OO")
    assert refused.status_code == 422, "a rating that is no number is refused, never left out"
    assert 'value="15OO"' in refused.text
    roster = "编号,姓名,单位\n1,冯甲,戊队\n2,褚乙,己队\n".encode("gb18030")
    report = chief.post(f"{desk}/import", files={"file": ("名单.csv", roster)})
    assert "冯甲" in report.text
    plan = re.search(r'name="plan" value="(\w*)"', report.text)
    kept = re.search(r'name="kept" value="([^"]*)"', report.text)
    assert plan is not None
    assert kept is not None
    assert "The roster is imported." in chief.post(f"{desk}/import", kept=kept[1], plan=plan[1], apply="1").text
    for source, to in (("registered", "approved"), ("approved", "seated")):
        if to == "seated":
            assert "3 entrants would be: seated" in chief.post(f"{desk}/bulk", all_in=source, to=to).text
        assert "3 entrants changed." in chief.post(f"{desk}/bulk", all_in=source, to=to, apply="1").text
    assert "The numbers are drawn." in chief.post(f"{desk}/lots", mode="machine", version="0").text
    assert sorted(entrant.number or 0 for entrant in platform.admin.entrants.list(event_id)) == [1, 2, 3]


def test_a_broken_roster_is_refused_in_words_and_nothing_is_kept(platform: Platform, chief: Person) -> None:
    event = platform.admin.events.create(name="坏名单", profile="xiangqi")
    event = platform.admin.events.act(event, "open")
    answer = chief.post(f"/events/{event.id}/desk/import", files={"file": ("x.csv", b"\xff\xfe\x00rubbish")})
    assert answer.status_code == 422
    assert 'class="note error"' in answer.text
    assert platform.admin.entrants.list(event.id) == ()


def test_a_bad_new_event_keeps_what_was_typed(chief: Person) -> None:
    answer = chief.post("/events/new", name="坏比赛", profile="xiangqi", rounds="many", venue="某馆")
    assert answer.status_code == 422
    assert 'value="某馆"' in answer.text
    assert 'value="many"' in answer.text


def test_an_event_of_teams_shows_tables_and_team_names_and_never_sides(platform: Platform, chief: Person) -> None:
    document = tournament(profile="shengji")
    document["regulations"]["first_move"] = False
    event_id = platform.event(document, name="升级赛")
    for path in ("", "/rounds/2?by=name", "/rounds/2/entry"):
        page = chief.page(f"/events/{event_id}{path}")
        assert "Table" in page
        for word in ("Left seat", "Right seat", "Side</th>", "Red", "White"):
            assert word not in page, path


def test_an_administrator_appoints_a_referee_who_signs_in_and_enters_only_their_boards(
    platform: Platform, chief: Person
) -> None:
    event_id = platform.event()
    platform.gateway.account(login="xiaowang", name="小王", password=PASSWORD)
    page = chief.post(f"/events/{event_id}/staff", login="XiaoWang", role="referee", boards="1-2")
    assert "note error" in chief.post(f"/events/{event_id}/staff", login="two words", role="referee").text
    assert "note error" in chief.post(f"/events/{event_id}/staff", login="xiaowang", role="ops").text
    assert "note error" in chief.post(f"/events/{event_id}/staff", login="xiaowang", role="referee", boards="x").text
    unknown = chief.post(f"/events/{event_id}/staff", login="nobody-yet", role="referee", boards="3-4")
    assert "There is no account nobody-yet; invite by link." in unknown.text
    assert 'value="nobody-yet"' in unknown.text
    assert "小王" in page.text
    someone = Person(platform, "xiaowang")
    boards = platform.admin.rounds.boards(event_id, 2).items
    address = f"/events/{event_id}/rounds/2/entry"
    assert "saved" in someone.post(address, board=boards[0].id, version=1, result="draw").text
    assert "Board 4 is not one of yours." in someone.post(address, board=boards[3].id, version=1, result="draw").text
    assert someone.get(f"/events/{event_id}/staff").status_code == 403
    grant = re.search(r'name="grant" value="(\d+)"', chief.page(f"/events/{event_id}/staff"))
    assert grant is not None
    assert "The role is taken away." in chief.post(f"/events/{event_id}/staff/remove", grant=grant[1]).text
    assert someone.get(address).status_code == 403


def test_an_organiser_appoints_in_their_own_event_only_and_no_organisers(platform: Platform) -> None:
    login = "zuzhi"
    account_id = platform.gateway.account(Role.ORGANISER, login=login, password=PASSWORD, name="主办")
    token = platform.gateway.token(account_id)
    own = platform.gateway.client(token).events.create(name="自办赛", profile="weiqi")
    other = platform.event()
    organiser = Person(platform, login)
    assert "is appointed" in organiser.post(f"/events/{own.id}/staff", login=platform.login, role="chief_referee").text
    for form in ({"login": platform.login, "role": "organiser"}, {"login": "nobody-yet", "role": "desk"}):
        assert "note error" in organiser.post(f"/events/{own.id}/staff", **form).text
    assert organiser.post(f"/events/{other}/staff", login=login, role="desk").status_code == 403
    by_token = platform.gateway.client(token).people
    assert {grant.role for grant in by_token.grants(event_id=own.id)} == {Role.CHIEF_REFEREE}
    with pytest.raises(Forbidden):
        by_token.grant(account_id, Role.DESK, event_id=other)
    with pytest.raises(Forbidden):
        by_token.grant(account_id, Role.ORGANISER, event_id=own.id)
    read_only = {"Authorization": f"Bearer {platform.gateway.token(account_id, scopes=('read',))}"}
    form = {"login": login, "role": "desk"}
    requests.post(f"{platform.gateway.url}/events/{own.id}/staff", data=form, headers=read_only, timeout=20)
    assert Role.DESK not in {grant.role for grant in by_token.grants(event_id=own.id)}


def test_the_operations_page_shows_queue_services_and_jobs(chief: Person) -> None:
    page = chief.page("/queue")
    for part in ("jobs waiting", "registration", "results", "The last hours"):
        assert part in page


def test_every_page_can_be_read_in_chinese(platform: Platform, chief: Person) -> None:
    event_id = platform.event()
    for path in (
        "/",
        f"/events/{event_id}",
        f"/events/{event_id}/rounds/2/entry",
        f"/events/{event_id}/desk",
        "/queue",
    ):
        answer = chief.get(path, headers={"Accept-Language": "zh-TW"})
        assert '<html lang="zh-Hant">' in answer.text
        assert "登出" in answer.text
