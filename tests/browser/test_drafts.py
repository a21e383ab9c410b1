"""The chief referee's pages in a real browser: changing a draft by hand, the clock, a correction on a phone."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from qisai.db.jobs import JobRow, JobState
from qisai.kernel.model import Result
from tests.gateway.drafts import computed_draft
from tests.gateway.platform import Platform, tournament

SOON = 8_000
"""Milliseconds; the machine may be busy."""


@pytest.fixture
def drawn(page: Page, platform: Platform) -> int:
    """An event whose third round has a draft, on the page."""
    event_id = platform.event(tournament(reported=4))
    computed_draft(platform, event_id, 3)
    page.goto(f"/events/{event_id}/rounds/3/draw")
    return event_id


def entrant(page: Page, number: int) -> Locator:
    return page.locator(f'[data-pick="{number}"]')


def field(page: Page, name: str) -> Locator:
    return page.locator(f"#edit [name={name}]")


def drafts(platform: Platform, event_id: int) -> int:
    return len(platform.admin.rounds.draws(event_id, 3))


def test_two_entrants_are_chosen_and_what_it_costs_shows_at_once(page: Page, platform: Platform, drawn: int) -> None:
    entrant(page, 1).click()
    entrant(page, 6).click()
    preview = page.locator("#preview")
    expect(preview).to_contain_text("change places", timeout=SOON)
    expect(preview).to_contain_text("clashes over the side 0 → 2")
    assert drafts(platform, drawn) == 1
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("The draft is changed.")).to_be_visible(timeout=SOON)
    assert drafts(platform, drawn) == 2


def test_opponents_are_offered_other_sides_and_a_broken_rule_asks_for_a_reason(
    page: Page, platform: Platform, drawn: int
) -> None:
    row = page.locator("#draft tbody tr").first
    row.locator("[data-pick]").nth(0).click()
    row.locator("[data-pick]").nth(1).click()
    expect(field(page, "kind")).to_have_value("sides")
    field(page, "kind").select_option("pair")
    field(page, "a").fill("1")
    field(page, "b").fill("2")
    expect(page.locator("#preview")).to_contain_text("have met before", timeout=SOON)
    page.get_by_role("button", name="Change it").click()
    assert field(page, "reason").evaluate("field => field.validity.valueMissing")
    assert drafts(platform, drawn) == 1
    field(page, "reason").fill("重赛")
    page.get_by_role("button", name="Change it").click()
    expect(page.locator(".left-over li")).to_have_count(2, timeout=SOON)
    left = page.locator(".left-over [data-pick]")
    left.nth(0).press("Enter")
    left.nth(1).press("Enter")
    expect(field(page, "kind")).to_have_value("pair")


def test_one_is_dragged_onto_another(page: Page, drawn: int) -> None:
    entrant(page, 1).drag_to(entrant(page, 6))
    expect(page.locator("#preview")).to_contain_text("change places", timeout=SOON)
    expect(field(page, "a")).to_have_value("1")
    expect(field(page, "b")).to_have_value("6")


def test_who_changes_a_draft_that_is_changed_already_sees_both_and_decides(
    page: Page, platform: Platform, drawn: int
) -> None:
    seen = platform.admin.rounds.draw(drawn, 3, 1)
    platform.admin.rounds.edit_draw(drawn, 3, seen, [{"kind": "unpair", "entrants": [8]}])
    entrant(page, 1).click()
    entrant(page, 6).click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody else changed this draft meanwhile", timeout=SOON)
    expect(page.get_by_role("alert")).to_contain_text("8 周八 is taken out")
    page.get_by_role("button", name="Make mine in this draft").click()
    expect(page.get_by_text("The draft is changed.")).to_be_visible(timeout=SOON)
    assert drafts(platform, drawn) == 3


def seconds(clock: Locator) -> int:
    hours, minutes, rest = (int(part) for part in (clock.text_content() or "").split(":"))
    return 3600 * hours + 60 * minutes + rest


def test_the_clock_ticks_for_the_public_by_the_servers_time_and_stands_when_it_is_paused(
    context: BrowserContext, platform: Platform
) -> None:
    event_id = platform.event()
    rounds = platform.admin.rounds
    rounds.set_clock(event_id, rounds.get(event_id, 2), "start", seconds=3600)
    page = context.new_page()
    page.add_init_script("const now = Date.now; Date.now = () => now() - 5 * 3600e3;")  # this machine's clock is wrong
    with page.expect_request("**/stream?*"):
        page.goto(f"/events/{event_id}/rounds/2")
    clock = page.locator(".clock .time")
    first = seconds(clock)
    assert 3560 < first <= 3600
    page.wait_for_timeout(2500)
    assert 1 <= first - seconds(clock) <= 6
    rounds.set_clock(event_id, rounds.get(event_id, 2), "pause")
    expect(page.locator(".clock")).to_have_attribute("data-runs", "false", timeout=SOON)
    stands = seconds(clock)
    page.wait_for_timeout(1500)
    assert seconds(clock) == stands
    rounds.set_clock(event_id, rounds.get(event_id, 2), "resume")
    expect(page.locator(".clock")).to_have_attribute("data-runs", "true", timeout=SOON)
    assert abs(seconds(clock) - stands) <= 6


def test_what_referees_enter_shows_on_the_chief_referees_page_and_typed_reasons_stay(
    page: Page, platform: Platform
) -> None:
    event_id = platform.event(tournament(reported=3))
    with page.expect_request("**/stream?*"):
        page.goto(f"/events/{event_id}/rounds/2/draw")
    page.get_by_text("Close although boards are open").click()
    page.locator("input[name=reason]:visible").fill("停电")
    expect(page.get_by_role("button", name="Close the round")).to_have_count(1)
    board = platform.admin.rounds.boards(event_id, 2).items[3]
    platform.admin.rounds.put_result(board.id, Result.DRAW, version=board.version)
    expect(page.get_by_text("4 of 4 boards reported")).to_be_visible(timeout=15_000)
    expect(page.locator("input[name=reason]:visible")).to_have_value("停电")
    page.locator("#live").get_by_role("button", name="Close the round").click()
    expect(page.get_by_text("The round is closed.")).to_be_visible(timeout=SOON)


def test_a_referee_whose_result_needs_a_reason_is_led_to_the_board(page: Page, platform: Platform) -> None:
    event_id = platform.event()
    rounds = platform.admin.rounds
    rounds.reopen(event_id, rounds.get(event_id, 1), reason="更正")
    page.goto(f"/events/{event_id}/rounds/1/entry")
    row = page.locator("tr[data-number='1']")
    row.get_by_role("button", name="½").click()
    row.get_by_role("link", name="To the board").click()
    page.wait_for_url("**/boards/1")
    page.locator("select[name=result]").select_option("draw")
    page.get_by_label("Reason").fill("看错记录")
    page.get_by_role("button", name="See what it moves").click()
    expect(page.locator("#moved")).to_contain_text("→")
    expect(page.get_by_label("Reason")).to_have_value("看错记录")
    page.get_by_role("button", name="Write it").click()
    expect(page.get_by_text("Board 1 is saved.")).to_be_visible(timeout=SOON)
    assert rounds.boards(event_id, 1).items[0].result is Result.DRAW


@pytest.mark.parametrize("width", [360, 1280])
def test_no_page_of_the_chief_referee_is_wider_than_the_screen(page: Page, platform: Platform, width: int) -> None:
    event_id = platform.event(tournament(reported=4))
    computed_draft(platform, event_id, 3, needs_acceptance=True, relaxed=("sides", "score:2"))
    page.set_viewport_size({"width": width, "height": 800})
    for path in (
        "rounds/3/draw",
        "rounds/3/draw/list",
        "rounds/2/draw",
        "rounds/2/entry",
        "rounds/2/batch",
        "rounds/1/boards/1",
        "decisions",
        "log",
    ):
        page.goto(f"/events/{event_id}/{path}")
        page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    page.goto(f"/events/{event_id}/rounds/3/draw")
    entrant(page, 1).click()
    entrant(page, 6).click()
    expect(page.locator("#preview")).to_contain_text("change places", timeout=SOON)
    box = page.locator("#edit").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 801, "the form stays in sight while one chooses"
    assert re.search("active", page.locator("#edit").get_attribute("class") or "")


def test_what_is_no_number_of_an_entrant_is_said_at_once(page: Page, drawn: int) -> None:
    field(page, "a").press_sequentially("abc")
    expect(page.locator("#preview")).to_contain_text("Type the number of an entrant", timeout=SOON)
    field(page, "a").fill("77")
    field(page, "a").blur()
    expect(page.locator("#preview")).to_contain_text("Number 77 is not present in this round.", timeout=SOON)


def change_job(platform: Platform, event_id: int, **values: Any) -> None:
    """As a worker changes it; there is none here."""
    platform.gateway.sql(sa.update(JobRow).where(JobRow.event_id == event_id).values(**values))


def test_a_draw_under_way_is_followed_on_a_page_that_was_opened_later(page: Page, platform: Platform) -> None:
    event_id = platform.event(tournament(reported=4))
    platform.admin.rounds.ask_for_draw(event_id, 3)
    page.goto(f"/events/{event_id}/rounds/3/draw")
    how_far = page.locator("#how-far")
    expect(how_far).to_contain_text("Waiting for the queue; it starts by itself.")
    progress = {"stage": "optimal", "elapsed_ms": 4200, "best": {"max_gap": 2, "cross_pairs": 3}, "entrants": 8}
    change_job(platform, event_id, state=JobState.RUNNING, started_at=sa.func.clock_timestamp(), progress=progress)
    expect(how_far).to_contain_text("looking for the best · best so far: largest gap: 1", timeout=SOON)
    expect(how_far).not_to_contain_text("Waiting for the queue")
    computed_draft(platform, event_id, 3)
    change_job(platform, event_id, state=JobState.SUCCEEDED, finished_at=sa.func.clock_timestamp())
    expect(page.locator("#draft")).to_be_visible(timeout=SOON)
    expect(page.locator("#job")).to_have_count(0)


def test_the_end_of_a_draw_takes_nothing_away_from_who_is_typing(page: Page, platform: Platform, drawn: int) -> None:
    platform.admin.rounds.ask_for_draw(drawn, 3)
    page.reload()
    field(page, "reason").fill("教练请求")
    why = {"slug": "solver-done", "detail": "The solver found no draw."}
    change_job(platform, drawn, state=JobState.FAILED, outcome=why, finished_at=sa.func.clock_timestamp())
    show = page.get_by_role("link", name="Show what came of it")
    expect(show).to_be_visible(timeout=SOON)
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
    expect(field(page, "reason")).to_have_value("教练请求")
    show.click()
    expect(page.get_by_role("alert")).to_contain_text("failed: The solver found no draw.")


def test_without_scripts_the_page_goes_on_by_itself(browser: Browser, page: Page, platform: Platform) -> None:
    event_id = platform.event(tournament(reported=4))
    platform.admin.rounds.ask_for_draw(event_id, 3)
    state = page.context.storage_state()
    plain = browser.new_context(
        base_url=platform.gateway.url, locale="en-GB", java_script_enabled=False, storage_state=state
    )
    opened = plain.new_page()
    opened.goto(f"/events/{event_id}/rounds/3/draw")
    expect(opened.get_by_text("Waiting for the queue; it starts by itself.")).to_be_visible()
    expect(opened.get_by_role("link", name="Look again")).to_be_visible()
    why = {"slug": "solver-done", "detail": "The solver found no draw."}
    change_job(platform, event_id, state=JobState.FAILED, outcome=why, finished_at=sa.func.clock_timestamp())
    expect(opened.get_by_role("alert")).to_contain_text("failed: The solver found no draw.", timeout=20_000)
    plain.close()
