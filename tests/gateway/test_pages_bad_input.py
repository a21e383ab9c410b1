"""Nonsense sent to the pages of desk and organiser: an answer in words, never an error of ours, and nothing written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.platform import Platform
from tests.gateway.test_desk_pages import Field, new_field
from tests.gateway.test_pages import Person

LONG = "9" * 5000
NONSENSE: tuple[Any, ...] = (
    "",
    "\x00",
    "-1",
    LONG,
    "٣",
    "½",
    "<b>&'\"",
    "9999-12-31T23:59",
    "0001-01-01T00:00",
    "1:1:x",
    "棋" * 3000,
)
FORMS: dict[str, tuple[str, ...]] = {
    "desk/check-in": ("letters", "entrant"),
    "desk/move": ("step",),
    "desk/bulk": ("entrant", "to", "reason"),
    "desk/undo": ("undo",),
    "desk/add": ("name", "club", "seed", "seed_date", "birth_year", "sex", "phone", "external_id", "fixed_board"),
    "desk/{entrant}": ("version", "name", "members", "seed", "sex"),
    "desk/{entrant}/step": ("version", "to", "from_round", "reason"),
    "desk/{entrant}/ahead": ("round", "kind", "was"),
    "desk/attendance/1/deadline": ("until",),
    "desk/attendance/1/note": ("letters", "entrant", "absent"),
    "desk/apart": ("a", "b", "from_round", "to_round"),
    "desk/apart/clubs": ("from_round", "to_round"),
    "desk/apart/allow": ("pair",),
    "desk/lots": ("mode", "seed", "version"),
    "desk/import": ("text", "kept", "plan", "seen", "apply"),
    "set-up/edit": ("version", "name", "time_zone", "capacity", "registration_until", "rounds", "points_win", "system"),
    "set-up/open": ("version",),
    "set-up/clone": ("name", "starts_on", "registration_until"),
    "register": ("name", "birth_year", "sex", "email"),
}


@pytest.fixture(scope="module")
def admin(platform: Platform) -> Person:
    return Person(platform, platform.login)


@pytest.fixture(scope="module")
def there(platform: Platform) -> Field:
    return new_field(platform, regulations={"rounds": 3})


@pytest.mark.parametrize("path", FORMS)
def test_nonsense_gets_an_answer_in_words(admin: Person, there: Field, path: str) -> None:
    entrants = there.platform.admin.entrants.list(there.event_id)
    entrant = entrants[0] if entrants else there.add("陈一")
    where = f"/events/{there.event_id}/{path.format(entrant=entrant.id)}"
    for value in NONSENSE:
        form = dict.fromkeys(FORMS[path], value)
        if path == "desk/lots":
            form |= {"mode": "hand", f"number-{LONG}": "1", "number-٣": value, f"number-{entrant.id}": value}
        answer = admin.post(where, **form)
        assert answer.status_code < 500, (path, value[:20], answer.text[-2000:])
        assert "<main" in answer.text, (path, value[:20])


@pytest.mark.parametrize(
    "query",
    [
        "sort=x",
        "state=x",
        f"undo={LONG}",
        f"look={LONG}&look=1",
        "look=999999",
        "q=%00",
        f"q={LONG}",
        "q=%ff%fe",
        "q=%27%3B--",
    ],
)
def test_nonsense_in_an_address_does_no_harm(admin: Person, there: Field, query: str) -> None:
    assert admin.get(f"{there.desk}?{query}").status_code < 500


@pytest.mark.parametrize("number", ["0", "999999999", "9" * 18, "9" * 30])
def test_what_is_not_there_is_not_found(admin: Person, there: Field, number: str) -> None:
    for path in (f"desk/{number}", f"desk/attendance/{number}", "desk/entrants.exe"):
        assert admin.get(f"/events/{there.event_id}/{path}").status_code in (404, 422), path
    assert admin.get(f"/events/{number}/desk").status_code in (404, 422)


def test_a_deadline_in_the_last_hour_of_all_years_is_shown(platform: Platform, admin: Person) -> None:
    there = new_field(platform, registration_until="9999-12-31T23:00:00Z")
    for path in ("desk", "set-up", "set-up/edit", "register"):
        assert admin.get(f"/events/{there.event_id}/{path}").status_code == 200, path
