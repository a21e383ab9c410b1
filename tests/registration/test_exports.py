"""Entrants as a spreadsheet: opens with Chinese intact, runs nothing, shows what the reader may see, comes back."""

from __future__ import annotations

import csv
import io
from typing import Any
from urllib.parse import urlencode

import pytest
from openpyxl import load_workbook

from qisai.db.accounts import Role
from tests import calls
from tests.registration.conftest import Fair, Service, make_fair, ok


def export(caller: calls.Caller, fair: Fair, form: str = "csv", language: str = "zh-CN") -> bytes:
    answer = caller.get(
        f"{fair.entrants_path}/export?{urlencode({'form': form})}", headers={"Accept-Language": language}
    )
    assert answer.status_code == 200, answer.get_data()
    return answer.get_data()


def rows(content: bytes) -> list[list[str]]:
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))


@pytest.fixture
def told(fair: Fair) -> Fair:
    """One approved and one registered entrant who told the desk everything."""
    more = {"sex": "female", "birth_year": 1990, "phone": "13800000000", "email": "a@b.cn", "notes": "吃素"}
    one = fair.add(
        "陈一", club="甲队", seed=1800, external_id="7", seed_source="省协会", seed_date="2026-10-01", **more
    )
    fair.move(one, "approved")
    fair.add("=林二", club="@乙队")
    return fair


def test_the_desk_gets_everything_headed_in_its_language(told: Fair) -> None:
    head, two, one = rows(export(told.desk, told))
    assert head == [
        "签号", "编号", "姓名", "单位", "等级分", "等级分来源", "等级分日期", "性别", "出生年", "电话", "邮箱", "备注",
        "状态",
    ]  # fmt: skip
    assert one[1:] == [
        "7", "陈一", "甲队", "1800", "省协会", "2026-10-01", "女", "1990", "13800000000", "a@b.cn", "吃素", "已批准",
    ]  # fmt: skip
    assert (two[2], two[3]) == ("'=林二", "'@乙队")
    assert rows(export(told.desk, told, language="en"))[0][2] == "Name"
    assert rows(export(told.desk, told, language="zh-TW"))[0][3] == "單位"


def test_others_get_what_they_may_see(told: Fair) -> None:
    public = rows(export(told.service.public(), told))
    assert public[0] == ["签号", "姓名", "单位", "等级分", "状态"]
    assert [row[1] for row in public[1:]] == ["陈一"]
    referee = told.service.person(Role.REFEREE, told.event_id)
    staff = rows(export(referee, told))
    assert "编号" in staff[0]
    assert len(staff) == 3
    assert not {"电话", "邮箱", "性别", "出生年", "备注"} & set(staff[0])
    assert "phone" not in ok(referee.get(told.entrants_path))["items"][0]


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_what_was_exported_is_the_same_when_it_is_imported_again(told: Fair, form: str) -> None:
    path = f"{told.entrants_path}/import?dry_run=true"
    for language in ("zh-CN", "zh-TW", "en"):
        content = export(told.desk, told, form, language)
        report = ok(told.desk.post(path, data=content, content_type="application/octet-stream"))
        assert [row["outcome"] for row in report["rows"]] == ["same", "same"], report


def test_a_corrected_workbook_updates(told: Fair) -> None:
    book = load_workbook(io.BytesIO(export(told.desk, told, "xlsx")))
    sheet = book.active
    assert sheet is not None
    sheet["E3"], sheet["J2"] = 1850, "010-1234567"
    content = io.BytesIO()
    book.save(content)
    path = f"{told.entrants_path}/import?dry_run=false"
    report = ok(told.desk.post(path, data=content.getvalue(), content_type="application/octet-stream"))
    assert [(row["outcome"], row["changes"]) for row in report["rows"]] == [
        ("changed", ["phone"]),
        ("changed", ["seed"]),
    ]
    listed: dict[str, Any] = {one["name"]: one for one in ok(told.desk.get(told.entrants_path))["items"]}
    assert (listed["陈一"]["seed"], listed["陈一"]["phone"]) == (1850, "13800000000")
    assert listed["=林二"]["phone"] == "010-1234567"
    query = "SELECT new FROM audit_log WHERE event_id = :id AND action = 'entrant.import'"
    (row,) = told.service.rows(query, id=told.event_id)
    assert "010-1234567" not in str(row.new)


def test_a_team_sheet_has_members_and_no_sides_or_birth_years(service: Service) -> None:
    fair = make_fair(service, profile="shengji")
    fair.add("甲队", members=["陈一", "林二"], substitutes=["王三"])
    head, one = rows(export(fair.desk, fair))
    assert head[2:6] == ["队名", "单位", "队员", "替补"]
    assert (one[2], one[4], one[5]) == ("甲队", "陈一、林二", "王三")
    assert "性别" not in head
    path = f"{fair.entrants_path}/import?dry_run=true"
    report = ok(fair.desk.post(path, data=export(fair.desk, fair), content_type="text/csv"))
    assert [row["outcome"] for row in report["rows"]] == ["same"]


def test_private_values_are_not_in_the_log_and_not_in_the_feed(told: Fair) -> None:
    (one,) = ok(told.desk.get(f"{told.entrants_path}?q=chen"))["items"]
    path = f"{told.entrants_path}/{one['id']}"
    changed = ok(told.desk.patch(path, {"phone": "13911112222", "club": "丙队"}, version=one["version"]))
    assert changed["phone"] == "13911112222"
    for table in ("audit_log", "feed_entry", "transition"):
        lines = told.service.rows(f"SELECT t::text AS line FROM {table} t WHERE event_id = :id", id=told.event_id)
        assert not [line for line in lines if "139111" in line.line or "13800000000" in line.line]
    query = "SELECT old, new FROM audit_log WHERE event_id = :id AND action = 'entrant.change'"
    (row,) = told.service.rows(query, id=told.event_id)
    assert (row.old["phone"], row.new["club"]) == ("•••", "丙队")
