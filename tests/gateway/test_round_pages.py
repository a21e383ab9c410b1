"""The chief referee's page of a round: clock, closing by force, taking back, finishing; typed reasons stay."""

from __future__ import annotations

import re

import pytest

from qisai.kernel.model import Result
from tests.gateway.drafts import computed_draft
from tests.gateway.platform import Platform, tournament
from tests.gateway.test_pages import Person, referee


@pytest.fixture(scope="module")
def chief(platform: Platform) -> Person:
    return Person(platform, platform.login)


@pytest.fixture(scope="module")
def public(platform: Platform) -> Person:
    return Person(platform)


def version(platform: Platform, event_id: int, number: int = 2) -> int:
    return platform.admin.rounds.get(event_id, number).version


def left(page: str) -> float:
    """Seconds that a page's clock shows."""
    found = re.search(r'class="clock"[^>]* data-left="([\d.]+)"', page)
    assert found is not None
    return float(found[1])


def test_everybody_sees_the_clock_that_the_chief_referee_runs(
    platform: Platform, chief: Person, public: Person
) -> None:
    event_id = platform.event()
    address, watched = f"/events/{event_id}/rounds/2/draw", f"/events/{event_id}/rounds/2"
    assert 'class="clock"' not in public.page(watched)
    empty = chief.post(f"{address}/clock", version=version(platform, event_id), clock="start", minutes="soon")
    assert empty.status_code == 422
    assert "Write the minutes as a number, such as 90." in empty.text
    assert 'value="soon"' in empty.text
    started = chief.post(f"{address}/clock", version=version(platform, event_id), clock="start", minutes="90")
    assert "The clock is set." in started.text
    page = public.page(watched)
    assert 5380 < left(page) <= 5400
    assert "ends at " in page
    assert 'data-runs="true"' in page
    assert 5380 < left(referee(platform, event_id).page(f"{watched}/entry")) <= 5400
    chief.post(f"{address}/clock", version=version(platform, event_id), clock="pause")
    paused = left(public.page(watched))
    assert left(public.page(watched)) == paused
    assert "stands" in public.page(watched)
    chief.post(f"{address}/clock", version=version(platform, event_id), clock="adjust", minutes="-30")
    assert left(public.page(watched)) == pytest.approx(paused - 1800, abs=0.01)
    again = chief.post(f"{address}/clock", version=version(platform, event_id), clock="pause")
    assert again.status_code == 409
    assert "stands already" in again.text
    chief.post(f"{address}/clock", version=version(platform, event_id), clock="resume")
    assert 'data-runs="true"' in public.page(watched)
    chief.post(f"{address}/clock", version=version(platform, event_id), clock="stop")
    assert 'class="clock"' not in public.page(watched)


def test_closing_with_open_boards_names_them_and_is_forced_with_a_reason(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=3))
    address = f"/events/{event_id}/rounds/2/draw"
    page = chief.page(address)
    assert "1 board is open" in page
    assert "Close although boards are open" in page
    refused = chief.post(f"{address}/close", version=version(platform, event_id))
    assert refused.status_code == 409
    assert "孙七" in refused.text
    unsaid = chief.post(f"{address}/close", version=version(platform, event_id), force="1", reason="")
    assert unsaid.status_code == 422
    assert platform.admin.rounds.get(event_id, 2).state == "published"
    closed = chief.post(f"{address}/close", version=version(platform, event_id), force="1", reason="该台停电")
    assert "The round is closed." in closed.text
    (entry,) = platform.admin.rounds.event_log(event_id, action="round.close")
    assert entry["reason"] == "该台停电"


def test_a_step_on_a_round_that_somebody_changed_is_refused_says_by_whom_and_keeps_the_reason(
    platform: Platform, chief: Person
) -> None:
    event_id = platform.event(tournament(reported=3))
    address, seen = f"/events/{event_id}/rounds/2/draw", version(platform, event_id)
    platform.admin.rounds.set_clock(event_id, platform.admin.rounds.get(event_id, 2), "start", seconds=60)
    stale = chief.post(f"{address}/close", version=seen, force="1", reason="该台停电")
    assert stale.status_code == 412
    assert "Last changed by " in stale.text
    assert 'value="该台停电"' in stale.text
    assert f'name="version" value="{seen + 1}"' in stale.text


def test_a_round_without_results_is_taken_back_with_a_reason(platform: Platform, chief: Person, public: Person) -> None:
    event_id = platform.event()
    address = f"/events/{event_id}/rounds/2/draw"
    assert chief.post(f"{address}/unpublish", version=version(platform, event_id), reason="").status_code == 422
    taken = chief.post(f"{address}/unpublish", version=version(platform, event_id), reason="有人漏编")
    assert "The round was taken back." in taken.text
    assert [round_.number for round_ in platform.admin.rounds.list(event_id)] == [1]
    (entry,) = platform.admin.rounds.event_log(event_id, action="round.unpublish")
    assert entry["reason"] == "有人漏编"
    assert "Ask for the draw" in chief.page(address), "and can be drawn anew"
    assert "Round 1" in public.page(f"/events/{event_id}"), "the public sees the round before it again"


def test_an_event_is_finished_when_nothing_is_open_and_can_be_taken_up_again(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=4))
    address = f"/events/{event_id}/rounds/2/draw"
    board = platform.admin.rounds.boards(event_id, 2).items[0]
    platform.admin.rounds.reopen(event_id, platform.admin.rounds.get(event_id, 2), reason="封棋")
    platform.admin.rounds.put_result(board.id, Result.ADJOURNED, version=board.version)
    platform.admin.rounds.close(event_id, platform.admin.rounds.get(event_id, 2))
    event = platform.admin.events.get(event_id)
    early = chief.post(f"{address}/finish", version=event.version, sure="on")
    assert early.status_code == 409
    assert "is adjourned" in early.text
    form = {"version": board.version + 1, "result": "draw", "reason": "续弈和棋"}
    assert "Board 1 is saved." in chief.post(f"/events/{event_id}/rounds/2/boards/1", **form).text
    done = chief.post(f"{address}/finish", version=event.version, sure="on")
    assert "The event is finished." in done.text
    assert platform.admin.events.get(event_id).state == "finished"
    assert chief.post(f"{address}/finish", version=event.version, sure="on").status_code == 412
    event = platform.admin.events.get(event_id)
    assert "The event goes on." in chief.post(f"{address}/go-on", version=event.version, reason="漏录").text
    assert platform.admin.events.get(event_id).state == "running"


def test_finishing_before_the_planned_rounds_says_what_is_not_played_and_is_meant(
    platform: Platform, chief: Person
) -> None:
    event_id = platform.event(tournament(reported=4))
    computed_draft(platform, event_id, 3)
    address = f"/events/{event_id}/rounds/2/draw"
    page = chief.page(address)
    assert "Not played yet: round 3–4 of 4. A draft of round 3 is waiting." in page
    assert 'name="sure" required' in page
    setup = f"/events/{event_id}/set-up"
    assert "Not played yet: round 3–4 of 4." in chief.page(setup)
    event = platform.admin.events.get(event_id)
    for step in (f"{address}/finish", f"{setup}/finish"):
        refused = chief.post(step, version=event.version)
        assert refused.status_code == 422
        assert "Tick that you want to finish all the same." in refused.text
        assert platform.admin.events.get(event_id).state == "running"
    assert "The event is finished." in chief.post(f"{address}/finish", version=event.version, sure="on").text


def test_a_draft_of_an_event_that_is_over_offers_nothing_that_would_be_refused(
    platform: Platform, chief: Person
) -> None:
    event_id = platform.event(tournament(reported=4))
    computed_draft(platform, event_id, 3)
    address = f"/events/{event_id}/rounds/3/draw"
    assert "/draw/publish" in chief.page(address)
    platform.admin.events.act(platform.admin.events.get(event_id), "finish")
    page = chief.page(address)
    assert "The event is over: nothing is drawn or published." in page
    for step in ("/draw/publish", "Ask for a new draw", 'id="edit"', "/restore", "Pair by hand"):
        assert step not in page
    assert re.search(r'id="draft"', page), "it can still be read"
    assert "/draw/reopen" not in chief.page(f"/events/{event_id}/rounds/2/draw")
    board = chief.page(f"/events/{event_id}/rounds/2/boards/1")
    assert "to correct a result, take it up again first" in board
    assert 'name="result"' not in board
    decisions = chief.page(f"/events/{event_id}/decisions")
    assert "to decide on points, take it up again first" in decisions
    assert 'name="points"' not in decisions


def test_what_stands_in_the_way_of_round_1_has_a_way_out(platform: Platform, chief: Person) -> None:
    made = platform.admin.events.create(name="死胡同赛", profile="xiangqi")
    address = f"/events/{made.id}/rounds/1/draw"
    refused = chief.post(address)
    assert refused.status_code == 409
    assert f'<a class="button quiet" href="/events/{made.id}/set-up">' in refused.text
    assert f'<a class="button quiet" href="/events/{made.id}/desk">' in refused.text
    platform.admin.events.act(made, "open")
    one = platform.admin.entrants.add(made.id, name="陈一")
    for state in ("approved", "checked_in", "seated"):
        one = platform.admin.entrants.move(made.id, one, state)
    refused = chief.post(address)
    assert "no number" in refused.text
    assert f'<a class="button quiet" href="/events/{made.id}/desk/lots">' in refused.text
