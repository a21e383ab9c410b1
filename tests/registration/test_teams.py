"""Teams: members in order, substitutes, and nobody in two teams of one event."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registration.conftest import Fair, Service, make_fair, ok, problem


@pytest.fixture
def teams(service: Service) -> Fair:
    """An event of card teams of any size."""
    return make_fair(service, profile="poker_team", needs_approval=False)


def person(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, **more}


def test_a_team_has_members_in_order_and_substitutes_behind(teams: Fair) -> None:
    team = teams.add("甲队", members=["陈一", person("林二", birth_year=1990)], substitutes=["王三"])
    assert (team["members"], team["substitutes"]) == (["陈一", "林二"], ["王三"])
    assert team["people"][1] == {"name": "林二", "substitute": False, "birth_year": 1990, "external_id": None}
    path = f"{teams.entrants_path}/{team['id']}"
    changed = ok(teams.desk.patch(path, {"substitutes": ["赵四", "王三"]}, version=1))
    assert (changed["members"], changed["substitutes"]) == (["陈一", "林二"], ["赵四", "王三"])
    assert changed["people"][1]["birth_year"] == 1990
    public = ok(teams.service.public().get(path))
    assert (public["members"], public["substitutes"]) == (["陈一", "林二"], ["赵四", "王三"])
    assert "people" not in public


@pytest.mark.parametrize(
    ("there", "comes", "same"),
    [
        (person("陈一"), person("陈一"), True),
        (person("陈一"), person("陈 一"), True),
        (person("Li Tom"), person("ＬＩ tom"), True),
        (person("陈一", birth_year=1990), person("陈一"), True),
        (person("陈一", birth_year=1990), person("陈一", birth_year=1990), True),
        (person("陈一", birth_year=1990), person("陈一", birth_year=1991), False),
        (person("陈一", external_id="7"), person("陈壹", external_id="7"), True),
        (person("陈一", external_id="7"), person("陈一", external_id="8"), False),
        (person("陈一"), person("陈二"), False),
    ],
)
def test_a_person_is_in_one_team_of_an_event(teams: Fair, there: Any, comes: Any, same: bool) -> None:
    teams.add("甲队", members=["甲甲", there])
    answer = teams.desk.post(teams.entrants_path, {"name": "乙队", "members": ["乙乙"], "substitutes": [comes]})
    if not same:
        ok(answer, 201)
        return
    detail = problem(answer, 409, "member-elsewhere")["detail"]
    assert "甲队" in detail
    assert "birth years" in detail
    assert teams.event()["counts"]["approved"] == 1


def test_a_person_stands_in_a_team_once(teams: Fair) -> None:
    body = {"name": "甲队", "members": ["陈一", "林二"], "substitutes": ["陈一"]}
    assert "twice" in problem(teams.desk.post(teams.entrants_path, body), 409, "member-elsewhere")["detail"]
    chinese = teams.desk.post(teams.entrants_path, body, headers={"Accept-Language": "zh-CN"})
    assert problem(chinese, 409, "member-elsewhere")["detail"] == "陈一 在本队出现了两次。"


def test_a_team_may_change_within_itself_and_takes_nobody_from_others(teams: Fair) -> None:
    one, two = teams.add("甲队", members=["陈一", "林二"]), teams.add("乙队", members=["王三"])
    path = f"{teams.entrants_path}/{one['id']}"
    ok(teams.desk.patch(path, {"members": ["林二", "陈一"]}, version=1))
    problem(teams.desk.patch(path, {"members": ["林二", "王三"]}, version=2), 409, "member-elsewhere")
    teams.move(two, "cancelled")
    ok(teams.desk.patch(path, {"members": ["林二", "王三"]}, version=2))


def test_a_team_that_cancelled_comes_back_only_while_its_members_are_free(teams: Fair) -> None:
    one = teams.add("甲队", members=["陈一"])
    teams.move(one, "cancelled")
    two = teams.add("乙队", members=["陈一"])
    problem(teams.try_move(one, "registered"), 409, "member-elsewhere")
    body = {"to": "registered", "entrants": [{"id": one["id"], "version": 2}]}
    path = f"{teams.entrants_path}/bulk-transitions"
    many = ok(teams.desk.post(path, body, headers={"Accept-Language": "zh-CN"}))
    assert many["refused"][0]["reason"] == "陈一 已在“乙队”；若是同名的另一人，请为两人填出生年或编号。"
    teams.move(two, "cancelled")
    teams.move(one, "registered")


def test_other_events_do_not_matter(teams: Fair, service: Service) -> None:
    teams.add("甲队", members=["陈一"])
    make_fair(service, profile="poker_team").add("甲队", members=["陈一"])


def test_teams_have_no_birth_year_and_persons_no_members(teams: Fair, fair: Fair) -> None:
    problem(teams.desk.post(teams.entrants_path, {"name": "甲队", "birth_year": 1990}), 422, "not-used")
    one = fair.add("陈一")
    path = f"{fair.entrants_path}/{one['id']}"
    problem(fair.desk.patch(path, {"members": ["林二"]}, version=1), 422, "not-used")
    ok(fair.desk.patch(path, {"members": []}, version=1))


def test_a_sheet_of_teams_takes_nobody_twice_and_keeps_what_it_does_not_say(teams: Fair) -> None:
    teams.add("甲队", members=[person("陈一", birth_year=1990), "林二"])
    path = f"{teams.entrants_path}/import?dry_run="

    def send(sheet: str, *, dry_run: str = "true") -> Any:
        return teams.desk.post(path + dry_run, data=sheet.encode(), content_type="text/csv")

    report = ok(send("队名,队员,替补\n甲队,林二、陈一,赵四\n乙队,王三、赵四,\n丙队,陈一,\n"))
    assert [row["outcome"] for row in report["rows"]] == ["changed", "refused", "refused"]
    assert [row["reasons"][0]["slug"] for row in report["rows"][1:]] == ["member-elsewhere"] * 2
    ok(send("队名,队员,替补\n甲队,林二,\n乙队,陈一、王三,赵四\n", dry_run="false"))
    listed = ok(teams.desk.get(teams.entrants_path))["items"]
    assert {one["name"]: (one["members"], one["substitutes"]) for one in listed} == {
        "甲队": (["林二"], []),
        "乙队": (["陈一", "王三"], ["赵四"]),
    }
