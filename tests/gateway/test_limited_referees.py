"""A referee limited to a range of boards: what is theirs stands first, the rest has no buttons."""

from __future__ import annotations

import re

from qisai.db.accounts import Role
from tests.gateway.harness import PASSWORD
from tests.gateway.platform import Platform, tournament
from tests.gateway.test_pages import Person


def limited(platform: Platform, event_id: int, *ranges: tuple[int, int]) -> Person:
    login = f"limited{event_id}"
    account_id = platform.gateway.account(login=login, password=PASSWORD, name="钱裁判")
    for boards in ranges:
        platform.admin.people.grant(account_id, Role.REFEREE, event_id=event_id, boards=boards)
    return Person(platform, login)


def boards_on(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'<tr id="b\d+" data-id="\d+" data-number="(\d+)"', page)]


def test_the_page_of_results_opens_on_the_referees_own_boards_and_names_them(platform: Platform) -> None:
    event_id = platform.event(tournament())
    person = limited(platform, event_id, (2, 3))
    page = person.page(f"/events/{event_id}/rounds/2/entry")
    assert boards_on(page) == [2, 3]
    assert "Yours: Board 2–3" in page
    everything = person.page(f"/events/{event_id}/rounds/2/entry?all=1")
    assert boards_on(everything) == [1, 2, 3, 4]
    assert everything.count('value="first_win"') == 2
    assert everything.count("data-foreign") == 2
    batch = person.page(f"/events/{event_id}/rounds/2/batch")
    assert re.findall(r'<td class="num strong">(\d+)', batch) == ["2", "3"]


def test_the_board_of_somebody_else_is_shown_without_a_form(platform: Platform) -> None:
    event_id = platform.event(tournament())
    person = limited(platform, event_id, (2, 3))
    page = person.page(f"/events/{event_id}/rounds/2/boards/1")
    assert "Not one of yours. Yours: Board 2–3" in page
    assert 'name="result"' not in page
    assert 'name="result"' in person.page(f"/events/{event_id}/rounds/2/boards/2")


def test_a_referee_of_all_boards_and_the_chief_referee_see_no_range(platform: Platform) -> None:
    event_id = platform.event(tournament())
    account_id = platform.gateway.account(login=f"whole{event_id}", password=PASSWORD, name="周裁判")
    platform.admin.people.grant(account_id, Role.REFEREE, event_id=event_id)
    for person in (Person(platform, f"whole{event_id}"), Person(platform, platform.login)):
        page = person.page(f"/events/{event_id}/rounds/2/entry")
        assert boards_on(page) == [1, 2, 3, 4]
        assert "Yours:" not in page
