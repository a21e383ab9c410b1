"""Importing a roster on a page: the report first, then just that; what changed meanwhile is shown and asked again."""

from __future__ import annotations

import base64
import html
import re
import zlib
from typing import Any

import pytest

from qisai.formats.sheet_xlsx import xlsx_bytes
from tests.gateway.platform import Platform
from tests.gateway.test_desk_pages import Field, new_field
from tests.gateway.test_organiser_pages import field
from tests.gateway.test_pages import Person


@pytest.fixture(scope="module")
def admin(platform: Platform) -> Person:
    return Person(platform, platform.login)


def sent_again(page: str) -> dict[str, str]:
    """The report's form as a browser without scripts sends it."""
    form = page.split('<form id="apply"')[1].split("</form>")[0]
    found = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
    text = re.search(r'<textarea name="text" hidden>(.*?)</textarea>', form, re.S)
    return found | ({} if text is None else {"text": html.unescape(text[1])}) | {"apply": "1"}


def rows(page: str) -> dict[str, str]:
    """Outcome and reasons by row."""
    found = re.findall(r'<td class="num">(\d+)</td><td translate="no">.*?</td><td>(.*?)</td><td>(.*?)</td>', page)
    return {row: f"{outcome} {why}".strip() for row, outcome, why in found}


def post(admin: Person, there: Field, **form: Any) -> Any:
    return admin.post(f"{there.desk}/import", **form)


def test_a_sheet_is_reported_row_by_row_and_nothing_is_written(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    there.add("陈一", club="甲队")
    there.add("李二", club="甲队", seed=1500)
    roster = "姓名,单位,等级分,颜色\n陈一,甲队,\n李二,甲队,1600\n张三,乙队,１５５０\n,丙队,1\n王五,丁队,高\n".encode(
        "gb18030"
    )
    answer = post(admin, there, files={"file": ("名单.csv", roster)})
    found = rows(answer.text)
    assert {row: line.split()[0] for row, line in found.items()} == {
        "2": "unchanged",
        "3": "changed",
        "4": "new",
        "5": "refused",
        "6": "refused",
    }
    assert "姓名: is empty" in found["5"]
    assert "等级分: " in found["6"]
    assert "Rating" in found["3"], "what would change"
    assert "张三 <small>乙队 · 1550</small>" in answer.text, "what else was read"
    taken = re.sub("<[^>]+>", "", answer.text.split("Columns that are taken:")[1].split("</p>")[0])
    assert taken.strip() == "姓名 → Name · 单位 → Club · 等级分 → Rating"
    assert "Columns that are not taken:" in answer.text
    assert "颜色" in answer.text
    assert "nothing can be imported yet" in answer.text
    assert 'name="apply"' not in answer.text
    assert set(there.states()) == {"陈一", "李二"}


def test_how_many_will_wait_is_said_before_they_are_imported(platform: Platform, admin: Person) -> None:
    there = new_field(platform, capacity=3)
    there.add("陈一")
    roster = "编号,姓名\n" + "".join(f"{number},棋手{number}\n" for number in range(7, 12))
    answer = post(admin, there, text=roster)
    assert "3 of the new ones will wait for a place." in answer.text
    assert "编号</span> → Roster number" in answer.text, "no number of the draw"
    few = post(admin, there, text="姓名\n棋手7\n棋手8\n")
    assert "will wait for a place" not in few.text


def test_a_spreadsheet_comes_back_with_its_report_and_is_imported_once(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    sheet = xlsx_bytes("名单", ["姓名", "单位", "备注"], [["陈一", "甲队", "=1+1"], ["李二", "乙队", ""]])
    report = post(admin, there, files={"file": ("名单.xlsx", sheet)})
    assert "Import 2 new and 0 changed" in report.text
    form = sent_again(report.text)
    done = post(admin, there, **form)
    assert "The roster is imported." in done.text
    assert there.states() == {"陈一": "registered", "李二": "registered"}
    again = post(admin, there, **form)
    assert "The roster is imported." in again.text, "sent twice, done once"
    assert len(there.states()) == 2
    same = post(admin, there, files={"file": ("名单.xlsx", sheet)})
    assert "there is nothing to import" in same.text


def test_what_changed_since_the_report_is_shown_and_asked_again(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    form = sent_again(post(admin, there, text="姓名,单位,等级分\n陈一,甲队,1500\n李二,乙队,1400\n").text)
    made = there.add("李二", club="乙队", seed=1300)
    answer = post(admin, there, **form)
    assert answer.status_code == 409
    assert "Somebody changed the field since you looked; nothing was imported." in answer.text
    assert "1 row would now do something else:" in answer.text
    assert rows(answer.text)["3"].startswith("<s>new</s> changed")
    assert set(there.states()) == {"李二"}
    assert "The roster is imported." in post(admin, there, **sent_again(answer.text)).text
    assert set(there.states()) == {"陈一", "李二"}
    assert there.get(made).seed == 1400


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"kept": "no base64"},
        {"kept": "AAAA"},
        {"text": "只有一列\n"},
        {"files": {"file": ("x.csv", b"\xff\xfe\x00rubbish")}},
        {"files": {"file": ("x.xlsx", b"PK\x03\x04 broken")}},
    ],
)
def test_what_is_no_roster_is_refused_in_words(platform: Platform, admin: Person, form: dict[str, Any]) -> None:
    there = new_field(platform)
    answer = post(admin, there, **form)
    assert answer.status_code == 422
    assert 'class="note error"' in answer.text
    assert "<textarea" in answer.text
    assert there.states() == {}


def test_a_file_that_unpacks_without_end_is_refused(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    bomb = base64.b64encode(zlib.compress(b"0" * (8 << 20))).decode()
    answer = post(admin, there, kept=bomb)
    assert answer.status_code == 422
    assert "Choose the file once more." in answer.text, "before all of it was unpacked"


def test_a_large_sheet_shows_what_to_look_at_first(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    lines = [f"棋手{n:04},队{n % 40},{'高' if n == 1999 else 1500}" for n in range(2000)]
    answer = post(admin, there, files={"file": ("大.csv", ("姓名,单位,等级分\n" + "\n".join(lines)).encode())})
    shown = rows(answer.text)
    assert len(shown) == 500
    assert next(iter(shown)) == "2001", "the one that is refused"
    assert "… and 1500 more like these" in answer.text


def test_what_is_exported_can_be_imported_and_changes_nothing(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    there.add("陈一", club="甲队", seed=1500, notes="=危险")
    for form in ("csv", "xlsx"):
        answer = Person(platform, platform.login).get(f"{there.desk}/entrants.{form}?lang=zh-Hans")
        content = answer.content
        assert f'filename="entrants-{there.event_id}.{form}"' in answer.headers["Content-Disposition"]
        if form == "csv":
            assert "姓名" in content.decode("utf-8-sig"), "headed in the page's language"
        report = post(admin, there, files={"file": (f"x.{form}", content)})
        assert rows(report.text) == {"2": "unchanged"}, form


def test_the_report_speaks_chinese(platform: Platform, admin: Person) -> None:
    there = new_field(platform)
    chinese = {"Accept-Language": "zh-CN"}
    address = f"{admin.url}{there.desk}/import"
    page = admin.http.get(address, headers=chinese, timeout=20).text
    form = {"csrf_token": field(page, "csrf_token"), "text": "姓名,电话\n,123456\n陈一,x\n"}
    answer = admin.http.post(address, data=form, headers=chinese, timeout=20).text
    for line in rows(answer).values():
        outcome, column, why = line.split(" ", 2)
        assert (outcome, column in ("姓名:", "电话:")) == ("被拒", True)
        assert re.search("[\u4e00-\u9fff]{4}", why), why
