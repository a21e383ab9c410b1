"""The desk in a browser: check-in by keyboard alone, a chosen file that is kept, a form that explains itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.gateway.platform import Platform
from tests.gateway.test_desk_pages import Field, new_field


def approved(platform: Platform, *names: str) -> Field:
    """An open event in which these wait to be checked in."""
    there = new_field(platform)
    there.move("approved", *(there.add(name) for name in names))
    return there


def test_two_letters_and_enter_check_somebody_in_without_a_mouse(page: Page, platform: Platform) -> None:
    there = approved(platform, "陈一", "李二", "张三", "张思")
    page.goto(there.desk)
    says = page.locator("#check-in output")
    page.keyboard.type("cy")
    expect(says).to_have_text("Enter: 陈一")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_have_text("陈一: now checked in.")
    page.keyboard.type("le")
    expect(says).to_have_text("Enter: 李二")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_have_text("李二: now checked in.")
    page.keyboard.press("Enter")  # twice by habit: the note about the first stays
    expect(page.get_by_role("status").first).to_have_text("李二: now checked in.")
    page.keyboard.type("zs")
    expect(says).to_have_text("2 of those expected fit; type on")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Which one?")).to_be_visible()
    for _button in range(2):  # past the form's own button
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("now checked in.")
    assert sorted(there.states().values()) == ["approved", "checked_in", "checked_in", "checked_in"]


def test_the_list_narrows_by_letters_and_ticks_only_what_is_shown(page: Page, platform: Platform) -> None:
    there = approved(platform, "陈一", "陈勇", "李二")
    page.goto(there.desk)
    page.get_by_role("searchbox").fill("cy")
    expect(page.locator("#entrants tbody tr:visible")).to_have_count(2)
    page.get_by_label("All that are shown").check()
    expect(page.locator("#bulk [data-count]")).to_have_text("(2)")
    page.locator("#bulk select").select_option(label="Check in → checked in")
    page.get_by_role("button", name="Show what would happen").click()
    expect(page.get_by_role("heading", name="2 entrants would be: checked in")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 entrants changed.")).to_be_visible()
    page.get_by_role("button", name="Take that back").click()
    expect(page.get_by_text("Taken back for 2 entrants.")).to_be_visible()
    assert set(there.states().values()) == {"approved"}


def test_a_file_stays_chosen_between_report_and_import(page: Page, platform: Platform, tmp_path: Path) -> None:
    there = new_field(platform)
    roster = tmp_path / "名单.csv"
    roster.write_text("姓名,单位\n陈一,甲队\n李二,乙队\n", encoding="gb18030")
    page.goto(f"{there.desk}/import")
    page.locator('#import input[type="file"]').set_input_files(roster)
    page.get_by_role("button", name="Check it first").click()
    expect(page.locator("table.report tbody tr")).to_have_count(2)
    there.add("李二", club="乙队", seed=1500)
    page.get_by_role("button", name="Import 2 new and 0 changed").click()
    expect(page.get_by_text("nothing was imported")).to_be_visible()
    page.get_by_role("button", name="Import 1 new and 0 changed").click()
    expect(page.get_by_text("The roster is imported.")).to_be_visible()
    assert set(there.states()) == {"陈一", "李二"}


def test_without_a_network_nothing_typed_at_the_desk_is_lost(
    page: Page, platform: Platform, context: BrowserContext, tmp_path: Path
) -> None:
    there = new_field(platform)
    page.goto(f"{there.desk}/new")
    page.get_by_label("Name").fill("王五")
    context.set_offline(True)
    page.get_by_role("main").get_by_role("button", name="Add").click()
    expect(page.locator("#offline")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("王五")
    context.set_offline(False)
    page.get_by_role("main").get_by_role("button", name="Add").click()
    expect(page.get_by_text("王五 is registered.")).to_be_visible()
    roster = tmp_path / "x.csv"
    roster.write_text("姓名\n赵六\n", encoding="utf-8")
    page.goto(f"{there.desk}/import")
    page.locator('#import input[type="file"]').set_input_files(roster)
    context.set_offline(True)
    page.get_by_role("button", name="Check it first").click()
    expect(page.locator("#offline")).to_be_visible()
    context.set_offline(False)
    page.get_by_role("button", name="Check it first").click()
    expect(page.locator("table.report tbody tr")).to_have_count(1)


def test_the_form_of_an_event_says_at_once_what_the_choices_mean(page: Page, platform: Platform) -> None:
    page.goto("/events/new")
    page.get_by_label("Name of the event").fill("快赛")
    page.get_by_label("Expected entrants").fill("6")
    page.get_by_label("Rounds", exact=False).first.fill("4")
    page.get_by_label("Venue").click()
    preview = page.locator("#preview")
    expect(preview).to_contain_text("may run dry")
    expect(preview).to_contain_text("A round robin takes 5 rounds")
    page.locator('select[name="profile"]').select_option("shengji")
    expect(page.locator('select[name="points"]')).to_have_value("2-1-0")
    expect(page.locator('input[name="seat_balance"]')).to_have_count(1)
    expect(page.locator('input[name="balance_sides"]')).to_have_count(0)
    expect(page.locator('input[name="rounds"]')).to_have_value("4")
    page.get_by_role("button", name="Make the event").click()
    expect(page.get_by_text("The event is made.")).to_be_visible()
    event = platform.admin.events.list(q="快赛")[0]
    assert event.profile == "shengji"
    assert platform.admin.events.get(event.id).regulations["rounds"] == 4


@pytest.mark.parametrize("width", [360, 1280])
def test_no_page_is_wider_than_its_screen(page: Page, platform: Platform, width: int) -> None:
    there = new_field(platform, regulations={"rounds": 3}, capacity=3)
    first = there.seated("诸葛亮明", "上官婉儿", club="一个名字很长的市级棋类运动协会俱乐部")[0]
    there.add("候补一号"), there.add("候补二号")
    page.set_viewport_size({"width": width, "height": 800})
    base = f"/events/{there.event_id}"
    desk = [
        there.desk,
        *(f"{there.desk}/{name}" for name in ("new", first.id, "import", "attendance/1", "apart", "lots")),
    ]
    own = platform.admin.entrants.register_oneself(there.event_id, name="自己报名")
    for path in (
        *desk,
        f"/entry/{own.token}?new=1",
        f"{base}/set-up",
        f"{base}/set-up/edit",
        f"{base}/register",
        "/events/new",
        "/profiles/chess",
    ):
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        small = page.eval_on_selector_all(
            "main button",
            "all => all.filter(one => one.offsetHeight && one.offsetHeight < 30).map(one => one.innerText)",
        )
        assert small == [], path
