"""Boards one by one and many at once: history, corrections with what they move, decisions about points, the log."""

from __future__ import annotations

import csv
import io
import re

import pytest

from qisai.db.accounts import Role
from qisai.kernel.model import Result
from tests.gateway.platform import NAMES, Platform, tournament
from tests.gateway.test_pages import Person, referee
from tests.gateway.test_table_pages import cells


@pytest.fixture(scope="module")
def chief(platform: Platform) -> Person:
    return Person(platform, platform.login)


def test_a_correction_of_an_earlier_round_shows_what_it_moves_and_is_in_the_log(
    platform: Platform, chief: Person
) -> None:
    event_id = platform.event(tournament(reported=4))
    address = f"/events/{event_id}/rounds/1/boards/1"
    before = {row.player.number: row.rank for row in platform.admin.rounds.standings(event_id).rows}
    seen = platform.admin.rounds.boards(event_id, 1).items[0]
    looked = chief.post(address, version=seen.version, result="second_win", reason="记录颠倒", look="1")
    assert "What this would move" in looked.text
    assert f"{before[5]} → <strong>" in looked.text
    assert "These pairings would have been others; they stay as they are:" in looked.text
    assert 'value="记录颠倒"' in looked.text
    assert platform.admin.rounds.board(seen.id).result is Result.FIRST_WIN, "only looked at"

    unsaid = chief.post(address, version=seen.version, result="second_win")
    assert unsaid.status_code == 422
    assert "a correction needs a reason" in unsaid.text
    assert platform.admin.rounds.get(event_id, 1).state == "closed"
    done = chief.post(address, version=seen.version, result="second_win", reason="记录颠倒")
    assert "Board 1 is saved." in done.text
    assert platform.admin.rounds.board(seen.id).result is Result.SECOND_WIN
    assert platform.admin.rounds.get(event_id, 1).state == "closed", "as it was before"
    step = platform.admin.rounds.event_log(event_id, round=1)[0]
    assert (step["kind"], step["reason"]) == ("result", "记录颠倒")
    assert platform.admin.rounds.event_log(event_id, action="round.") == (), "the round was never open meanwhile"
    history = cells(done.text, "history")
    assert history[0][4:] == ["Red wins", "Black wins", "记录颠倒"]
    after = {row.player.number: row.rank for row in platform.admin.rounds.standings(event_id).rows}
    assert after[5] < before[5]

    again = chief.post(address, version=seen.version + 1, result="draw", reason="再核对", look="1")
    assert "The results as they stand give other pairings" in again.text
    assert "(without this correction too)" in again.text
    assert "the same opponent" not in again.text
    back = chief.post(address, version=seen.version + 1, result="first_win", reason="本来无误", look="1")
    assert "Everybody would have had the same opponent." in back.text
    assert "These pairings would have been others" not in back.text


def test_a_correction_on_a_board_that_somebody_changed_shows_both_and_writes_nothing(
    platform: Platform, chief: Person
) -> None:
    event_id = platform.event(tournament(reported=4))
    board = platform.admin.rounds.boards(event_id, 1).items[1]
    form = {"version": board.version - 1, "result": "draw", "reason": "看错", "note": "见记录纸"}
    stale = chief.post(f"/events/{event_id}/rounds/1/boards/2", **form)
    assert stale.status_code == 412
    assert "was changed meanwhile by" in stale.text
    assert "to: Red wins. Yours was: draw." in stale.text
    assert 'value="看错"' in stale.text
    assert 'value="见记录纸"' in stale.text
    assert platform.admin.rounds.board(board.id).version == board.version
    assert platform.admin.rounds.event_log(event_id, action="round.") == ()


def test_referees_read_a_boards_history_and_write_only_what_is_not_over(platform: Platform) -> None:
    event_id = platform.event()
    person = referee(platform, event_id)
    address = f"/events/{event_id}/rounds/2/boards/4"
    board = platform.admin.rounds.boards(event_id, 2).items[3]
    form = {"version": board.version, "result": "first_win", "swapped": "on", "note": "互换先后"}
    assert "Board 4 is saved." in person.post(address, **form).text
    written = platform.admin.rounds.board(board.id)
    assert (written.swapped, written.note) == (True, "互换先后")
    assert "Red wins (sides swapped)" in person.page(address)
    over = person.page(f"/events/{event_id}/rounds/1/boards/1")
    assert "is corrected by the chief referee" in over
    assert "<select" not in over
    refused = person.post(f"/events/{event_id}/rounds/1/boards/1", version=2, result="draw", reason="我要改")
    assert refused.status_code in (403, 409)
    assert platform.admin.rounds.get(event_id, 1).state == "closed"
    assert Person(platform).get(address).status_code == 401
    assert person.get(f"/events/{event_id}/rounds/2/boards/99").status_code == 404


def test_every_kind_of_result_is_entered_on_the_referees_page_for_the_withdrawn_too(platform: Platform) -> None:
    event_id = platform.event()
    person = referee(platform, event_id)
    entrant = next(one for one in platform.admin.entrants.list(event_id) if one.number == 7)
    platform.admin.entrants.move(event_id, entrant, "withdrawn", reason="生病", from_round=3)
    address = f"/events/{event_id}/rounds/2/entry"
    boards = platform.admin.rounds.boards(event_id, 2).items
    entered = {0: "double_forfeit", 1: "adjourned", 2: "second_forfeit", 3: "first_win"}
    for at, result in entered.items():
        page = person.post(address, board=boards[at].id, version=boards[at].version, result=result).text
        assert f"Board {at + 1} is saved." in page
        assert platform.admin.rounds.board(boards[at].id).result is Result(result)
    later = person.post(address, board=boards[1].id, version=boards[1].version + 1, result="draw").text
    assert "Board 2 is saved." in later
    assert [one["new"]["result"] for one in platform.admin.rounds.board_log(boards[1].id).changes] == [
        "adjourned",
        "draw",
    ]


def test_of_many_boards_each_stands_or_falls_alone_and_says_why(platform: Platform) -> None:
    event_id = platform.event()
    account = platform.gateway.account(login=f"range{event_id}", password="correct horse battery", name="一台裁判")
    platform.admin.people.grant(account, Role.REFEREE, event_id=event_id, boards=(1, 3))
    person = Person(platform, f"range{event_id}")
    boards = platform.admin.rounds.boards(event_id, 2).items
    platform.admin.rounds.put_result(boards[1].id, Result.SECOND_WIN, version=boards[1].version)
    address = f"/events/{event_id}/rounds/2/batch"
    form = {f"version-{board.id}": board.version for board in boards}
    chosen = {0: "first_win", 1: "draw", 3: "first_win"}
    form |= {f"result-{boards[at].id}": result for at, result in chosen.items()}
    answer = person.post(address, **form)
    assert answer.status_code == 409
    assert "1 board is saved." in answer.text
    assert "2 boards were not written; the others were." in answer.text
    assert "Changed by 裁判长 at " in answer.text
    assert "to: Black wins." in answer.text
    assert "Board 4 is not one of yours." in answer.text
    assert f'<input type="radio" name="result-{boards[1].id}" value="draw">' in answer.text
    results = [board.result for board in platform.admin.rounds.boards(event_id, 2).items]
    assert results == [Result.FIRST_WIN, Result.SECOND_WIN, None, None]
    mine = person.post(address, **{f"version-{boards[1].id}": boards[1].version + 1, f"result-{boards[1].id}": "draw"})
    assert "1 board is saved." in mine.text
    assert platform.admin.rounds.board(boards[1].id).result is Result.DRAW
    none = {f"version-{boards[0].id}": boards[0].version + 1, f"result-{boards[0].id}": "none"}
    assert "1 board is saved." in person.post(address, **none).text
    assert platform.admin.rounds.board(boards[0].id).result is None


def test_nothing_is_offered_where_nothing_can_be_entered(platform: Platform, chief: Person) -> None:
    event_id = platform.event()
    for board in platform.admin.rounds.boards(event_id, 2).items:
        platform.admin.rounds.put_result(board.id, Result.FIRST_WIN, version=board.version)
    boards = platform.admin.rounds.boards(event_id, 2).items
    first = {f"version-{boards[0].id}": boards[0].version, f"result-{boards[0].id}": "draw"}
    pages = f"/events/{event_id}/rounds/2/entry", f"/events/{event_id}/rounds/2/batch"
    assert all('value="draw"' in chief.page(path) for path in pages)

    platform.admin.rounds.close(event_id, platform.admin.rounds.get(event_id, 2))
    for path in pages:
        page = chief.page(path)
        assert 'value="draw"' not in page, path
        assert "This round is closed. The chief referee corrects a result at its board: choose its number." in page
        assert f'/events/{event_id}/rounds/2/boards/1"' in page
    refused = chief.post(pages[1], **first)
    assert refused.status_code == 409
    assert "1 board was not written." in refused.text
    assert "the others were" not in refused.text

    platform.admin.events.act(platform.admin.events.get(event_id), "finish")
    for path in pages:
        page = chief.page(path)
        assert "The event is over: results are entered only when the chief referee has taken it up again." in page
        assert "corrects a result" not in page


def test_points_are_taken_with_a_reason_and_given_back(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=4))
    address = f"/events/{event_id}/decisions"
    before = platform.admin.rounds.standings(event_id).rows
    form = {"number": "3 张三", "sign": "take", "points": "0.5", "after_round": "2", "reason": "迟到"}
    for bad, fault in (
        ({"points": "0.3"}, "Points are a number from 0.5 to 100 in steps of .5."),
        ({"points": "100.5"}, "Points are a number from 0.5 to 100 in steps of .5."),
        ({"number": "99"}, "Number 99 is not in this event."),
        ({"reason": " "}, "A decision needs a reason."),
    ):
        refused = chief.post(address, **{**form, **bad})
        assert refused.status_code in (400, 422)
        assert fault in refused.text
        assert 'value="3 张三"' in refused.text or "number" in bad
    assert platform.admin.rounds.adjustments(event_id) == ()
    made = chief.post(address, **form)
    assert "张三: -0.5 points, decided." in made.text
    (decision,) = platform.admin.rounds.adjustments(event_id)
    assert (decision.points, decision.after_round, decision.reason) == (-0.5, 2, "迟到")
    history = chief.page(f"/events/{event_id}/entrants/3")
    assert "Given or taken by the chief referee" in history
    stale = chief.post(f"{address}/{decision.id}/take-back", version=decision.version + 1, reason="误判")
    assert stale.status_code == 412
    assert 'value="误判"' in stale.text
    taken = chief.post(f"{address}/{decision.id}/take-back", version=decision.version, reason="误判")
    assert "The decision is taken back." in taken.text
    assert platform.admin.rounds.standings(event_id).rows == before
    reader = referee(platform, event_id)
    assert "迟到" in reader.page(address)
    assert "<select" not in reader.page(address)
    assert reader.post(address, **form).status_code == 403


def test_the_log_is_narrowed_down_and_taken_away_as_a_sheet(platform: Platform, chief: Person) -> None:
    event_id = platform.event()
    board = platform.admin.rounds.boards(event_id, 2).items[0]
    platform.admin.rounds.put_result(board.id, Result.DRAW, version=board.version, reason="按记录")
    person = referee(platform, event_id)
    person.post(f"/events/{event_id}/rounds/2/entry", board=board.id, version=board.version, result="first_win")
    address = f"/events/{event_id}/log"
    lines = cells(chief.page(f"{address}?round=2"), "log")
    assert [[line[1].split()[0], line[2]] for line in lines] == [
        ["裁判员", "result refused: somebody else was first"],
        ["裁判长", "result entered"],
    ]
    assert lines[1][3:] == ["Round 2 · Board 1", "no result", "draw", "按记录"]
    assert len(cells(chief.page(f"{address}?actor=裁判员"), "log")) == 1
    assert len(cells(chief.page(f"{address}?kind=conflict"), "log")) == 1
    of_entrant = cells(chief.page(f"{address}?entrant={NAMES[1]}&kind=result"), "log")
    assert {line[3] for line in of_entrant} == {"Round 2 · Board 1", "Round 1 · Board 2"}
    assert "Nothing fits." in chief.page(f"{address}?until=2020-01-01T00:00")
    for query, fault in (
        ("round=x", "“x” is no round."),
        ("entrant=无名", "Nobody is called “无名”."),
        ("since=x", "no time"),
    ):
        refused = chief.get(f"{address}?{query}")
        assert refused.status_code == 422
        assert fault in refused.text
    sheet = chief.get(f"/events/{event_id}/log.csv?round=2", headers={"Accept-Language": "zh-CN"})
    assert sheet.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(sheet.content.decode("utf-8-sig"))))
    assert len(rows) == 3
    assert rows[0][2] == "操作人"
    whole = chief.get(f"/events/{event_id}/log.csv", headers={"Accept-Language": "zh-CN"}).content.decode("utf-8-sig")
    said = {cell for row in csv.reader(io.StringIO(whole)) for cell in row[7:]}
    assert not [cell for cell in said if re.search("[A-Za-z_]{2}", cell)], "no codes"
    assert person.get(address).status_code == 200
    assert Person(platform).get(address).status_code == 401


def test_a_long_log_is_read_page_by_page(platform: Platform, chief: Person) -> None:
    event_id = platform.event()
    board = platform.admin.rounds.boards(event_id, 2).items[0]
    for at in range(101):
        result = Result.DRAW if at % 2 else Result.FIRST_WIN
        board = platform.admin.rounds.put_result(board.id, result, version=board.version)
    page = chief.page(f"/events/{event_id}/log?round=2")
    assert len(cells(page, "log")) == 100
    older = page.split('">Older</a>')[0].rsplit('href="', 1)[1].replace("&amp;", "&")
    assert len(cells(chief.page(older), "log")) == 1
