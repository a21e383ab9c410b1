"""Crosstable, an entrant's rounds and prizes as pages, and pages that are made once for all who look at a change."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from qisai.db.accounts import Role
from qisai.kernel.model import Result
from qisai.kernel.tie_breaks.criterion import Reason
from services.gateway.pages.standings_words import TERMS
from tests.gateway.platform import NAMES, Platform, tournament
from tests.gateway.test_pages import Person, referee
from tests.gateway.test_stream import listening


@pytest.fixture(scope="module")
def public(platform: Platform) -> Person:
    return Person(platform)


def cells(page: str, table: str) -> list[list[str]]:
    """The texts of a table's body, cell by cell."""
    found = re.search(rf'<table id="{table}".*?</table>', page, re.S)
    assert found is not None
    rows = re.findall(r"<tr[ >].*?</tr>", found[0].split("<tbody>")[1], re.S)
    return [[_plain(cell) for cell in re.findall(r"<td.*?</td>", row, re.S)] for row in rows]


def _plain(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def line_of(page: str, name: str) -> list[str]:
    """The crosstable's line of an entrant."""
    return next(line for line in cells(page, "crosstable") if name in line[1])


def text(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def test_pages_show_what_the_api_says_cell_by_cell(platform: Platform, public: Person) -> None:
    event_id = platform.event(tournament(reported=3))
    for after in (0, 1, 2):
        table = platform.admin.rounds.standings(event_id, after=after)
        values = [[text(row.values[code]) for code in table.criteria] for row in table.rows]
        shown = cells(public.page(f"/events/{event_id}/standings?after={after}"), "standings")
        assert [(line[0], line[2], line[3:]) for line in shown] == [
            (str(row.rank), text(row.points), value) for row, value in zip(table.rows, values, strict=True)
        ]
        cross = cells(public.page(f"/events/{event_id}/crosstable?after={after}"), "crosstable")
        assert [[*line[:1], *line[2 + after :]] for line in cross] == [[line[0], *line[2:]] for line in shown]
        prizes = cells(public.page(f"/events/{event_id}/prizes?after={after}"), "prizes")
        assert [[line[-1], *line[3:-1]] for line in prizes] == [[line[0], *line[2:]] for line in shown]


def test_a_cell_of_the_crosstable_says_opponent_side_and_what_it_came_to(platform: Platform, public: Person) -> None:
    event_id = platform.event(tournament(reported=1))
    page = public.page(f"/events/{event_id}/crosstable")
    assert line_of(page, NAMES[0])[2:4] == ["5 R 1", "2 R 1"]
    assert 'title="not reported yet"' in page
    assert f'/events/{event_id}/entrants/1?after=2"' in page


def test_card_teams_have_no_sides_on_any_page(platform: Platform, public: Person) -> None:
    event_id = platform.event(tournament(profile="shengji", reported=1))
    for path in ("crosstable", "entrants/1", "prizes", "standings"):
        page = public.page(f"/events/{event_id}/{path}")
        assert NAMES[0] in page
        assert "<th>Side</th>" not in page
    line = next(
        line for line in cells(public.page(f"/events/{event_id}/crosstable"), "crosstable") if NAMES[0] in line[1]
    )
    assert line[2:4] == ["5 1", "2 1"]


def test_an_entrants_rounds_lead_to_the_opponents(platform: Platform, public: Person) -> None:
    event_id = platform.event(tournament(reported=1))
    page = public.page(f"/events/{event_id}/entrants/1")
    assert all(name in page for name in (NAMES[0], NAMES[4], NAMES[1]))
    assert f"/events/{event_id}/entrants/5" in page
    assert public.get(f"/events/{event_id}/entrants/99").status_code == 404


def test_prizes_are_filtered_by_club_and_sex_and_age_are_only_offered_to_staff(
    platform: Platform, public: Person
) -> None:
    event_id = platform.event(tournament(reported=4))
    page = public.page(f"/events/{event_id}/prizes?club=乙队")
    assert {line[1].split()[0] for line in cells(page, "prizes")} == {"1", "3", "5", "7"}
    assert cells(page, "prizes")[0][0] == "1"
    assert 'name="sex"' not in page
    assert public.get(f"/events/{event_id}/prizes?sex=female").status_code == 401
    desk = referee(platform, event_id, Role.DESK)
    assert 'name="sex"' in desk.page(f"/events/{event_id}/prizes")
    assert "Nobody belongs to this category." in desk.page(f"/events/{event_id}/prizes?sex=female")


@pytest.mark.parametrize("path", ["rounds/2", "standings", "crosstable", "entrants/1"])
def test_a_live_page_names_the_event_and_the_moment_it_is_of(platform: Platform, public: Person, path: str) -> None:
    event_id = platform.event()
    page = public.page(f"/events/{event_id}/{path}")
    feed_no = platform.admin.events.get(event_id).feed_no
    assert f'<div id="live" data-event="{event_id}" data-feed="{feed_no}">' in page
    assert "/assets/live.js" in page


def test_the_pairings_carry_what_a_script_needs_to_write_a_result(platform: Platform, public: Person) -> None:
    event_id = platform.event()
    board = platform.admin.rounds.boards(event_id, 2).items[0]
    page = public.page(f"/events/{event_id}/rounds/2")
    assert f'data-board="{board.id}" data-version="{board.version}"' in page
    scores = html.unescape(re.search(r'data-scores="([^"]+)"', page)[1])  # type: ignore[index]
    assert '"first_win": ["1 – 0", "0 – 1"]' in scores
    assert '"": [' in scores


def test_a_page_taken_after_a_change_is_made_once_and_never_older_than_the_change(
    platform: Platform, public: Person
) -> None:
    event_id = platform.event()
    with listening(platform, event_id) as listener:
        for board, done in ((1, 1), (2, 2)):
            _enter(platform, event_id, board)
            number = listener.next()["feed_no"]
            page = public.page(f"/events/{event_id}/rounds/2?live={number}")
            assert f"{done} of 4 boards reported" in page
            assert public.page(f"/events/{event_id}/rounds/2?live={number}") == page
        ahead = public.page(f"/events/{event_id}/rounds/2?live={number + 1}")  # nobody was told of this one yet
        assert "2 of 4 boards reported" in ahead
        _enter(platform, event_id, 3)
        assert listener.next()["feed_no"] == number + 1
        assert "3 of 4 boards reported" in public.page(f"/events/{event_id}/rounds/2?live={number + 1}")


def test_a_shared_page_is_of_one_language_and_not_of_those_signed_in(platform: Platform, public: Person) -> None:
    event_id = platform.event()
    chief = Person(platform, platform.login)
    with listening(platform, event_id) as listener:
        _enter(platform, event_id, 1)
        address = f"/events/{event_id}/rounds/2?live={listener.next()['feed_no']}"
        assert "Sign out" in chief.page(address)
        assert "Sign in" in public.page(address)
        assert "Sign out" in chief.page(address)
        assert "登录" in public.page(f"{address}&lang=zh-Hans")
        public.http.cookies.clear()


def _enter(platform: Platform, event_id: int, board: int) -> Any:
    found = platform.admin.rounds.boards(event_id, 2).items[board - 1]
    return platform.admin.rounds.put_result(found.id, Result.DRAW, version=found.version)


@pytest.mark.parametrize("what", ["standings", "crosstable"])
def test_a_sheet_is_in_the_language_of_the_page_it_stands_on(platform: Platform, what: str) -> None:
    event_id = platform.event(tournament(reported=4))
    person = Person(platform)
    person.http.headers["Accept-Language"] = "zh-CN"
    for language, word, other in (("en", "Rank", "名次"), ("zh-Hant", "名次", "Rank"), ("zh-Hans", "名次", "Rank")):
        page = person.page(f"/events/{event_id}/{what}?lang={language}")
        link = re.search(r'class="sheet" href="([^"]+)"', page)
        assert link is not None
        answer = person.get(link[1].replace("&amp;", "&"))
        head = answer.content.decode("utf-8-sig").splitlines()[0]
        assert word in head, (language, head)
        assert other not in head
        assert answer.headers["Content-Disposition"].endswith(f'{what}-2.csv"')


def test_every_line_of_the_arithmetic_says_why(platform: Platform, public: Person) -> None:
    assert set(TERMS) == {reason.value for reason in Reason}
    event_id = platform.event()
    three = next(one for one in platform.admin.entrants.list(event_id) if one.number == 3)
    platform.admin.rounds.adjust(event_id, three.id, points=-0.5, after_round=2, reason="迟到")
    page = public.page(f"/events/{event_id}/standings/3")
    assert "points given or taken by the chief referee" in page
    assert "own points" in page


@pytest.mark.parametrize("path", ["standings", "crosstable", "prizes", "entrants/1", "standings/1"])
def test_a_table_says_which_of_its_rounds_is_under_way(platform: Platform, public: Person, path: str) -> None:
    event_id = platform.event(tournament(reported=1))
    said = "Round 2 is under way: 1 of 4 results are in."
    assert said in public.page(f"/events/{event_id}/{path}")
    assert "under way" not in public.page(f"/events/{event_id}/{path}?after=1")
    assert "第 2 轮进行中：已报 1 / 4 场成绩。" in public.page(f"/events/{event_id}/{path}?lang=zh-Hans")
    public.http.cookies.clear()
    whole = platform.event(tournament(reported=4))
    assert "under way" not in public.page(f"/events/{whole}/{path}")
