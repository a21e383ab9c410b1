"""An invitation from the organiser's screen to the referee's phone: made, handed over, taken, in a real browser."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, expect

from tests.gateway.platform import Platform

PHONE = {"width": 360, "height": 740}


def fits(page: Page) -> bool:
    """Whether nothing stands out to the right."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def test_a_referee_takes_an_invitation_on_a_phone(browser: Browser, platform: Platform, page: Page) -> None:
    event_id = platform.event()
    page.goto(f"/events/{event_id}/staff")
    invitations = page.locator("#invitations")
    invitations.get_by_label("For").fill("小李")
    invitations.get_by_label("Boards").fill("1-4")
    invitations.get_by_role("button", name="Make a link").click()
    link = page.locator(".handed input").input_value()
    phone = browser.new_context(base_url=platform.gateway.url, locale="zh-CN", viewport=PHONE)  # type: ignore[arg-type]
    there = phone.new_page()
    there.goto(urlsplit(link).path)
    assert fits(there)
    new = there.locator("form").filter(has=there.locator("[value=new]"))
    expect(new.locator("[name=name]")).to_have_value("小李")
    new.locator("[name=login]").fill("xiaoli")
    new.locator("[name=password]").fill("a long enough one")
    new.locator("button").click()
    expect(there.locator(".note.done")).to_contain_text("裁判员")
    there.goto("/account")
    assert fits(there)
    there.locator("#tokens [name=name]").fill("手机")
    there.locator("#tokens form.inline").last.locator("button").click()
    expect(there.locator(".handed input")).to_have_value(re.compile("qisai_"))
    phone.close()
    page.goto(f"/events/{event_id}/staff")
    expect(page.locator("main")).to_contain_text("xiaoli")
