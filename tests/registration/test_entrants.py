"""Entrants: registered, changed, found by two letters, and what the public does not see."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from qisai.db.name_keys import sort_key
from qisai.web.requests import encode_cursor
from tests.registration.conftest import Fair, Service, make_fair, ok, problem


def found(fair: Fair, q: str) -> list[str]:
    body = ok(fair.desk.get(f"{fair.entrants_path}?q={quote(q)}"))
    return [one["name"] for one in body["items"]]


@pytest.fixture(scope="module")
def people(service: Service) -> Fair:
    """Six entrants, for tests that only read."""
    fair = make_fair(service)
    for name in ("陈一", "曾国", "欧阳娜", "Ana María", "𠮷野", "100%_棋手"):
        fair.add(name)
    return fair


@pytest.mark.parametrize(
    ("q", "names"),
    [
        ("陈", ["陈一"]),
        ("chen", ["陈一"]),
        ("cheny", ["陈一"]),
        ("chen yi", ["陈一"]),
        ("CY", ["陈一"]),
        ("zg", ["曾国"]),
        ("oyn", ["欧阳娜"]),
        ("阳", ["欧阳娜"]),
        ("ana", ["Ana María"]),
        ("MARÍA", ["Ana María"]),
        ("\u3000陈 ", ["陈一"]),
        ("𠮷", ["𠮷野"]),
        ("%", ["100%_棋手"]),
        ("_", ["100%_棋手"]),
        ("\\", []),
        ("nobody", []),
    ],
)
def test_people_are_found_by_characters_pinyin_and_initials(people: Fair, q: str, names: list[str]) -> None:
    assert found(people, q) == names


def test_a_number_finds_its_entrant(fair: Fair) -> None:
    field = fair.seated(3)
    fair.draw_lots({"mode": "seeding"})
    assert found(fair, "2")[0] == found(fair, "２")[0] == field[1]["name"]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("陈一", "chen yi"),
        ("单于", "shan yu"),
        ("李Tom", "li tom"),
        ("Ana  María", "ana maría"),
        ("𠮷野", "𠮷 ye"),
        ("ЖУК", "жук"),
        ("", ""),
    ],
)
def test_sort_keys_are_pinyin_with_surnames_read_as_such(name: str, key: str) -> None:
    assert sort_key(name) == key


def test_lists_are_by_number_then_by_pinyin_and_go_on_where_a_page_ends(fair: Fair) -> None:
    fair.seated(3)
    fair.draw_lots({"mode": "seeding"})
    for name in ("张三", "李四", "阿二", "陈一", "陈一"):
        fair.add(name)
    names: list[str] = []
    cursor = ""
    while True:
        body = ok(fair.desk.get(f"{fair.entrants_path}?limit=2{cursor}"))
        names += [one["name"] for one in body["items"]]
        if body["next"] is None:
            break
        cursor = f"&cursor={body['next']}"
    assert names == ["棋手1", "棋手2", "棋手3", "阿二", "陈一", "陈一", "李四", "张三"]


@pytest.mark.parametrize("limit", [1, 2, 3, 500])
def test_names_of_one_sound_stand_together_by_their_characters(fair: Fair, limit: int) -> None:
    for name in ("张伟", "章伟", "张伟", "章伟", "安一"):
        fair.add(name)
    names: list[str] = []
    cursor = ""
    while True:
        body = ok(fair.desk.get(f"{fair.entrants_path}?sort=name&limit={limit}{cursor}"))
        names += [one["name"] for one in body["items"]]
        if body["next"] is None:
            break
        cursor = f"&cursor={body['next']}"
    assert names == ["安一", "张伟", "张伟", "章伟", "章伟"]
    by_number = ok(fair.desk.get(fair.entrants_path))["items"]
    assert [one["name"] for one in by_number] == names, "nobody has a number yet"


FOREIGN: tuple[list[Any], ...] = (
    [1], [1, "a", 3], ["a", "a", "甲", 3], [1, 2, "甲", 3], [1, "a", 2, 3], [1, "a", "甲", "3"], [1, "\0", "甲", 3],
    [1, "a", "\0", 3], [1, "\ud800", "甲", 3], [1, "a", "\ud800", 3], [-1, "a", "甲", 3], [1, "a", "甲", 0],
    [1, "a", "甲", 1 << 63],
)  # fmt: skip


def test_a_foreign_cursor_is_refused(fair: Fair) -> None:
    problem(fair.desk.get(f"{fair.entrants_path}?q=%00"), 422, "invalid-request")
    for cursor in ("abc", *(encode_cursor(values) for values in FOREIGN)):
        problem(fair.desk.get(f"{fair.entrants_path}?cursor={cursor}"), 422, "bad-cursor")


def test_lists_can_be_limited_to_a_state(fair: Fair) -> None:
    one, _two = fair.add("陈一"), fair.add("林二")
    fair.move(one, "approved")
    assert [x["name"] for x in ok(fair.desk.get(f"{fair.entrants_path}?state=approved"))["items"]] == ["陈一"]
    assert fair.desk.get(f"{fair.entrants_path}?state=happy").status_code == 422


def test_the_public_sees_those_who_are_accepted_and_nothing_private(fair: Fair) -> None:
    one = fair.add("陈一", club="甲队", seed=1800, external_id="K-7")
    two = fair.add("林二")
    fair.move(one, "approved")
    public = fair.service.public()
    (seen,) = ok(public.get(fair.entrants_path))["items"]
    assert set(seen) == {
        "id", "number", "name", "club", "seed", "state", "entered_round", "withdrawn_from", "fixed_board", "members",
        "substitutes", "version",
    }  # fmt: skip
    assert ok(public.get(f"{fair.entrants_path}/{one['id']}")) == seen
    problem(public.get(f"{fair.entrants_path}/{two['id']}"), 404, "entrant-not-found")
    problem(public.get(f"{fair.entrants_path}/{one['id']}/transitions"), 401, "sign-in-needed")
    assert ok(fair.desk.get(f"{fair.entrants_path}/{one['id']}"))["external_id"] == "K-7"
    assert ok(public.get(f"{fair.entrants_path}?state=registered"))["items"] == []


def test_the_public_list_is_answered_304_until_something_changes_and_never_instead_of_the_desks_list(
    fair: Fair,
) -> None:
    one = fair.add("陈一")
    public = fair.service.public()
    tag = public.get(fair.entrants_path).headers["ETag"]
    seen = {"If-None-Match": tag}
    assert public.get(fair.entrants_path, headers=seen).status_code == 304
    assert len(ok(fair.desk.get(fair.entrants_path, headers=seen))["items"]) == 1
    assert "ETag" not in fair.desk.get(fair.entrants_path).headers
    fair.move(one, "approved")
    assert len(ok(public.get(fair.entrants_path, headers=seen))["items"]) == 1


def test_names_are_stored_tidy(fair: Fair) -> None:
    made = fair.add("\u3000陈\u200b一 ", club="甲\u3000\u3000队")
    assert (made["name"], made["club"]) == ("陈一", "甲队")
    made = fair.add("陈\u3000二", club="Ａ校１ 队")
    assert (made["name"], made["club"]) == ("陈二", "A校1 队")
    assert [one["name"] for one in ok(fair.desk.get(f"{fair.entrants_path}?q=陈\u3000二"))["items"]] == ["陈二"]
    assert fair.add("Mari\u0301a")["name"] == "Mar\u00eda"


def test_a_name_that_is_only_spaced_otherwise_is_the_same_name(fair: Fair) -> None:
    one, _other = fair.add("陈一", club="甲队 1"), fair.add("Ana Mari", club="甲队")
    (warning,) = fair.add("陈 一", club="甲队 1")["warnings"]
    assert (warning["slug"], warning["entrants"]) == ("double-entry", [one["id"]])
    assert fair.add("Anamari", club="甲队")["warnings"] == []


def test_another_of_the_same_name_is_taken_with_a_warning(fair: Fair) -> None:
    one = fair.add("陈一", club="甲队")
    assert one["warnings"] == []
    two = fair.add("陈一", club="乙队")
    assert two["warnings"][0]["entrants"] == [one["id"]]
    body = {"name": "陈一", "club": "丙队"}
    chinese = ok(fair.desk.post(fair.entrants_path, body, headers={"Accept-Language": "zh-TW"}), 201)
    assert chinese["warnings"][0]["detail"] == "本比賽中另有一位 陈一，請確認不是同一人。"
    fair.move(chinese, "cancelled")
    fair.move(one, "cancelled")
    fair.move(two, "cancelled")
    assert fair.add("陈一")["warnings"] == []


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/name"),
        ({"name": " "}, "/name"),
        ({"name": "长" * 201}, "/name"),
        ({"name": "陈", "seed": 4001}, "/seed"),
        ({"name": "陈", "seed": -1}, "/seed"),
        ({"name": "陈", "seed": "1800"}, "/seed"),
        ({"name": "陈", "fixed_board": 0}, "/fixed_board"),
        ({"name": "陈", "state": "seated"}, "/state"),
        ({"name": "陈", "members": ["林"]}, "/members"),
        ({"name": "陈", "substitutes": ["林"]}, "/substitutes"),
        ({"name": "陈", "sex": "男"}, "/sex"),
        ({"name": "陈", "birth_year": 1899}, "/birth_year"),
        ({"name": "陈", "birth_year": 2099}, "/birth_year"),
        ({"name": "陈", "phone": "电话"}, "/phone"),
        ({"name": "陈", "email": "a@b"}, "/email"),
        ({"name": "陈", "seed_date": "yesterday"}, "/seed_date"),
    ],
)
def test_an_entrant_that_cannot_be_is_refused_at_its_place(fair: Fair, body: dict[str, Any], pointer: str) -> None:
    response = fair.desk.post(fair.entrants_path, body)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json["errors"]] == [pointer]  # type: ignore[index]
    assert sum(fair.event()["counts"].values()) == 0


def test_a_team_has_members_and_not_more_than_its_game_allows(service: Service) -> None:
    fair = make_fair(service, profile="tuolaji")
    team = fair.add("甲队", members=["陈一", "林二"])
    assert team["members"] == ["陈一", "林二"]
    path = f"{fair.entrants_path}/{team['id']}"
    changed = ok(fair.desk.patch(path, {"members": ["林二", "王三"]}, version=1))
    assert (changed["members"], changed["version"]) == (["林二", "王三"], 2)
    assert ok(fair.desk.patch(path, {"members": []}, version=2))["members"] == []
    problem(fair.desk.patch(path, {"members": ["一", "二", "三"]}, version=3), 422, "members")


def test_a_change_touches_only_what_is_said_and_is_logged_with_before_and_after(fair: Fair) -> None:
    one = fair.add("陈一", club="甲队", seed=1800)
    path = f"{fair.entrants_path}/{one['id']}"
    changed = ok(fair.desk.patch(path, {"seed": None}, version=1))
    assert (changed["name"], changed["club"], changed["seed"]) == ("陈一", "甲队", None)
    query = "SELECT old, new FROM audit_log WHERE event_id = :id AND action = 'entrant.change'"
    (row,) = fair.service.rows(query, id=fair.event_id)
    assert (row.old, row.new) == ({"seed": 1800, "version": 1}, {"seed": None, "version": 2})
    body = problem(fair.desk.patch(path, {"club": "乙队"}, version=1), 412, "stale")
    assert (body["current"]["seed"], body["current"]["updated_by"]) == (None, "王登记")


def test_a_renamed_entrant_is_found_by_the_new_name(fair: Fair) -> None:
    one = fair.add("陈一")
    ok(fair.desk.patch(f"{fair.entrants_path}/{one['id']}", {"name": "王三"}, version=1))
    assert (found(fair, "ws"), found(fair, "cy")) == (["王三"], [])


def test_only_what_a_draw_depends_on_makes_drafts_stale(fair: Fair) -> None:
    (one,) = fair.seated(1)
    path, before = f"{fair.entrants_path}/{one['id']}", fair.numbers()[1]
    ok(fair.desk.patch(path, {"name": "陈壹"}, version=one["version"]))
    assert fair.numbers()[1] == before
    ok(fair.desk.patch(path, {"seed": 100}, version=one["version"] + 1))
    assert fair.numbers()[1] == before + 1


def test_a_roster_number_belongs_to_one_entrant(fair: Fair) -> None:
    fair.add("陈一", external_id="7")
    two = fair.add("林二", external_id="8")
    problem(fair.desk.post(fair.entrants_path, {"name": "王三", "external_id": "7"}), 409, "external-id-taken")
    path = f"{fair.entrants_path}/{two['id']}"
    problem(fair.desk.patch(path, {"external_id": "7"}, version=1), 409, "external-id-taken")
    ok(fair.desk.patch(path, {"external_id": "8"}, version=1))


def test_an_entrant_of_another_event_is_not_found_here(service: Service, fair: Fair) -> None:
    stranger = make_fair(service).add("林二")
    for response in (
        fair.desk.get(f"{fair.entrants_path}/{stranger['id']}"),
        fair.desk.patch(f"{fair.entrants_path}/{stranger['id']}", {"club": "x"}, version=1),
        fair.organiser.post(f"{fair.entrants_path}/{stranger['id']}/transitions", {"to": "approved"}, version=1),
        fair.desk.put(f"{fair.path}/absences/1/{stranger['id']}", {}),
        fair.desk.put(f"{fair.path}/byes/1/{stranger['id']}", {"kind": "half"}),
        fair.desk.put(f"{fair.path}/fixed-boards/{stranger['id']}", {"board": 1}, version=1),
    ):
        problem(response, 404, "entrant-not-found")


@pytest.mark.parametrize(
    "unseen", ["\U000e0001", "\u3164", "\u2800", "\u115f", "\uffa0", "\u0301", "\ufe0f\u200b", " \u3000"]
)
def test_a_name_of_which_nothing_can_be_seen_is_refused_at_every_entry(
    fair: Fair, service: Service, unseen: str
) -> None:
    one = fair.add("陈一")
    teams = make_fair(service, profile="shengji")
    for response, pointer in (
        (fair.desk.post(fair.entrants_path, {"name": unseen}), "/name"),
        (fair.desk.patch(f"{fair.entrants_path}/{one['id']}", {"name": unseen}, version=1), "/name"),
        (fair.service.public().post(f"{fair.path}/registrations", {"name": unseen}), "/name"),
        (fair.organiser.post("/api/v1/events", {"name": unseen, "profile": "xiangqi"}), "/name"),
        (teams.desk.post(teams.entrants_path, {"name": "甲队", "members": ["陈一", unseen]}), "/members/1/name"),
    ):
        body = problem(response, 422, "invalid-request")
        assert [error["pointer"] for error in body["errors"]] == [pointer]


@pytest.mark.parametrize("version", [2**31 - 1, 2**31])
def test_a_version_that_no_entrant_can_have_is_refused_as_none(fair: Fair, version: int) -> None:
    """A version is compared, and written with one added: it may not run over its column."""
    one = fair.add("陈一")
    path = f"{fair.entrants_path}/{one['id']}"
    problem(fair.desk.patch(path, {"club": "甲队"}, version=version), 422, "bad-version")
    seen = [{"id": one["id"], "version": version}]
    bulk = fair.desk.post(f"{fair.entrants_path}/bulk-transitions", {"to": "checked_in", "entrants": seen})
    problem(bulk, 422, "invalid-request")
    assert ok(fair.desk.get(path))["version"] == one["version"]
