"""The organiser's pages: what the form says before an event is made, what it changes, and what stands in the way."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from qisai.db.accounts import Role
from tests.gateway.harness import PASSWORD
from tests.gateway.platform import Platform
from tests.gateway.test_pages import Person, referee

NEW: dict[str, str] = {
    "name": "公开赛",
    "profile": "xiangqi",
    "shown_game": "xiangqi",
    "time_zone": "Asia/Shanghai",
    "is_public": "on",
    "needs_approval": "on",
    "needs_check_in": "on",
    "allow_bye": "on",
    "balance_sides": "on",
    "points": "1-half-0",
    "tie_breaks": "association",
}


@pytest.fixture(scope="module")
def admin(platform: Platform) -> Person:
    return Person(platform, platform.login)


def field(page: str, name: str) -> str:
    """What stands in a field of a page."""
    found = re.search(rf'name="{name}"[^>]* value="([^"]*)"', page)
    assert found is not None, name
    return found[1]


def chosen(page: str, name: str) -> str:
    """What is selected in a list of a page."""
    options = re.search(rf'<select name="{name}".*?</select>', page, re.S)
    assert options is not None, name
    found = re.search(r'value="([^"]*)" selected', options[0])
    return "" if found is None else found[1]


def made(admin: Person, **form: str) -> int:
    answer = admin.post("/events/new", **{**NEW, **form})
    assert "The event is made." in answer.text, answer.text
    return int(re.search(r"/events/(\d+)/", answer.url)[1])  # type: ignore[index]


def test_six_with_four_rounds_are_told_that_the_field_may_run_dry(platform: Platform, admin: Person) -> None:
    page = admin.post("/events/new", **NEW, expected_entrants="6", rounds="4", preview="1").text
    assert "may run dry" in page
    assert "A round robin takes 5 rounds and is always safe." in page
    assert "looks ahead" in page
    assert "proposed: 3" in page
    assert "with 6 entrants a legal draw is certain for 3 rounds" in page
    assert field(page, "rounds") == "4"
    taken = admin.post("/events/new", **NEW, expected_entrants="6", rounds="4", take="3").text
    assert field(taken, "rounds") == "3"
    assert "Every round has a legal draw" in taken
    assert "Take the proposal" not in taken
    assert not [event for event in platform.admin.events.list(q="公开赛") if event.expected_entrants == 6]
    event = platform.admin.events.get(made(admin, expected_entrants="6", rounds="4"))
    assert (event.regulations["rounds"], event.expected_entrants) == (4, 6)


def test_a_round_robin_is_told_how_many_rounds_it_takes_and_nothing_of_other_systems(admin: Person) -> None:
    robin = {**NEW, "system": "round_robin", "expected_entrants": "8"}
    whole = admin.post("/events/new", **robin, rounds="7", preview="1").text
    assert "proposed: 7" in whole
    assert "in a round robin of 8 everybody meets everybody" in whole
    assert "Take the proposal" not in whole
    assert "dry" not in whole
    short = admin.post("/events/new", **robin, rounds="4", preview="1").text
    assert "A round robin of 8 takes 7 rounds: with 4 not everybody meets everybody." in short


def test_eight_with_seven_rounds_may_run_dry_and_with_eight_are_refused(admin: Person) -> None:
    page = admin.post("/events/new", **NEW, expected_entrants="8", rounds="7", preview="1").text
    assert "may run dry" in page
    assert "A round robin takes 7 rounds" in page
    refused = admin.post("/events/new", **NEW, expected_entrants="8", rounds="8")
    assert refused.status_code == 422
    assert "8 entrants cannot play 8 rounds" in refused.text
    assert field(refused.text, "rounds") == "8"


def marked(page: str) -> set[str]:
    """Fields that a page marks as wrong."""
    return set(re.findall(r'name="(\w+)" aria-invalid="true"', page))


def test_every_fault_of_the_form_is_said_once_and_its_field_marked(admin: Person) -> None:
    bad = {**NEW, "name": "", "rounds": "abc", "expected_entrants": "-3", "points": "own", "points_win": "0.3"}
    refused = admin.post("/events/new", **bad)
    assert refused.status_code == 422
    assert {"name", "rounds", "expected_entrants"} <= marked(refused.text)
    said = re.search(r'role="alert">(.*?)</div>', refused.text, re.S)
    assert said is not None
    lines = re.findall("<p>(.*?)</p>", said[1])
    assert len(lines) == len(set(lines))
    for name in ("Name of the event", "Rounds", "Expected entrants"):
        assert len([line for line in lines if line.startswith(f"{name}: ")]) == 1, lines
    assert "Expected entrants: must be at least 2, not “-3”" in lines
    many = admin.post("/events/new", **NEW, expected_entrants="8", rounds="8").text
    assert many.count("8 entrants cannot play 8 rounds") == 1
    assert "rounds" in marked(many)


def test_ninety_who_want_sixty_four_places(platform: Platform, admin: Person) -> None:
    form = {**NEW, "name": "六十四席", "expected_entrants": "90", "capacity": "64", "rounds": "7"}
    page = admin.post("/events/new", **form, preview="1").text
    assert "26 of those expected will wait for a place" in page
    assert "proposed: 7" in page
    assert "6 rounds single out one winner of 64" in page
    assert "Every round has a legal draw" in page
    assert "Points → Opponents&#39; scores → Progressive → Direct encounter" in page
    event_id = made(admin, **form)
    event = platform.admin.events.get(event_id)
    platform.admin.events.act(event, "open")
    roster = "姓名\n" + "\n".join(f"棋手{n:02}" for n in range(1, 91))
    report = admin.post(f"/events/{event_id}/desk/import", text=roster).text
    assert "Import 90 new and 0 changed" in report
    done = admin.post(f"/events/{event_id}/desk/import", text=roster, plan=field(report, "plan"), apply="1").text
    assert "The roster is imported." in done
    desk = admin.page(f"/events/{event_id}/desk?state=waiting")
    assert "<strong>0</strong> free" in desk
    places = re.findall(r'data-name="棋手(\d+)".*?waiting list (\d+)<', desk, re.S)
    assert places == [(str(64 + n), str(n)) for n in range(1, 27)], "in the order of their turn"


def test_a_game_shows_only_the_fields_that_it_uses(admin: Person) -> None:
    board = admin.page("/events/new?profile=xiangqi")
    cards = admin.page("/events/new?profile=shengji")
    for word in ("Balance the sides", "Side limits count", "prc_opponents"):
        assert word in board
        assert word not in cards
    for word in ("Balance the seats", "Direction of the numbers"):
        assert word in cards
        assert word not in board


def test_another_system_is_looked_at_and_taken_with_its_own_fields(platform: Platform, admin: Person) -> None:
    event_id = made(admin, name="换赛制", rounds="4", within_group="slide")
    address = f"/events/{event_id}/set-up/edit"
    form = edited(admin.page(address)) | {"system": "draw_number"}
    page = admin.post(address, **form, preview="1").text
    assert "is not used" not in page
    assert "Direction of the numbers" in page
    assert "Order inside score groups" not in page
    assert "The event is changed." in admin.post(address, **{**edited(page), "direction": "U"}).text
    rules = platform.admin.events.get(event_id).regulations
    assert (rules["system"], rules["direction"], "within_group" in rules) == ("draw_number", "U", False)


def test_another_game_brings_its_own_rules_and_keeps_what_was_typed(platform: Platform, admin: Person) -> None:
    form = {**NEW, "profile": "shengji", "rounds": "5", "venue": "文化宫", "preview": "1"}
    page = admin.post("/events/new", **form).text
    assert (chosen(page, "points"), chosen(page, "system")) == ("2-1-0", "draw_number")
    assert (field(page, "rounds"), field(page, "venue"), field(page, "shown_game")) == ("5", "文化宫", "shengji")
    again = {**form, "shown_game": "shengji", "points": "2-1-0", "system": "draw_number", "name": "牌赛"}
    again.pop("preview"), again.pop("balance_sides")
    event = platform.admin.events.get(made(admin, **again))
    usual = next(game for game in platform.admin.events.profiles() if game.code == "shengji").regulations
    assert event.regulations == {**usual, "rounds": 5}


def test_free_points_and_an_own_order_of_tie_breaks(platform: Platform, admin: Person) -> None:
    own = {"points": "own", "points_win": "3", "points_draw": "1.5", "points_loss": "0", "points_bye": "½"}
    order = {"tie_breaks": "own", "tie_1": "wins", "tie_2": "opponents"}
    event = platform.admin.events.get(made(admin, **own, **order))
    assert event.regulations["points"] == {"win": 3, "draw": 1.5, "loss": 0, "bye": 0.5}
    assert event.regulations["tie_breaks"] == ["wins", "opponents"]
    refused = admin.post("/events/new", **{**NEW, **own, "points_draw": "4"})
    assert refused.status_code == 422
    assert "Points: a win must be worth more than a draw" in refused.text
    assert field(refused.text, "points_draw") == "4"


def test_what_nobody_chose_is_not_said(platform: Platform, admin: Person) -> None:
    """So numbering by seeding may still fold the groups."""
    event_id = made(admin, name="按种子", needs_check_in="", within_group="adjacent")
    entrants = platform.admin.entrants
    platform.admin.events.act(platform.admin.events.get(event_id), "open")
    for name in ("甲", "乙"):
        entrants.add(event_id, name=name)
    entrants.move_all(event_id, "approved", states=["registered"])
    entrants.check_in(event_id)
    entrants.seat(event_id)
    entrants.draw_lots(event_id, version=0, mode="seeding")
    assert platform.admin.events.get(event_id).regulations["within_group"] == "fold"


def edited(page: str) -> dict[str, Any]:
    """The form of an event as a browser would send it back."""
    form = {name: value for name, value in re.findall(r'<input name="([\w-]+)"[^>]* value="([^"]*)"', page) if value}
    form |= dict.fromkeys(re.findall(r'type="checkbox" name="(\w+)" checked', page), "on")
    form |= {name: chosen(page, name) for name in re.findall(r'<select name="(\w+)"', page)}
    return form | {name: field(page, name) for name in ("version", "shown_game") if f'name="{name}"' in page}


def test_a_conflict_keeps_what_was_typed_and_shows_theirs(platform: Platform, admin: Person) -> None:
    event_id = made(admin, name="改名赛", rounds="4")
    address = f"/events/{event_id}/set-up/edit"
    form = {**edited(admin.page(address)), "venue": "东馆", "registration_until": "2026-12-04T18:00"}
    platform.admin.events.change(platform.admin.events.get(event_id), venue="西馆")
    answer = admin.post(address, **form)
    assert answer.status_code == 412
    assert "theirs: 西馆 · yours: 东馆" in answer.text
    assert len(re.findall(r"theirs: ", answer.text)) == 2, "only what differs, and only of fields that the form has"
    assert field(answer.text, "venue") == "东馆"
    assert platform.admin.events.get(event_id).venue == "西馆"
    assert "The event is changed." in admin.post(address, **{**form, "version": field(answer.text, "version")}).text
    event = platform.admin.events.get(event_id)
    assert (event.venue, event.registration_until) == ("东馆", "2026-12-04T10:00:00Z"), "typed in the event's zone"
    assert field(admin.page(address), "registration_until") == "2026-12-04T18:00"
    assert event.regulations["rounds"] == 4


def test_of_two_who_change_one_event_only_what_was_typed_is_mine(platform: Platform, admin: Person) -> None:
    event_id = made(admin, name="两人改", rounds="4", starts_on="2027-01-05", capacity="20")
    address = f"/events/{event_id}/set-up/edit"
    page = admin.page(address)
    form = {**edited(page), "shown": unescape(field(page, "shown")), "venue": "东馆"}
    event = platform.admin.events.get(event_id)
    platform.admin.events.change(
        event, venue="西馆", starts_on="2027-01-06", capacity=30, needs_check_in=False, regulations={"rounds": 5}
    )
    preview = admin.post(address, **form, preview="1").text
    assert unescape(field(preview, "shown")) == form["shown"], "a look on the way changes nothing"
    answer = admin.post(address, **form)
    assert answer.status_code == 412
    assert re.findall(r"<dd>(theirs: .*?)</dd>", answer.text) == ["theirs: 西馆 · yours: 东馆"]
    assert (field(answer.text, "venue"), field(answer.text, "starts_on")) == ("东馆", "2027-01-06")
    assert (field(answer.text, "capacity"), field(answer.text, "rounds")) == ("30", "5")
    assert not re.search(r'name="needs_check_in" checked', answer.text)
    again = {**edited(answer.text), "shown": unescape(field(answer.text, "shown"))}
    assert "The event is changed." in admin.post(address, **again).text
    event = platform.admin.events.get(event_id)
    assert (event.venue, event.starts_on, event.capacity, event.needs_check_in) == ("东馆", "2027-01-06", 30, False)
    assert event.regulations["rounds"] == 5


def test_days_that_are_over_and_rounds_beyond_the_plan_are_not_taken_in_silence(
    platform: Platform, admin: Person
) -> None:
    beyond = {**NEW, "rounds": "5", "byes_until_round": "77", "late_entry_until": "9"}
    refused = admin.post("/events/new", **beyond)
    assert refused.status_code == 422
    assert "Byes until round: is 77, but this event has 5 rounds" in refused.text
    assert "Late entry until round: is 9, but this event has 5 rounds" in refused.text
    assert {"byes_until_round", "late_entry_until"} <= marked(refused.text)
    over = {**NEW, "rounds": "5", "registration_until": "2020-05-01T18:00", "starts_on": "2019-05-02"}
    deadline = "The deadline of registration is over: nobody can enter themselves"
    preview = admin.post("/events/new", **over, preview="1").text
    assert preview.count(deadline) == preview.count("The first day is over already.") == 1
    saved = admin.post("/events/new", **over)
    assert saved.text.count(deadline) == saved.text.count("The first day is over already.") == 1
    event_id = int(re.search(r"/events/(\d+)/", saved.url)[1])  # type: ignore[index]
    set_up = admin.page(f"/events/{event_id}/set-up")
    assert "registration until 2020-05-01 18:00" in set_up, "the year of another year is said"
    opened = admin.post(f"/events/{event_id}/set-up/open", version=field(set_up, "version")).text
    assert deadline in opened
    there = {**edited(admin.page(f"/events/{event_id}/set-up/edit")), "registration_until": "", "starts_on": ""}
    assert "is over" not in admin.post(f"/events/{event_id}/set-up/edit", **there).text
    event = platform.admin.events.get(event_id)
    assert event.starts_on is None
    fewer = {**there, "version": str(event.version), "byes_until_round": "5", "rounds": "4"}
    refused = admin.post(f"/events/{event_id}/set-up/edit", **fewer)
    assert "Byes until round: is 5, but this event has 4 rounds" in refused.text


def test_an_emptied_field_is_emptied(platform: Platform, admin: Person) -> None:
    event_id = made(admin, name="不限赛", rounds="4", capacity="20", starts_on="2026-12-05")
    address = f"/events/{event_id}/set-up/edit"
    form = edited(admin.page(address)) | {"capacity": "", "starts_on": "", "rounds": ""}
    assert "The event is changed." in admin.post(address, **form).text
    event = platform.admin.events.get(event_id)
    assert (event.capacity, event.starts_on, event.regulations["rounds"]) == (None, None, None)


def test_regulations_are_frozen_once_round_1_is_published(platform: Platform, admin: Person) -> None:
    event_id = platform.event()
    address = f"/events/{event_id}/set-up/edit"
    page = admin.page(address)
    assert "frozen" in page
    assert 'name="rounds"' not in page
    form = {"name": "春季赛", "venue": "新馆", "version": field(page, "version"), "rounds": "9", "is_public": "on"}
    assert "The event is changed." in admin.post(address, **form).text
    event = platform.admin.events.get(event_id)
    assert (event.venue, event.regulations["rounds"]) == ("新馆", 4)
    assert "Frozen since round 1 was published." in admin.page(f"/events/{event_id}/set-up")


def test_steps_lead_forward_and_back_and_a_stale_one_is_told(platform: Platform, admin: Person) -> None:
    event_id = made(admin, name="步骤赛")
    address = f"/events/{event_id}/set-up"
    first = field(admin.page(address), "version")
    for action, state in (
        ("open", "open"),
        ("close-registration", "closed"),
        ("open", "open"),
        ("draft", "draft"),
        ("archive", "archived"),
        ("unarchive", "draft"),
    ):
        page = admin.page(address)
        assert f"/set-up/{action}" in page, (action, "is offered")
        assert "The event is now" in admin.post(f"{address}/{action}", version=field(page, "version")).text
        assert platform.admin.events.get(event_id).state == state
    stale = admin.post(f"{address}/open", version=first)
    assert stale.status_code == 412
    assert "changed meanwhile; it is now: draft" in stale.text
    assert platform.admin.events.get(event_id).state == "draft"
    wrong = admin.post(f"{address}/finish", version=field(admin.page(address), "version"))
    assert wrong.status_code == 409
    assert 'class="note error"' in wrong.text
    assert admin.post(f"{address}/nothing").status_code == 404


def test_an_event_is_started_after_a_question_and_the_start_is_taken_back(platform: Platform, admin: Person) -> None:
    event_id = made(admin, name="开赛撤回赛")
    address = f"/events/{event_id}/set-up"
    for action in ("open", "close-registration"):
        platform.admin.events.act(platform.admin.events.get(event_id), action)
    page = admin.page(address)
    assert "While no round is published, the start can be taken back." in page
    refused = admin.post(f"{address}/start", version=field(page, "version"))
    assert refused.status_code == 409
    assert "0 entrants are seated; an event starts with two or more" in refused.text
    for name in ("甲", "乙"):
        platform.admin.entrants.add(event_id, name=name)
    platform.admin.entrants.move_all(event_id, "approved", states=["registered"])
    platform.admin.entrants.check_in(event_id)
    platform.admin.entrants.seat(event_id)
    assert "The event is now: running" in admin.post(f"{address}/start", version=field(page, "version")).text
    page = admin.page(address)
    assert "Take the start back? The event is as before it" in page
    done = admin.post(f"{address}/take-start-back", version=field(page, "version"))
    assert "The event is now: registration closed" in done.text
    assert f"{address}/take-start-back" not in admin.page(address)
    assert f"{address}/take-start-back" not in admin.page(f"/events/{platform.event()}/set-up"), "round 1 is published"


def test_a_clone_takes_rules_and_no_entrants(platform: Platform, admin: Person) -> None:
    event_id = made(admin, name="去年赛", rounds="5", capacity="30", starts_on="2025-12-06")
    platform.admin.entrants.add(event_id, name="陈一")
    answer = admin.post(f"/events/{event_id}/set-up/clone", name="今年赛", starts_on="2026-12-05", key="clone-once")
    assert "The clone is made." in answer.text
    clone = platform.admin.events.list(q="今年赛")[0]
    clone = platform.admin.events.get(clone.id)
    assert (clone.state, clone.capacity, clone.regulations["rounds"]) == ("draft", 30, 5)
    assert clone.starts_on == "2026-12-05"
    assert platform.admin.entrants.list(clone.id) == ()
    assert "(copy)" in field(admin.page(f"/events/{event_id}/set-up").split('/set-up/clone"')[1], "name")
    unnamed = admin.post(f"/events/{event_id}/set-up/clone", name=" ")
    assert unnamed.status_code == 422
    assert "Name of the event: must be filled in" in unnamed.text
    refused = admin.post(f"/events/{event_id}/set-up/clone", name="坏", starts_on="soon")
    assert refused.status_code == 422
    assert field(refused.text, "starts_on") == "soon"


def test_only_those_who_manage_an_event_change_it(platform: Platform) -> None:
    event_id = platform.event()
    for role, may_see in ((Role.CHIEF_REFEREE, True), (Role.DESK, False), (Role.REFEREE, False)):
        person = referee(platform, event_id, role)
        page = person.get(f"/events/{event_id}/set-up")
        assert page.status_code == (200 if may_see else 403), role
        assert "Change the event" not in page.text
        assert person.get(f"/events/{event_id}/set-up/edit").status_code == 403
        assert person.post(f"/events/{event_id}/set-up/edit", version=1, name="x").status_code == 403


def test_the_association_changes_a_game_and_sees_who_did(platform: Platform, admin: Person) -> None:
    page = admin.page("/profiles/gomoku")
    form = edited(page) | {"tie_breaks": "go", "rounds": "7", "reason": "协会决定"}
    form.pop("shown_game", None)
    assert "The game is changed" in admin.post("/profiles/gomoku", **form).text
    game = platform.admin.events.profile("gomoku")
    assert (game.regulations["rounds"], game.regulations["tie_breaks"]) == (7, ["opponents", "sosos"])
    assert game.names["zh-Hans"] == "五子棋"
    history = admin.page("/profiles/gomoku")
    assert "协会决定" in history
    assert "regulations/rounds" in history
    stale = admin.post("/profiles/gomoku", **form | {"rounds": "9"})
    assert stale.status_code == 412
    assert "changed this game meanwhile" in stale.text
    shown = unescape(field(page, "shown"))
    of_two = admin.post(
        "/profiles/gomoku", **form | {"rounds": field(page, "rounds"), "lot_seed": "12", "shown": shown}
    )
    assert of_two.status_code == 412
    assert field(of_two.text, "rounds") == "7", "what I did not type is as the other left it"
    assert field(stale.text, "rounds") == "9"
    bad = admin.post("/profiles/gomoku", **form | {"version": str(game.version), "rounds": "many"})
    assert bad.status_code == 422
    assert field(bad.text, "rounds") == "many"
    assert platform.admin.events.profile("gomoku").regulations["rounds"] == 7
    platform.gateway.account(Role.ORGANISER, login="games-organiser", password=PASSWORD)
    assert Person(platform, "games-organiser").get("/profiles/gomoku").status_code == 403


@pytest.mark.parametrize("language", ["zh-CN", "zh-TW"])
def test_the_form_speaks_chinese(admin: Person, language: str) -> None:
    answer = admin.http.get(f"{admin.url}/events/new", headers={"Accept-Language": language}, timeout=20)
    words = ("含义", "能否编排完") if language == "zh-CN" else ("含義", "能否編排完")
    assert words[0] in answer.text
    assert "What it means" not in answer.text
