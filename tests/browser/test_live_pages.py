"""Public pages in a real browser: what referees enter shows without reloading, also after the network was away."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page, expect

from qisai.kernel.model import Result
from tests.gateway.platform import Platform, tournament

SOON = 8_000
"""Milliseconds; the machine may be busy."""


def enter(platform: Platform, event_id: int, board: int, result: Result) -> None:
    found = platform.admin.rounds.boards(event_id, 2).items[board - 1]
    platform.admin.rounds.put_result(found.id, result, version=found.version)


def looking_at(context: BrowserContext, path: str) -> Page:
    """A page of the public that is marked, so that a reload would be noticed, and whose stream is open."""
    page = context.new_page()
    with page.expect_request("**/stream?*"):
        page.goto(path)
    page.evaluate("window.marked = true")
    return page


def test_a_result_is_written_into_its_row_and_the_count_follows(context: BrowserContext, platform: Platform) -> None:
    event_id = platform.event(tournament(reported=1))
    page = looking_at(context, f"/events/{event_id}/rounds/2")
    enter(platform, event_id, 2, Result.SECOND_WIN)
    row = page.locator("#pairings tbody tr").nth(1)
    expect(row.locator(".result")).to_have_text("0 – 1", timeout=SOON)
    enter(platform, event_id, 2, Result.DRAW)
    expect(row.locator(".result")).to_have_text("½ – ½", timeout=SOON)
    expect(page.get_by_text("2 of 4 boards reported")).to_be_visible(timeout=15_000)
    assert page.evaluate("window.marked")


def test_standings_and_crosstable_follow_and_what_was_looked_for_stays_found(
    context: BrowserContext, platform: Platform
) -> None:
    event_id = platform.event(tournament(reported=0))
    for path, table in (("standings", "#standings"), ("crosstable", "#crosstable")):
        page = looking_at(context, f"/events/{event_id}/{path}")
        page.get_by_label("Find").fill("陈一")
        expect(page.locator(f"{table} tbody tr:visible")).to_have_count(1)
        board = 1 if path == "standings" else 2
        before = page.locator(f"{table} tbody").text_content() or ""
        expect(page.locator(f"{table} tbody")).to_have_text(before)
        enter(platform, event_id, board, Result.FIRST_WIN)
        expect(page.locator(f"{table} tbody")).not_to_have_text(before, timeout=SOON)
        expect(page.locator(f"{table} tbody tr:visible")).to_have_count(1)
        assert page.evaluate("window.marked")
        page.close()


def test_a_page_whose_network_was_away_shows_what_it_missed(context: BrowserContext, platform: Platform) -> None:
    event_id = platform.event(tournament(reported=0))
    page = looking_at(context, f"/events/{event_id}/rounds/2")
    context.set_offline(True)
    enter(platform, event_id, 3, Result.FIRST_WIN)
    context.set_offline(False)
    expect(page.locator("#pairings tbody tr").nth(2).locator(".result")).to_have_text("1 – 0", timeout=25_000)
    assert page.evaluate("window.marked")
