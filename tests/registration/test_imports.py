"""Importing a roster: dry run, all or nothing, a corrected sheet again, and whatever bytes come."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from services.registration import reading
from tests.registration.conftest import Fair, Service, make_fair, ok, problem
from tests.results.interleaving import InBackground


def send(fair: Fair, text: str | bytes, *, dry_run: bool = False) -> TestResponse:
    content = text.encode() if isinstance(text, str) else text
    path = f"{fair.entrants_path}/import?dry_run={str(dry_run).lower()}"
    return fair.desk.post(path, data=content, content_type="text/csv")


def field(fair: Fair) -> list[tuple[Any, ...]]:
    rows = ok(fair.desk.get(f"{fair.entrants_path}?limit=1000"))["items"]
    return sorted((one["external_id"] or "", one["name"], one["club"], one["seed"] or 0) for one in rows)


def outcomes(report: dict[str, Any]) -> list[str]:
    return [row["outcome"] for row in report["rows"]]


def everything(fair: Fair) -> list[Any]:
    """What an import could leave behind, as it is committed."""
    query = """SELECT (SELECT count(*) FROM entrant WHERE event_id = :id), (SELECT count(*) FROM transition WHERE
               event_id = :id), (SELECT count(*) FROM audit_log WHERE event_id = :id),
               (SELECT feed_no FROM event_feed WHERE event_id = :id)"""
    return list(fair.service.rows(query, id=fair.event_id)[0])


def test_a_dry_run_writes_nothing_and_says_what_would_happen(fair: Fair) -> None:
    before = everything(fair)
    report = ok(send(fair, "编号,姓名,费用\n1,陈一,x\n2,林二,y\n", dry_run=True))
    assert (report["applied"], outcomes(report), report["ignored"]) == (False, ["new", "new"], ["费用"])
    assert everything(fair) == before


def test_one_bad_row_keeps_everything_out_and_every_bad_cell_is_named(fair: Fair) -> None:
    before = everything(fair)
    sheet = "编号,姓名,等级分\n1,陈一,1800\n1,林二,x\n3,,5\n"
    report = ok(send(fair, sheet, dry_run=True))
    assert report["counts"] == {"new": 1, "same": 0, "changed": 0, "refused": 2}
    body = problem(send(fair, sheet), 422, "import-refused")
    assert [error["pointer"] for error in body["errors"]] == ["/rows/3/等级分", "/rows/3/编号", "/rows/4/姓名"]
    assert everything(fair) == before


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfeabc", b"PK\x03\x04", '姓名\n"陈'.encode(), b"\x81", "陈一,林二".encode()]
)
def test_a_malformed_file_leaves_nothing_behind(fair: Fair, content: bytes) -> None:
    before = everything(fair)
    for dry_run in (True, False):
        answer = send(fair, content, dry_run=dry_run)
        assert answer.status_code == 422, answer.get_data(as_text=True)
        assert answer.content_type.startswith("application/problem+json")
    assert everything(fair) == before


def test_while_other_rosters_are_read_one_more_is_told_when_to_come_again(fair: Fair) -> None:
    sheet = "姓名\n陈一\n"
    with ExitStack() as others:
        for _ in range(reading.AT_ONCE):
            others.enter_context(reading.TURNS)
        answer = send(fair, sheet)
        problem(answer, 429, "import-busy")
        assert answer.headers["Retry-After"] == "5"
    for _ in range(reading.AT_ONCE + 1):
        problem(send(fair, b"\x81"), 422, "roster-encoding")  # who is refused leaves the place to others
    assert outcomes(ok(send(fair, sheet))) == ["new"]


def test_a_corrected_sheet_changes_entrants_by_their_number_instead_of_doubling_them(fair: Fair) -> None:
    ok(send(fair, "编号,姓名,单位,等级分\n1,陈一,甲队,1800\n2,林二,乙队,1700\n"))
    report = ok(send(fair, "编号,姓名,单位,等级分\n1,陈壹,甲队,1805\n2,林二,乙队,1700\n3,王三,丙队,\n"))
    assert outcomes(report) == ["changed", "same", "new"]
    assert field(fair) == [("1", "陈壹", "甲队", 1805), ("2", "林二", "乙队", 1700), ("3", "王三", "丙队", 0)]
    (one,) = ok(fair.desk.get(f"{fair.entrants_path}?q=chen"))["items"]
    assert (one["name"], one["version"]) == ("陈壹", 2)


def test_without_numbers_name_and_club_tell_who_is_meant(fair: Fair) -> None:
    ok(send(fair, "姓名,单位,等级分\n陈一,甲队,1800\n陈一,乙队,1700\n"))
    report = ok(send(fair, "姓名,单位,等级分\n陈一,乙队,1750\n陈一,甲队,1800\n"))
    assert outcomes(report) == ["changed", "same"]
    assert field(fair) == [("", "陈一", "乙队", 1750), ("", "陈一", "甲队", 1800)]


def test_numbers_are_taken_over_by_those_who_had_none(fair: Fair) -> None:
    ok(send(fair, "姓名,单位\n陈一,甲队\n"))
    report = ok(send(fair, "编号,姓名,单位\n9,陈一,甲队\n"))
    assert outcomes(report) == ["changed"]
    assert field(fair) == [("9", "陈一", "甲队", 0)]


def test_two_people_of_one_name_are_a_warning_and_stay_two_when_imported_again(fair: Fair) -> None:
    sheet = "姓名,单位,等级分\n陈一,甲队,1800\n陈一,甲队,1500\n"
    report = ok(send(fair, sheet))
    assert outcomes(report) == ["new", "new"]
    assert [reason["slug"] for reason in report["rows"][1]["reasons"]] == ["same-name"]
    assert outcomes(ok(send(fair, sheet))) == ["same", "same"]
    assert len(field(fair)) == 2


def reason_slugs(report: dict[str, Any]) -> list[list[str]]:
    return [[reason["slug"] for reason in row["reasons"]] for row in report["rows"]]


def test_a_corrected_club_changes_the_only_one_of_that_name_and_says_so(fair: Fair) -> None:
    ok(send(fair, "姓名,单位\n陈一,甲\n林二,乙\n"))
    corrected = "姓名,单位\n陈一,乙\n林二,乙\n"
    report = ok(send(fair, corrected, dry_run=True))
    assert (outcomes(report), reason_slugs(report)) == (["changed", "same"], [["by-name-alone"], []])
    assert report["rows"][0]["changes"] == ["club"]
    ok(fair.desk.post(f"{fair.entrants_path}/import?dry_run=false&plan={report['plan']}", data=corrected.encode(),
                      content_type="text/csv"))  # fmt: skip
    assert field(fair) == [("", "林二", "乙", 0), ("", "陈一", "乙", 0)]
    assert outcomes(ok(send(fair, corrected))) == ["same", "same"]


def test_a_name_that_stands_twice_here_or_in_the_sheet_tells_nobody(fair: Fair) -> None:
    ok(send(fair, "姓名,单位\n陈一,甲\n"))
    twice = ok(send(fair, "姓名,单位\n陈一,乙\n陈一,丙\n", dry_run=True))
    assert (outcomes(twice), reason_slugs(twice)) == (["new", "new"], [["same-name"], ["same-name"]])
    beside = ok(send(fair, "姓名,单位\n陈一,乙\n陈一,甲\n", dry_run=True))
    assert (outcomes(beside), reason_slugs(beside)) == (["new", "same"], [["same-name"], ["same-name"]])
    ok(send(fair, "姓名,单位\n陈一,乙\n陈一,甲\n"))
    report = ok(send(fair, "姓名,单位\n陈一,丙\n", dry_run=True))
    assert (outcomes(report), reason_slugs(report)) == (["new"], [["same-name"]])


def test_by_name_alone_nobody_is_another_year_another_number_or_gone(service: Service) -> None:
    chess = make_fair(service, profile="chess")
    ok(send(chess, "姓名,单位,出生年\n陈一,甲,1990\n"))
    assert outcomes(ok(send(chess, "姓名,单位,出生年\n陈一,乙,2001\n", dry_run=True))) == ["new"]
    assert outcomes(ok(send(chess, "姓名,单位,出生年\n陈一,乙,1990\n", dry_run=True))) == ["changed"]
    fair = make_fair(service)
    ok(send(fair, "编号,姓名,单位\n1,陈一,甲\n,林二,甲\n"))
    assert outcomes(ok(send(fair, "编号,姓名,单位\n2,陈一,乙\n", dry_run=True))) == ["new"]
    assert outcomes(ok(send(fair, "姓名,单位\n陈一,乙\n", dry_run=True))) == ["changed"]
    (one,) = ok(fair.desk.get(f"{fair.entrants_path}?q=林二"))["items"]
    fair.move(one, "cancelled")
    assert outcomes(ok(send(fair, "姓名,单位\n林二,乙\n", dry_run=True))) == ["new"]


def test_full_width_letters_and_spaces_are_no_other_person(fair: Fair) -> None:
    ok(send(fair, "姓名,单位\n陈一,甲队1\nAna,甲队1\n"))
    report = ok(send(fair, "姓名,单位\n陈\u3000一,甲队１\nＡｎａ,甲队１\n"))
    assert outcomes(report) == ["same", "same"]
    assert reason_slugs(ok(send(fair, "姓名,单位\n陈 一,乙\n陈一,丙\n", dry_run=True))) == [["same-name"]] * 2
    ok(send(fair, "姓名,单位\n陈 一,甲队1\n"))
    assert [name for _id, name, *_ in field(fair)] == ["Ana", "陈 一"]


def test_another_number_is_another_person_even_with_the_same_name_and_club(fair: Fair) -> None:
    ok(send(fair, "编号,姓名,单位\n1,陈一,甲队\n"))
    report = ok(send(fair, "编号,姓名,单位\n2,陈一,甲队\n"))
    assert outcomes(report) == ["new"]
    assert [reason["slug"] for reason in report["rows"][0]["reasons"]] == ["same-name"]
    assert len(field(fair)) == 2


def test_two_rows_may_swap_names(fair: Fair) -> None:
    ok(send(fair, "编号,姓名\n1,陈一\n2,林二\n"))
    assert outcomes(ok(send(fair, "编号,姓名\n1,林二\n2,陈一\n"))) == ["changed", "changed"]
    assert field(fair) == [("1", "林二", "", 0), ("2", "陈一", "", 0)]


def test_a_column_that_the_sheet_does_not_have_changes_nothing(fair: Fair) -> None:
    ok(send(fair, "编号,姓名,单位,等级分\n1,陈一,甲队,1800\n"))
    ok(send(fair, "编号,姓名\n1,陈一\n"))
    assert field(fair) == [("1", "陈一", "甲队", 1800)]
    ok(send(fair, "编号,姓名,单位,等级分\n1,陈一,,\n"))
    assert field(fair) == [("1", "陈一", "", 0)]


def test_changes_are_logged_with_before_and_after(fair: Fair) -> None:
    ok(send(fair, "编号,姓名,等级分\n1,陈一,1800\n"))
    ok(send(fair, "编号,姓名,等级分\n1,陈一,\n"))
    query = "SELECT old, new FROM audit_log WHERE event_id = :id AND action = 'entrant.import' ORDER BY id DESC LIMIT 1"
    (row,) = fair.service.rows(query, id=fair.event_id)
    (old,), (new,) = row.old["changed"].values(), row.new["changed"].values()
    assert (old, new) == ({"seed": 1800}, {"seed": None})


def test_who_cancelled_is_not_entered_again_by_an_old_sheet(fair: Fair) -> None:
    ok(send(fair, "编号,姓名\n1,陈一\n"))
    (one,) = ok(fair.desk.get(fair.entrants_path))["items"]
    fair.move(one, "cancelled")
    report = ok(send(fair, "编号,姓名\n1,陈一\n"))
    assert outcomes(report) == ["same"]
    assert [reason["slug"] for reason in report["rows"][0]["reasons"]] == ["not-entered"]
    assert fair.entrant(one["id"])["state"] == "cancelled"


def test_members_are_read_for_teams_and_refused_for_persons(service: Service) -> None:
    teams = make_fair(service, profile="shengji")
    sheet = "队名,队员\n甲队,陈一、林二\n"
    ok(send(teams, sheet))
    (team,) = ok(teams.desk.get(teams.entrants_path))["items"]
    assert (team["name"], team["members"]) == ("甲队", ["陈一", "林二"])
    ok(send(teams, "队名,队员\n甲队,陈一、王三\n"))
    assert teams.entrant(team["id"])["members"] == ["陈一", "王三"]
    problem(send(teams, "队名,队员\n乙队,一、二、三\n"), 422, "import-refused")
    problem(send(make_fair(service), "姓名,队员\n陈一,林二\n"), 422, "import-refused")


def test_clubs_are_never_taken_for_players(service: Service) -> None:
    fair = make_fair(service)
    ok(send(fair, "序号,参赛选手,代表队,等级分\n1,陈一,北京队,1800\n"))
    ok(send(fair, "First name,Last name,Club\nAna,Ruiz,A\n"))
    assert field(fair) == [("", "Ana Ruiz", "A", 0), ("1", "陈一", "北京队", 1800)]
    before = everything(fair)
    for dry_run in (True, False):
        body = problem(send(fair, "序号,大名,代表队\n1,林二,上海队\n", dry_run=dry_run), 422, "roster-teams-only")
        assert body["context"] == {"heading": "代表队"}
    assert everything(fair) == before
    teams = make_fair(service, profile="shengji")
    assert outcomes(ok(send(teams, "代表队,队员\n甲队,陈一、林二\n"))) == ["new"]


@pytest.mark.parametrize("language", ["zh-CN", "zh-TW"])
@pytest.mark.parametrize(
    ("sheet", "slug"),
    [
        ("大名,代表队\n林二,上海队\n", "roster-teams-only"),
        ("Name,Surname\nAna,Ruiz\n", "roster-name-parts"),
        ("姓名,单位\n陈一,甲\n姓名,单位,等级分\n林二,乙,1\n", "roster-two-headers"),
    ],
)
def test_what_is_not_sure_in_a_header_is_said_in_chinese_too(fair: Fair, sheet: str, slug: str, language: str) -> None:
    path = f"{fair.entrants_path}/import?dry_run=true"
    said = {"data": sheet.encode(), "content_type": "text/csv", "headers": {"Accept-Language": language}}
    body = problem(fair.desk.post(path, **said), 422, slug)
    assert re.search("[\u4e00-\u9fff]{4}", body["detail"])
    assert not re.search("[{}]", body["detail"]), body["detail"]


def test_changing_a_seated_entrant_by_sheet_makes_drafts_stale(fair: Fair) -> None:
    ok(send(fair, "编号,姓名,等级分\n1,陈一,1800\n"))
    before = fair.numbers()[1]
    ok(send(fair, "编号,姓名,等级分\n1,陈一,1801\n"))
    assert fair.numbers()[1] == before
    bulk = f"{fair.entrants_path}/bulk-transitions"
    ok(fair.organiser.post(bulk, {"to": "approved", "from": ["registered"]}))
    ok(fair.desk.post(f"{fair.path}/check-in", {"all": True}))
    ok(fair.desk.post(f"{fair.entrants_path}/seat", {"all": True}))
    before = fair.numbers()[1]
    ok(send(fair, "编号,姓名,等级分\n1,陈一,1802\n"))
    assert fair.numbers()[1] == before + 1


def test_a_sheet_above_the_limit_is_413(fair: Fair) -> None:
    problem(send(fair, "姓名\n".encode() + b"a" * (5 << 20)), 413, "roster-too-large")


def test_five_thousand_rows_without_numbers_go_in_at_once_and_are_found_again(service: Service) -> None:
    fair = make_fair(service)
    sheet = "姓名\n" + "".join(f"棋手{number}\n" for number in range(5_000))
    assert ok(send(fair, sheet))["counts"]["new"] == 5_000
    assert ok(send(fair, sheet, dry_run=True))["counts"]["same"] == 5_000


PIECES = [
    "姓名",
    "编号",
    "等级分",
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    '"',
    "陈一",
    "林二",
    "1800",
    "\u200b",
    "𠮷",
    "\0",
    "x",
]
CONTENT = st.one_of(
    st.binary(max_size=200), st.lists(st.sampled_from(PIECES), max_size=30).map(lambda p: "".join(p).encode())
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=CONTENT)
def test_whatever_bytes_come_the_import_is_whole_or_nothing(fair: Fair, content: bytes) -> None:
    before = everything(fair)
    answer = send(fair, content)
    assert answer.status_code in (200, 413, 422), answer.get_data(as_text=True)
    after = everything(fair)
    if answer.status_code == 200:
        assert after[0] - before[0] == answer.json["counts"]["new"]  # type: ignore[index]
    else:
        assert after == before


FAULTY = """编号,姓名,单位,等级分,等级分日期,性别,出生年,电话,邮箱,队员,备注
1,陈一,甲,x,x,x,x,x,x,陈一,
1,林二,甲,,,,,,,,{long}
2,\u2800,甲,,,,,,,,
3,王\ufffd,甲,,,,,,,,
4,赵四,甲,,,,,,,{many},a,b
"""


@pytest.mark.parametrize("language", ["zh-CN", "zh-TW"])
def test_every_reason_is_said_in_the_callers_language_and_names_the_value(fair: Fair, language: str) -> None:
    sheet = FAULTY.format(long="长" * 1001, many="、".join(f"队员{number}" for number in range(21)))
    said = {"content_type": "text/csv", "data": sheet.encode()}
    path = f"{fair.entrants_path}/import?dry_run=true"
    english = reasons(ok(fair.desk.post(path, **said, headers={"Accept-Language": "en"})))
    chinese = reasons(ok(fair.desk.post(path, **said, headers={"Accept-Language": language})))
    assert english.keys() == chinese.keys()
    slugs = {slug for _row, _column, slug in english}
    assert slugs == {
        "seed", "day", "sex", "birth-year", "phone", "email", "too-long", "missing", "characters", "too-many",
        "too-many-cells", "duplicate", "not-used",
    }  # fmt: skip
    for place, detail in chinese.items():
        assert detail != english[place], place
        assert not re.search("[a-wyz]{3}|[{}]", detail), detail
    at = next(place for place in chinese if place[2] == "seed")
    assert "x" in chinese[at]
    assert "4000" in chinese[at]


def reasons(report: dict[str, Any]) -> dict[tuple[int, str, str], str]:
    return {
        (row["row"], reason["column"], reason["slug"]): reason["detail"]
        for row in report["rows"]
        for reason in row["reasons"]
    }


def test_reasons_that_come_from_the_field_are_said_in_chinese_too(service: Service) -> None:
    chinese = {"Accept-Language": "zh-CN"}
    fair = make_fair(service)
    one = fair.add("陈一", club="甲", birth_year=1990)
    fair.move(one, "cancelled")
    fair.add("林二", club="乙")
    fair.add("林二", club="戊")
    fair.add("孙五", club="乙")
    sheet = "编号,姓名,单位,性别\n1,陈一,甲,男\n2,林二,丙,\n3,王三,丙,\n4,王三,丁,\n4,赵四,丁,\n5,孙五,丁,\n"
    path = f"{fair.entrants_path}/import?dry_run=true"
    found = reasons(ok(fair.desk.post(path, data=sheet.encode(), content_type="text/csv", headers=chinese)))
    by_slug = {f"{row} {slug}": detail for (row, _column, slug), detail in found.items()}
    assert by_slug == {
        "2 not-entered": "陈一 在本比赛中已取消或被拒，维持不变。",
        "3 same-name": "本比赛中另有一位 林二，按另一人处理。",
        "5 same-name": "第 4 行也有 王三，按另一人处理。",
        "6 duplicate": "4 在第 5 行已出现。",
        "7 by-name-alone": "按姓名认作本比赛中唯一的 孙五（原单位“乙”），将作修改；若是另一人，请填出生年或编号。",
    }
    teams = make_fair(service, profile="shengji")
    lines = ["甲队,陈一、林二,", "乙队,林二、王三,", "丙队,赵四、赵四,", "丁队,孙五、周六、吴七,", "戊队,郑八、冯九,男"]
    sheet = "\n".join(["队名,队员,性别", *lines, ""])
    path = f"{teams.entrants_path}/import?dry_run=true"
    answer = teams.desk.post(path, data=sheet.encode(), content_type="text/csv", headers=chinese)
    assert [detail for _place, detail in sorted(reasons(ok(answer)).items())] == [
        "林二 已在“甲队”；若是同名的另一人，请为两人填出生年或编号。",
        "赵四 出现了两次。",
        "有 3 个姓名，而本项目每队为 2 人。",
        "此项目以队参赛，请为队员填写。",
    ]


def test_a_refused_import_names_places_by_pointer_and_says_why_in_the_callers_language(fair: Fair) -> None:
    said = {"data": "姓名,等级分\n陈一,x\n".encode(), "content_type": "text/csv"}
    path = f"{fair.entrants_path}/import?dry_run=false"
    body = problem(fair.desk.post(path, **said, headers={"Accept-Language": "zh-CN"}), 422, "import-refused")
    assert body["detail"] == "1 行中有 1 行不能采用，什么也没有导入；请看各行说明。"
    assert body["errors"] == [
        {"pointer": "/rows/2/等级分", "detail": "现为“x”，须为 0 到 4000 的整数，或留空。", "slug": "seed"}
    ]
    assert "row 2, column 等级分: is 'x'" in problem(fair.desk.post(path, **said), 422, "import-refused")["detail"]


def test_a_cell_beyond_every_measure_is_named_with_its_row(fair: Fair) -> None:
    body = problem(send(fair, "姓名,单位\n" + '"' + "陈" * 140_000 + '",甲\n'), 422, "roster-cell-too-long")
    assert body["context"] == {"row": 2, "most": 131_072}


@pytest.mark.slow
def test_other_desks_go_on_while_twenty_thousand_rows_are_imported(service: Service) -> None:
    """Guard: what takes long is made ready before the event is held, so desks wait for a part of the time only.

    On a machine that has other things to do some of them may meet their limit of waiting and be told so.
    """
    fair = make_fair(service)
    sheet = "编号,姓名,单位\n" + "".join(f"{number},棋手{number},单位{number % 300}\n" for number in range(20_000))
    importing = InBackground(fair.service.database, lambda: send(fair, sheet))
    statuses, longest, started = [], 0.0, time.monotonic()
    while importing.is_running():
        began = time.monotonic()
        statuses.append(fair.desk.post(fair.entrants_path, {"name": f"现场{len(statuses)}"}).status_code)
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.2)
    answer = importing.result()
    total = time.monotonic() - started
    print(f"{len(statuses)} registered meanwhile; the longest waited {longest:.1f} s of {total:.1f} s")
    assert set(statuses) <= {201, 503}
    assert statuses.count(503) < statuses.count(201)
    assert longest < 0.7 * total
    if (
        answer.status_code == 409
    ):  # somebody registered between its look and its hold: it says so, and goes the next time
        problem(answer, 409, "import-changed")
        answer = send(fair, sheet)
    assert ok(answer)["counts"]["new"] == 20_000


def test_a_roster_shorter_than_announced_is_not_imported_in_part(fair: Fair) -> None:
    """As gunicorn hands it on: it claims that its input ends where the body does, also where the caller hung up."""
    before = everything(fair)
    whole = "姓名\n陈一\n林二\n".encode()
    claims = {"wsgi.input_terminated": True, "CONTENT_LENGTH": str(len(whole) + 7)}
    path = f"{fair.entrants_path}/import?dry_run=false"
    refused = fair.desk.post(path, data=whole, content_type="text/csv", environ_overrides=claims)
    problem(refused, 400, "body-cut")
    assert everything(fair) == before
