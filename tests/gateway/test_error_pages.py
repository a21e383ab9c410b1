"""What somebody reads at an address where nothing is, and where a number was mistyped."""

from __future__ import annotations

import pytest

from tests.gateway.platform import Platform, tournament
from tests.gateway.test_pages import Person

NOWHERE = {
    "en": "There is nothing at this address.",
    "zh-Hans": "没有这个地址，请检查链接是否完整。",
}


@pytest.mark.parametrize("language", NOWHERE)
@pytest.mark.parametrize(
    "path",
    ["/entry/nonsense", "/events/{id}/rounds/0", "/events/{id}/rounds/0/entry", "/events/{id}/entrants/0", "/no/such"],
)
def test_an_address_of_nothing_is_said_in_words_and_no_field_of_ours_is_named(
    platform: Platform, path: str, language: str
) -> None:
    chief = Person(platform, platform.login)
    answer = chief.get(path.format(id=platform.event()) + f"?lang={language}")
    assert answer.status_code == 404
    assert NOWHERE[language] in answer.text
    assert '<p class="note error">' not in answer.text


def test_the_api_names_the_place_in_the_address_as_before(platform: Platform) -> None:
    answer = Person(platform, platform.login).get(f"/api/v1/events/{platform.event()}/rounds/0")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/round_no"


@pytest.mark.parametrize(("language", "words"), [("en", "is no number of an entrant."), ("zh-Hans", "不是参赛编号。")])
@pytest.mark.parametrize("typed", ["abc", ""])
def test_who_asks_why_with_a_mistyped_number_is_told_on_the_page_of_the_round(
    platform: Platform, typed: str, language: str, words: str
) -> None:
    event_id = platform.event(tournament(reported=4))
    chief = Person(platform, platform.login)
    chief.page(f"/?lang={language}")
    answer = chief.get(f"/events/{event_id}/rounds/2/why?number={typed}")
    assert answer.url.endswith(f"/events/{event_id}/rounds/2/draw")
    assert words in answer.text
