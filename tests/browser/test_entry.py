"""Entering results at a venue: by keyboard, with others at work, without a network, with a sign-in that ended."""

from __future__ import annotations

import sqlalchemy as sa
from playwright.sync_api import BrowserContext, Locator, Page, expect

from qisai.db.accounts import GrantRow, Role, WebSessionRow
from qisai.kernel.model import Result
from tests.gateway.harness import PASSWORD
from tests.gateway.platform import Platform, tournament
from tests.servers import comes_true


def entry(page: Page, platform: Platform, *, reported: int = 0) -> int:
    """A fresh event's open round on the page; gives the event's id."""
    event_id = platform.event(tournament(reported=reported))
    page.goto(f"/events/{event_id}/rounds/2/entry")
    expect(page.locator("#quick")).to_be_visible()
    return event_id


def row(page: Page, number: int) -> Locator:
    return page.locator(f"tr[data-number='{number}']")


def stored(platform: Platform, event_id: int, number: int) -> Result | None:
    return platform.admin.rounds.boards(event_id, 2).items[number - 1].result


def type_result(page: Page, number: int, key: str) -> None:
    """Board number, Enter, key, Enter: no mouse."""
    page.keyboard.type(str(number))
    page.keyboard.press("Enter")
    page.keyboard.press(key)
    page.keyboard.press("Enter")


def test_a_round_is_entered_by_keyboard_alone(page: Page, platform: Platform) -> None:
    event_id = entry(page, platform)
    for number, key in ((1, "1"), (2, "2"), (3, "0"), (4, "8")):
        type_result(page, number, key)
    for number, words in ((1, "Red wins"), (2, "Black wins"), (3, "draw"), (4, "Red forfeits")):
        expect(row(page, number).locator(".shown")).to_have_text(words)
        expect(row(page, number)).not_to_have_class("pending")
    expect(page.locator("#reported")).to_have_text("4")
    wanted = [Result.FIRST_WIN, Result.SECOND_WIN, Result.DRAW, Result.FIRST_FORFEIT]
    assert [stored(platform, event_id, number) for number in range(1, 5)] == wanted
    type_result(page, 4, "Backspace")
    expect(row(page, 4).locator(".shown")).to_have_text("–")
    assert comes_true(lambda: stored(platform, event_id, 4) is None)
    page.keyboard.type("77")
    expect(page.locator("#quick-says")).to_have_text("There is no such board in this round.")
    page.locator("#quick [name=board]").fill("")
    page.keyboard.type("x")
    expect(page.locator("#quick-says")).to_have_text("Type the number of a board.")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    page.keyboard.press("x")
    expect(page.locator("#quick-says")).to_have_text("No result has this key; the keys stand below.")
    page.keyboard.press("0")
    expect(page.locator("#quick-says")).to_contain_text("→ draw")


def test_what_others_enter_shows_at_once_and_a_conflict_asks(page: Page, platform: Platform) -> None:
    event_id = entry(page, platform)
    boards = platform.admin.rounds.boards(event_id, 2).items
    platform.admin.rounds.put_result(boards[0].id, Result.DRAW, version=boards[0].version)
    expect(row(page, 1).locator(".shown")).to_have_text("draw")

    page.route("**/boards", lambda route: route.abort())  # this page misses what happens now
    for number, answer, left in ((2, "Keep theirs", Result.SECOND_WIN), (3, "Write mine", Result.FIRST_WIN)):
        board = boards[number - 1]
        platform.admin.rounds.put_result(board.id, Result.SECOND_WIN, version=board.version)
        type_result(page, number, "1")
        dialog = page.locator("#conflict")
        expect(dialog).to_contain_text(f"Board {number} was changed by 裁判长")
        expect(dialog).to_contain_text("to: Black wins. Yours was: Red wins.")
        dialog.get_by_role("button", name=answer).click()
        expect(row(page, number)).not_to_have_class("pending")
        assert comes_true(lambda board=board, left=left: platform.admin.rounds.board(board.id).result is left)  # type: ignore[misc]
    log = platform.admin.rounds.board_log(boards[1].id)
    assert len(log.changes) == 1
    assert len(log.conflicts) == 1


def test_nothing_typed_is_lost_without_a_network(page: Page, platform: Platform, context: BrowserContext) -> None:
    event_id = entry(page, platform)
    context.set_offline(True)
    type_result(page, 1, "1")
    type_result(page, 2, "0")
    expect(page.locator("#unsent")).to_have_text("Not sent yet: 2")
    assert stored(platform, event_id, 1) is None
    context.set_offline(False)
    expect(page.locator("#unsent")).to_be_hidden()
    assert [stored(platform, event_id, number) for number in (1, 2)] == [Result.FIRST_WIN, Result.DRAW]

    page.route("**/result", lambda route: route.abort())
    type_result(page, 3, "2")
    expect(page.locator("#unsent")).to_be_visible()
    page.unroute("**/result")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()  # as after the phone slept: what was typed is still there, and goes out
    expect(row(page, 3).locator(".shown")).to_have_text("Black wins")
    assert comes_true(lambda: stored(platform, event_id, 3) is Result.SECOND_WIN)


def test_an_answer_that_was_lost_is_asked_for_again_and_logged_once(page: Page, platform: Platform) -> None:
    event_id = entry(page, platform)
    lost: list[str] = []

    def lose_the_first_answer(route) -> None:  # type: ignore[no-untyped-def]
        if lost:
            route.continue_()
        else:
            lost.append(route.request.url)
            route.fetch()  # the service has it, the page never hears of it
            route.abort()

    page.route("**/result", lose_the_first_answer)
    type_result(page, 1, "1")
    expect(page.locator("#unsent")).to_be_hidden()
    expect(page.locator("#conflict")).to_be_hidden()
    board = platform.admin.rounds.boards(event_id, 2).items[0]
    assert board.result is Result.FIRST_WIN
    assert len(platform.admin.rounds.board_log(board.id).changes) == 1


def test_one_signs_in_again_in_place_and_what_was_typed_goes_through(page: Page, platform: Platform) -> None:
    event_id = entry(page, platform)
    platform.gateway.sql(sa.update(WebSessionRow).values(revoked_at=sa.func.now()))
    type_result(page, 1, "1")
    dialog = page.locator("#sign-in-again")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Login").fill(platform.login)
    dialog.get_by_label("Password").fill("wrong password")
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog.get_by_role("alert")).to_have_text("Login or password is wrong.")
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_be_hidden()
    expect(row(page, 1).locator(".shown")).to_have_text("Red wins")
    assert comes_true(lambda: stored(platform, event_id, 1) is Result.FIRST_WIN)

    page.goto(f"/events/{event_id}/desk/new")
    platform.gateway.sql(sa.update(WebSessionRow).values(revoked_at=sa.func.now()))
    page.locator("main input[name=name]").fill("迟到者")
    page.keyboard.press("Enter")
    dialog.get_by_label("Login").fill(platform.login)
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("迟到者")).not_to_have_count(0)
    assert "迟到者" in [entrant.name for entrant in platform.admin.entrants.list(event_id)]


def test_a_result_that_may_not_be_sent_is_said_and_never_counts(page: Page, platform: Platform) -> None:
    """The referee's range is made smaller while the page is open."""
    event_id = platform.event(tournament())
    account_id = platform.gateway.account(login=f"range{event_id}", password=PASSWORD, name="钱裁判")
    grant = platform.admin.people.grant(account_id, Role.REFEREE, event_id=event_id, boards=(1, 4))
    page.context.clear_cookies()
    page.goto(f"/sign-in?next=/events/{event_id}/rounds/2/entry")
    page.get_by_label("Login").fill(f"range{event_id}")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.goto(f"/events/{event_id}/rounds/2/entry")
    expect(page.locator("#boards tbody tr")).to_have_count(4)
    platform.gateway.sql(sa.update(GrantRow).where(GrantRow.id == grant.id).values(board_from=1, board_to=2))
    type_result(page, 4, "1")
    expect(row(page, 4).locator(".state")).not_to_have_text("")
    expect(row(page, 4).locator(".shown")).to_have_text("–")
    assert page.evaluate("Object.values(localStorage).join()").replace("[]", "").strip(",") == ""
    assert stored(platform, event_id, 4) is None
    page.reload()
    expect(page.locator("#boards tbody tr")).to_have_count(2)
    page.keyboard.type("4")
    expect(page.locator("#quick-says")).to_contain_text("Not one of yours. Yours: Board 1–2")
    page.goto(f"/events/{event_id}/rounds/2/entry?all=1")
    expect(page.locator("#boards tbody tr")).to_have_count(4)
    expect(row(page, 4).locator("button")).to_have_count(0)


def test_a_public_page_follows_the_event_and_finds_a_name(context: BrowserContext, platform: Platform) -> None:
    event_id = platform.event()
    page = context.new_page()
    page.goto(f"/events/{event_id}")
    page.get_by_label("Find").fill("孙七")
    expect(page.locator("#pairings tbody tr:visible")).to_have_count(1)
    board = platform.admin.rounds.boards(event_id, 2).items[3]
    platform.admin.rounds.put_result(board.id, Result.FIRST_WIN, version=board.version)
    expect(page.locator("#pairings tbody tr:visible .result")).to_have_text("1 – 0")
    expect(page.locator("#pairings tbody tr:visible")).to_have_count(1)
