"""Tables on small screens and on paper: nothing lies outside the screen, a crosstable and its heading are one sheet."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from qisai.db.accounts import Role
from tests.gateway.platform import Platform, tournament

PHONE: ViewportSize = {"width": 390, "height": 844}


def test_a_crosstable_is_one_sheet_on_its_side(context: BrowserContext, platform: Platform) -> None:
    event_id = platform.event(tournament(reported=4))
    page = context.new_page()
    page.goto(f"/events/{event_id}/crosstable")
    sheets = re.findall(rb"/MediaBox \[\S+ \S+ (\S+) (\S+)\]", page.pdf(prefer_css_page_size=True))
    assert [float(width) > float(height) for width, height in sheets] == [True]


def test_prizes_do_not_widen_a_small_screen(context: BrowserContext, platform: Platform) -> None:
    event_id = platform.event(tournament(reported=4))
    page = context.new_page()
    page.set_viewport_size(PHONE)
    page.goto(f"/events/{event_id}/prizes")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_buttons_about_accounts_and_staff_are_on_a_small_screen(page: Page, platform: Platform) -> None:
    event_id = platform.event()
    page.set_viewport_size(PHONE)
    for path in ("/accounts", f"/events/{event_id}/staff"):
        page.goto(path)
        form = page.locator("#invitations form").last
        form.get_by_label("For").fill("欧阳无敌测试用长名字")
        form.get_by_role("button", name="Make a link").click()
        expect(page.get_by_role("button", name="Revoke").first).to_be_visible()
        for button in page.get_by_role("main").get_by_role("button").all():
            box = button.bounding_box()
            assert box is None or box["x"] + box["width"] <= PHONE["width"], button.text_content()


@pytest.mark.parametrize("path", ["standings", "rounds/2", "entrants"])
def test_whoever_looks_for_somebody_who_is_not_there_is_told(
    context: BrowserContext, platform: Platform, path: str
) -> None:
    event_id = platform.event()
    page = context.new_page()
    page.goto(f"/events/{event_id}/{path}")
    page.get_by_label("Find").fill("诸葛")
    expect(page.get_by_text("Nobody is found.")).to_be_visible()
    page.get_by_label("Find").fill("陈一")
    expect(page.get_by_text("Nobody is found.")).to_have_count(0)


def test_who_did_it_stands_on_one_line_of_the_log(page: Page, platform: Platform) -> None:
    event_id = platform.event(tournament(reported=4))
    one = platform.admin.entrants.list(event_id)[0]
    other = platform.gateway.account(Role.ASSOCIATION_ADMIN, name="Administrator")
    asking = platform.gateway.client(platform.gateway.token(other))
    asking.rounds.adjust(event_id, one.id, points=-0.5, after_round=2, reason="多次迟到" * 100)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"/events/{event_id}/log")
    who = page.locator("#log tbody tr").first.locator("td").nth(1)
    lines = who.evaluate(
        "cell => { const range = document.createRange(); range.selectNodeContents(cell.firstChild);"
        " return new Set([...range.getClientRects()].map((box) => box.top)).size; }"
    )
    assert lines == 1
