"""The desk's pages: find, check in, change, move many, and what is known ahead of rounds; all of it without scripts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

import pytest

from qisai.client import Entrant
from qisai.db.accounts import Role
from tests.gateway.platform import Platform
from tests.gateway.test_organiser_pages import chosen, field
from tests.gateway.test_pages import Person, referee


@pytest.fixture(scope="module")
def admin(platform: Platform) -> Person:
    return Person(platform, platform.login)


@dataclass(frozen=True)
class Field:
    """An open event with entrants, and its desk."""

    platform: Platform
    event_id: int

    @property
    def desk(self) -> str:
        return f"/events/{self.event_id}/desk"

    def add(self, name: str, **more: object) -> Entrant:
        return self.platform.admin.entrants.add(self.event_id, name=name, **more)

    def get(self, entrant: Entrant) -> Entrant:
        return self.platform.admin.entrants.get(self.event_id, entrant.id)

    def states(self) -> dict[str, str]:
        return {one.name: one.state for one in self.platform.admin.entrants.list(self.event_id)}

    def move(self, to: str, *entrants: Entrant) -> None:
        now = [self.get(entrant) for entrant in entrants]
        done = self.platform.admin.entrants.move_some(self.event_id, to, entrants=now)
        assert not done.refused

    def seated(self, *names: str, **more: object) -> list[Entrant]:
        made = [self.add(name, **more) for name in names]
        for to in ("approved", "checked_in", "seated"):
            self.move(to, *made)
        return [self.get(one) for one in made]


def new_field(platform: Platform, *, profile: str = "xiangqi", **more: object) -> Field:
    event = platform.admin.events.create(name="检录赛", profile=profile, **more)
    return Field(platform, platform.admin.events.act(event, "open").id)


def test_two_letters_check_somebody_in(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    one, two, three = there.add("陈一"), there.add("陈勇"), there.add("李二")
    there.move("approved", one, two, three)
    assert "李二: now checked in." in admin.post(f"{there.desk}/check-in", letters="lier").text
    several = admin.post(f"{there.desk}/check-in", letters="cy").text
    assert "Which one?" in several
    assert field(several, "letters") == "cy"
    assert there.states() == {"陈一": "approved", "陈勇": "approved", "李二": "checked_in"}
    button = re.search(rf'name="entrant" value="({two.id}:\d+)"', several.split("candidates")[1])
    assert button is not None
    assert "陈勇: now checked in." in admin.post(f"{there.desk}/check-in", letters="cy", entrant=button[1]).text
    assert "陈一: now checked in." in admin.post(f"{there.desk}/check-in", letters="CY").text, "only one is left"
    again = admin.post(f"{there.desk}/check-in", letters="陈一")
    assert again.status_code == 422
    assert "陈一 is checked in and cannot be checked in." in again.text
    twice = admin.post(f"{there.desk}/check-in", letters="")
    assert twice.status_code == 200, "Enter pressed twice asks for nothing"
    assert "Nobody who could be checked in" not in twice.text
    nobody = admin.post(f"{there.desk}/check-in", letters="zz")
    assert "Nobody who could be checked in fits “zz”." in nobody.text
    assert field(nobody.text, "letters") == "zz"


def test_the_list_is_found_by_letters_and_characters_and_sorted(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    for name, club, seed in (("张三", "乙队", 1500), ("李四", "甲队", 1700), ("阿平", "", None)):
        there.add(name, club=club, **({} if seed is None else {"seed": seed}))

    def names(query: str) -> list[str]:
        return re.findall(r'data-name="([^"]+)"', admin.page(f"{there.desk}?{query}"))

    assert names("q=zs") == names("q=张") == names("q=zhangsan") == ["张三"]
    assert names("sort=name") == ["阿平", "李四", "张三"]
    assert names("sort=club") == ["李四", "张三", "阿平"]
    assert names("sort=rating") == ["李四", "张三", "阿平"]
    assert names("sort=entered") == ["张三", "李四", "阿平"]
    assert names("state=approved") == []
    assert "Nobody fits." in admin.page(f"{there.desk}?q=zz")


def test_an_entrant_is_added_with_everything_and_a_namesake_is_pointed_out(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    form = {"name": "王五", "club": "甲队", "seed": "1650", "seed_source": "协会", "birth_year": "1990", "sex": "male"}
    form |= {
        "phone": "138 0000 0000",
        "email": "w@example.org",
        "notes": "轮椅",
        "fixed_board": "1",
        "external_id": "A1",
    }
    assert "王五 is registered." in admin.post(f"{there.desk}/add", **form).text
    (made,) = platform.admin.entrants.list(there.event_id)
    assert (made.seed, made.birth_year, made.sex, made.fixed_board) == (1650, 1990, "male", 1)
    assert (made.phone, made.email, made.notes, made.external_id) == ("138 0000 0000", "w@example.org", "轮椅", "A1")
    same = admin.post(f"{there.desk}/add", name="王五", club="甲队").text
    assert "Same name in this event: is it another person?" in same
    assert "just entered" in same
    bad = admin.post(f"{there.desk}/add", **{**form, "seed": "99999", "email": "nobody"})
    assert bad.status_code == 422
    assert "Rating: " in bad.text
    assert "E-mail: " in bad.text
    assert "/seed" not in bad.text
    assert (field(bad.text, "seed"), field(bad.text, "phone")) == ("99999", "138 0000 0000")
    assert chosen(bad.text, "sex") == "male"


def test_a_team_has_members_in_order_and_substitutes(platform: Platform, admin: Person) -> None:
    there = new_field(platform, profile="poker_team")
    form = {"name": "红队", "members": "张三, 1990\n李四\n\n王五，A7", "substitutes": "赵六"}
    assert "红队 is registered." in admin.post(f"{there.desk}/add", **form).text
    (team,) = platform.admin.entrants.list(there.event_id)
    assert (team.members, team.substitutes) == (("张三", "李四", "王五"), ("赵六",))
    assert [(one["birth_year"], one["external_id"]) for one in team.people[:3]] == [
        (1990, None),
        (None, None),
        (None, "A7"),
    ]
    address = f"{there.desk}/{team.id}"
    page = admin.page(address)
    assert "张三, 1990\n李四\n王五, A7" in page
    for unused in ('name="sex"', 'name="birth_year"'):
        assert unused not in page
    changed = {"name": "红队", "members": "李四\n张三, 1990\n王五, A7", "substitutes": "", "version": team.version}
    assert "红队: saved." in admin.post(address, **changed).text
    team = there.get(team)
    assert (team.members, team.substitutes) == (("李四", "张三", "王五"), ())
    assert team.people[1]["birth_year"] == 1990
    other = admin.post(f"{there.desk}/add", name="蓝队", members="张三, 1990\n钱七")
    assert other.status_code in (409, 422)
    assert "张三, 1990\n钱七" in other.text, "what was typed is kept"


def test_a_change_meets_another_and_shows_both(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    one = there.add("孙七", club="甲队", notes="")
    address = f"{there.desk}/{one.id}"
    platform.admin.entrants.change(there.event_id, one, club="乙队")
    answer = admin.post(address, name="孙七", club="丙队", notes="左手", version=one.version)
    assert answer.status_code == 412
    assert "theirs: 乙队 · yours: 丙队" in answer.text
    assert "changed meanwhile by 裁判长" in answer.text
    assert field(answer.text, "club") == "丙队"
    assert there.get(one).club == "乙队"
    version = re.search(r'class="form wider">.*?name="version" value="(\d+)"', answer.text, re.S)
    assert version is not None
    assert "saved" in admin.post(address, name="孙七", club="丙队", notes="左手", version=version[1]).text
    assert (there.get(one).club, there.get(one).notes) == ("丙队", "左手")
    bad = admin.post(address, name="", club="丁队", version=there.get(one).version)
    assert bad.status_code == 422
    assert field(bad.text, "club") == "丁队"


def test_of_two_who_change_one_entrant_only_what_was_typed_is_mine(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    one = there.add("孙七", club="甲队", phone="13800000001", notes="")
    address = f"{there.desk}/{one.id}"
    shown = unescape(field(admin.page(address), "shown"))
    form = {
        "name": "孙七",
        "club": "甲队",
        "phone": "13800000001",
        "notes": "左手",
        "version": one.version,
        "shown": shown,
    }
    platform.admin.entrants.change(there.event_id, one, club="乙队", phone="13800000002")
    answer = admin.post(address, **form)
    assert answer.status_code == 412
    assert "yours: " not in answer.text, "nobody else changed the notes"
    assert "elsewhere than you did" in answer.text
    assert (field(answer.text, "club"), field(answer.text, "phone")) == ("乙队", "13800000002")
    assert ">左手</textarea>" in answer.text


def test_who_may_see_and_do_what_at_the_desk(platform: Platform) -> None:
    there = new_field(platform)
    (one,) = there.seated("周八", phone="13900000000")
    address = f"{there.desk}/{one.id}"
    desk, chief, other = (referee(platform, there.event_id, r) for r in (Role.DESK, Role.CHIEF_REFEREE, Role.REFEREE))
    assert "13900000000" in desk.page(address)
    assert "Disqualify" not in desk.page(address)
    page = chief.page(address)
    assert "Disqualify" in page
    assert "13900000000" not in page, "there is nothing to change for a chief referee here"
    assert chief.get(f"{there.desk}/import").status_code == 403
    for path in (there.desk, address, f"{there.desk}/lots", f"{there.desk}/apart"):
        refused = other.get(path)
        assert refused.status_code == 403
        assert "This page is for: administrator, organiser" in refused.text
    refused = desk.post(f"{address}/step", to="disqualified", version=one.version)
    assert refused.status_code == 409
    assert there.states() == {"周八": "seated"}


def test_absences_and_byes_within_the_limits(platform: Platform, admin: Person) -> None:
    there = new_field(platform, max_byes=1, byes_until_round=3, regulations={"rounds": 5})
    (one,) = there.seated("吴九")
    address = f"{there.desk}/{one.id}"
    assert "1 with points, until round 3" in admin.page(address)
    assert "Round 2: noted." in admin.post(f"{address}/ahead", round="2", kind="half").text
    assert "Round 4: noted." in admin.post(f"{address}/ahead", round="4", kind="absent").text
    for round_no, kind in (("1", "full"), ("5", "half")):
        refused = admin.post(f"{address}/ahead", round=round_no, kind=kind)
        assert refused.status_code == 422
        assert (chosen(refused.text, "kind"), 'class="note error"' in refused.text) == (kind, True)
    now = there.get(one)
    assert (now.byes, now.absences) == (({"round": 2, "kind": "half"},), (4,))
    admin.post(f"{address}/ahead", round="2", kind="", was="half")
    admin.post(f"{address}/ahead", round="4", kind="", was="absent")
    now = there.get(one)
    assert (now.byes, now.absences) == ((), ())


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("desk/bulk?q=zs", "desk?q=zs"),
        ("desk/add", "desk"),
        ("desk/attendance/2/note", "desk/attendance/2"),
        ("desk/apart/clubs", "desk/apart"),
        ("set-up/open", "set-up"),
    ],
)
def test_an_address_that_forms_are_sent_to_leads_back(
    platform: Platform, admin: Person, path: str, leads_to: str
) -> None:
    """After an error the address of the page is that of the form: a reload or another language must not end there."""
    there = new_field(platform, regulations={"rounds": 3})
    answer = admin.get(f"/events/{there.event_id}/{path}")
    assert answer.status_code == 200
    assert answer.url.endswith(f"/events/{there.event_id}/{leads_to}")


def test_a_large_field_shows_its_first_and_finds_the_others(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    roster = "姓名\n" + "\n".join(f"{'尾' if n == 700 else '棋'}手{n:03}" for n in range(1, 701))
    report = platform.admin.entrants.import_roster(there.event_id, roster.encode(), dry_run=True)
    platform.admin.entrants.import_roster(there.event_id, roster.encode(), dry_run=False, plan=report.plan)
    page = admin.page(there.desk)
    assert page.count("<tr data-letters") == 600
    assert "The first 600 of 700 are shown" in page
    assert "尾手700" not in page
    assert "尾手700" in admin.page(f"{there.desk}?q=ws")


def test_an_event_that_is_over_offers_no_changes(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    one = there.add("陈一")
    event = platform.admin.events.get(there.event_id)
    for action in ("close-registration", "archive"):
        event = platform.admin.events.act(event, action)
    page = admin.page(there.desk)
    assert "The event is over: its entrants do not change any more." in page
    assert 'name="letters"' not in page
    assert "Approve" not in re.findall(r"<table.*?</table>", page, re.S)[0]
    assert 'name="version"' not in admin.page(f"{there.desk}/{one.id}")
    for path in ("new", "import", "apart"):
        page = admin.page(f"{there.desk}/{path}")
        assert "The event is over: its entrants do not change any more." in page, path
        assert not re.search(r'<(input|textarea)[^>]* name="(name|file|a)"', page), path


def test_many_are_moved_after_a_look_and_taken_back(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    one, two, three = there.add("甲一"), there.add("乙二"), there.add("丙三")
    there.move("approved", three)
    ticked = [f"{entrant.id}:{there.get(entrant).version}" for entrant in (one, two, three)]
    look = admin.post(f"{there.desk}/bulk", entrant=ticked, to="approved", reason="名单齐").text
    assert "2 entrants would be: approved" in look
    assert "1 stays as it is" in look
    assert there.states() == {"甲一": "registered", "乙二": "registered", "丙三": "approved"}
    shown = re.findall(r'name="entrant" value="(\d+:\d+)"', look)
    assert len(shown) == 2
    platform.admin.entrants.change(there.event_id, two, club="改")
    done = admin.post(f"{there.desk}/bulk", entrant=shown, to="approved", apply="1")
    assert "1 entrant changed." in done.text
    assert "乙二 was changed meanwhile" in done.text
    assert there.states() == {"甲一": "approved", "乙二": "registered", "丙三": "approved"}
    undo = re.search(r'name="undo" value="(\d+)"', done.text)
    assert undo is not None
    assert "Taken back for 1 entrant." in admin.post(f"{there.desk}/undo", undo=undo[1]).text
    assert there.states()["甲一"] == "registered"
    assert "note error" in admin.post(f"{there.desk}/undo", undo=undo[1]).text
    assert "Choose entrants and a step first." in admin.post(f"{there.desk}/bulk", to="approved").text


def step_of_many(page: str, words: str) -> str:
    """What the list of steps for those that are ticked sends for a choice with these words."""
    found = re.search(rf'<option value="([^"]+)">{words}<', page)
    assert found is not None, words
    return found[1]


def test_those_that_are_ticked_are_offered_the_way_on_by_its_own_words(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    one, two = there.add("甲一"), there.add("乙二")
    there.move("approved", two)
    page = admin.page(there.desk)
    choices = re.search(r'<select name="to">(.*?)</select>', page, re.S)
    assert choices is not None
    words = re.findall(r">([^<]+)</option>", choices[1])
    assert words[:3] == ["Approve → approved", "Check in → checked in", "Seat → seated"]
    assert len(words) == len(set(words))
    ticked = [f"{entrant.id}:{there.get(entrant).version}" for entrant in (one, two)]
    check_in = step_of_many(page, "Check in → checked in")
    look = admin.post(f"{there.desk}/bulk", entrant=ticked, to=check_in).text
    assert "1 entrant would be: checked in" in look
    assert "1 stays as it is" in look
    there.move("checked_in", two)
    ticked = [f"{entrant.id}:{there.get(entrant).version}" for entrant in (one, two)]
    look = admin.post(f"{there.desk}/bulk", entrant=ticked, to=step_of_many(page, "Approve → approved")).text
    assert "1 entrant would be: approved" in look, "the check-in of the other is not undone by approving"
    assert "乙二</span>: is checked in, and “Approve” is no step from there" in look
    back = step_of_many(page, "Undo check-in → approved")
    done = admin.post(f"{there.desk}/bulk", entrant=ticked, to=back, apply="1").text
    assert "1 entrant changed." in done
    assert "甲一: is registered, and “Undo check-in” is no step from there" in done
    assert there.states() == {"甲一": "registered", "乙二": "approved"}


def test_check_in_for_a_round_by_letters(platform: Platform, admin: Person) -> None:
    there = new_field(platform, regulations={"rounds": 3})
    one, two = there.seated("冯甲", "褚乙")
    address = f"{there.desk}/attendance/1"
    before = admin.page(address)
    assert "Without a deadline everybody who is seated plays." in before
    assert "missing<" not in before, "nobody is missing where nobody has to come by a time"
    assert "The deadline is set." in admin.post(f"{address}/deadline", until="2026-12-05T08:30").text
    found = platform.admin.entrants.attendance(there.event_id, 1)
    assert found.until == "2026-12-05T00:30:00Z", "typed in Asia/Shanghai"
    admin.post(f"{address}/deadline", until="2026-12-05T08:30:00+09:00")
    found = platform.admin.entrants.attendance(there.event_id, 1)
    assert found.until == "2026-12-04T23:30:00Z", "typed with a zone"
    assert "冯甲 is here." in admin.post(f"{address}/note", letters="fj").text
    assert "冯甲 is noted already." in admin.post(f"{address}/note", letters="fj").text
    assert platform.admin.entrants.attendance(there.event_id, 1).present == (one.id,)
    admin.post(f"{address}/note", absent=one.id)
    assert "2 noted." in admin.post(f"{address}/note", everybody="1").text
    assert set(platform.admin.entrants.attendance(there.event_id, 1).present) == {one.id, two.id}
    assert "is absent from this round now" in admin.post(f"{address}/deadline", until="2020-12-05T08:30").text
    bad = admin.post(f"{address}/deadline", until="soon")
    assert bad.status_code == 422
    assert field(bad.text, "until") == "soon"
    assert "has no check-in" in admin.post(f"{address}/deadline", none="1").text
    assert platform.admin.entrants.attendance(there.event_id, 1).until is None


def test_nobody_is_said_to_be_here_whom_the_service_did_not_note(platform: Platform, admin: Person) -> None:
    event_id = platform.event()
    name = platform.admin.entrants.list(event_id)[0].name
    refused = admin.post(f"/events/{event_id}/desk/attendance/1/note", letters=name)
    assert refused.status_code == 422
    assert "is here" not in refused.text


def test_two_are_kept_apart_for_some_rounds(platform: Platform, admin: Person) -> None:
    there = new_field(platform, regulations={"rounds": 5})
    one, two = there.add("卫丙", club="甲队"), there.add("蒋丁", club="甲队")
    there.add("卫兵", club="乙队")
    address = f"{there.desk}/apart"
    page = admin.post(address, a="wei", b="蒋丁", from_round="1", to_round="2")
    assert page.status_code == 422
    assert "“wei” fits several: 卫丙 · 甲队" in page.text
    assert (field(page.text, "a"), field(page.text, "to_round")) == ("wei", "2")
    label = f"卫丙 · 甲队 · #{one.id}"
    assert label in page.text
    assert "卫丙 and 蒋丁 do not meet." in admin.post(address, a=label, b="jd", from_round="1", to_round="2").text
    (pair,) = platform.admin.entrants.forbidden_pairs(there.event_id)
    assert (set(pair.entrants), pair.from_round, pair.to_round) == ({one.id, two.id}, 1, 2)
    assert "note error" in admin.post(address, a="卫丙", b="卫丙").text
    assert "Nobody in this event is called “zzz”." in admin.post(address, a="zzz", b="卫丙").text
    assert "They may meet again." in admin.post(f"{address}/allow", pair=pair.id).text
    admin.post(address, a="卫丙", b="蒋丁", from_round="4", to_round="4")
    assert "1 pair more is kept apart." in admin.post(f"{address}/clubs", from_round="1").text
    assert "1 pair may meet again." in admin.post(f"{address}/clubs", meet="1").text
    (pair,) = platform.admin.entrants.forbidden_pairs(there.event_id)
    assert (pair.from_round, pair.to_round) == (4, 4), "who was kept apart one by one stays apart"


def test_lots_by_machine_by_seeding_and_by_hand(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    address = f"{there.desk}/lots"
    assert "Nobody is seated yet" in admin.page(address)
    one, two = there.seated("沈戊", "韩己")

    def draw(**form: str) -> str:
        return admin.post(address, **{"version": field(admin.page(address), "version"), **form}).text

    page = draw(mode="machine", seed="42")
    assert '<code translate="no">42</code>' in page
    assert "Done again just now with this seed: the same order." in page
    numbers = platform.admin.entrants.lots(there.event_id).numbers
    draw(mode="seeding")
    assert platform.admin.entrants.lots(there.event_id).mode == "seeding"
    draw(mode="machine", seed="42")
    assert platform.admin.entrants.lots(there.event_id).numbers == numbers
    bad = draw(**{"mode": "hand", f"number-{one.id}": "1", f"number-{two.id}": "1"})
    assert "韩己: number 1 stands twice" in bad
    assert field(bad, f"number-{two.id}") == "1"
    assert platform.admin.entrants.lots(there.event_id).mode == "machine"
    stale = admin.post(address, version=1, mode="seeding").text
    assert 'class="note error"' in stale
    draw(**{"mode": "hand", f"number-{one.id}": "2", f"number-{two.id}": "1"})
    assert dict(platform.admin.entrants.lots(there.event_id).numbers) == {two.id: 1, one.id: 2}
    assert "note error" in draw(mode="machine", seed="x")
    running = f"/events/{platform.event()}/desk/lots"
    frozen = admin.page(running)
    assert "numbers do not change any more" in frozen
    assert "Draw by machine" not in frozen
    assert "note error" in admin.post(running, mode="machine").text


def test_late_entry_withdrawal_return_and_disqualification(platform: Platform, admin: Person) -> None:
    there = Field(platform, platform.event())
    assert "王十 is registered." in admin.post(f"{there.desk}/add", name="王十").text
    late = next(one for one in platform.admin.entrants.list(there.event_id) if one.name == "王十")
    for to in ("approved", "checked_in"):
        admin.post(f"{there.desk}/move", step=f"{late.id}:{there.get(late).version}:{to}")
    page = admin.page(f"{there.desk}/{late.id}")
    assert "plays from round 3 on; for the rounds before: no points." in page
    admin.post(f"{there.desk}/move", step=f"{late.id}:{there.get(late).version}:seated")
    assert (there.get(late).number, there.get(late).entered_round) == (9, 3)

    one = next(entrant for entrant in platform.admin.entrants.list(there.event_id) if entrant.number == 1)
    address = f"{there.desk}/{one.id}"

    def step(to: str, **more: str) -> str:
        return admin.post(f"{address}/step", to=to, version=there.get(one).version, **more).text

    assert "First round without them" in admin.page(address)
    early = admin.post(f"{address}/step", to="withdrawn", version=one.version, from_round="2", reason="生病")
    assert early.status_code == 409
    assert (field(early.text, "from_round"), field(early.text, "reason")) == ("2", "生病")
    assert "now withdrawn" in step("withdrawn", from_round="4", reason="生病")
    assert "plays every round" not in admin.page(address)
    assert there.get(one).withdrawn_from == 4
    assert "生病" in admin.page(address)
    assert "now seated" in step("seated", reason="好了")
    assert "now disqualified" in step("disqualified", from_round="3", reason="作弊")
    assert "now seated" in step("seated", reason="申诉成立")
    stale = admin.post(f"{address}/step", to="withdrawn", version=one.version)
    assert stale.status_code == 412


def test_the_desk_in_chinese_names_states_and_fields(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    one = there.add("陈一")
    chinese = {"Accept-Language": "zh-CN"}
    page = admin.http.get(f"{admin.url}{there.desk}", headers=chinese, timeout=20).text
    assert "两个首字母或姓名" in page
    token = re.search(r'name="csrf_token" value="(\w+)"', page)
    assert token is not None
    form = {"csrf_token": token[1], "to": "seated", "version": one.version}
    refused = admin.http.post(f"{admin.url}{there.desk}/{one.id}/step", data=form, headers=chinese, timeout=20)
    assert "陈一现为“已报名”，不能由此变为“已入座”。" in refused.text
    form = {"csrf_token": token[1], "to": "seated", "entrant": f"{one.id}:{one.version}", "apply": "1"}
    of_many = admin.http.post(f"{admin.url}{there.desk}/bulk", data=form, headers=chinese, timeout=20)
    assert "陈一现为“已报名”，不能由此变为“已入座”。" in of_many.text
    assert "陈一: 陈一" not in of_many.text
    form = {"csrf_token": token[1], "name": "陈一", "club": "甲队"}
    again = admin.http.post(f"{admin.url}{there.desk}/add", data=form, headers=chinese, timeout=20)
    assert "本次比赛中有同名者" in again.text
    assert again.text.count("陈一 已报名") == 1
    form = {"csrf_token": token[1], "name": "甲", "seed": "abc"}
    bad = admin.http.post(f"{admin.url}{there.desk}/add", data=form, headers=chinese, timeout=20)
    assert "等级分：须为整数，写的是“abc”。" in bad.text
