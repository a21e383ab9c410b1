"""Rounds as people read, close and reopen them; starting, finishing and reopening an event."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.db.entrants import EntrantState
from qisai.db.events import EventState
from qisai.db.rounds import RoundRow, RoundState
from qisai.errors import Stale
from qisai.kernel.model import ByeKind, Result
from services.results.operations.rounds_held import change_round
from tests import fields
from tests.results.conftest import Play, Service, make_play, problem
from tests.results.interleaving import results_session


def test_rounds_are_listed_with_counts_and_byes_and_a_feed_etag(service: Service) -> None:
    play = make_play(service, entrants=5)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4)], byes=[(5, ByeKind.PAIRING)])
    answer = service.public().get(f"{play.event}/rounds")
    (item,) = answer.json["items"]
    assert (item["number"], item["state"], item["boards"], item["reported"]) == (1, "published", 2, 1)
    assert [(bye["number"], bye["name"], bye["kind"]) for bye in item["byes"]] == [(5, "棋手5", "pairing")]
    tag = answer.headers["ETag"]
    assert tag == f'W/"c{play.numbers()[0]}"'
    unchanged = service.public().get(f"{play.event}/rounds", headers={"If-None-Match": tag})
    assert (unchanged.status_code, unchanged.data) == (304, b"")
    play.referee().put(play.result_of(1, 2), {"result": "draw"}, version=1)
    assert (
        service.public().get(f"{play.event}/rounds", headers={"If-None-Match": tag}).json["items"][0]["reported"] == 2
    )


def test_a_round_that_is_not_drawn_is_pending_and_one_beyond_the_last_does_not_exist(service: Service) -> None:
    play = make_play(service, regulations={"rounds": 3})
    assert service.public().get(play.round(3)).json["state"] == "pending"
    assert service.public().get(f"{play.round(3)}/boards").json["items"] == []
    problem(service.public().get(play.round(4)), 404, "round-not-found")
    problem(service.public().get(play.round(0)), 422, "invalid-request")


def test_closing_names_every_open_board_and_what_to_do(play: Play) -> None:
    """Pins the test for open boards."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4)])
    url = f"{play.round(1)}/close"
    problem(play.chief.post(url), 428, "version-needed")
    (blocker,) = problem(play.chief.post(url, version=2), 409, "results-missing")["blockers"]
    assert (blocker["board"], blocker["board_id"]) == (2, play.field.board_ids[1, 2])
    assert blocker["detail"].startswith("Round 1, board 2: 棋手2 – 棋手4 has no result: enter it")
    play.referee().put(play.result_of(1, 2), {"result": "void"}, version=1)
    stale = problem(play.chief.post(url, version=1), 412, "stale")
    assert (stale["current"]["version"], stale["current"]["updated_by"]) == (2, "a test")
    closed = play.chief.post(url, version=2)
    assert (closed.status_code, closed.json["state"], closed.json["closed_by"], closed.json["version"]) == (
        200,
        "closed",
        "孙裁判长",
        3,
    )
    assert problem(play.chief.post(url, version=3), 409, "round-closed")["context"]["closed_by"] == "孙裁判长"
    problem(play.chief.post(f"{play.round(2)}/close", version=0), 409, "round-not-published")


def test_blockers_speak_the_language_of_the_caller(play: Play) -> None:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4)])
    answer = play.chief.post(f"{play.round(1)}/close", version=2, headers={"Accept-Language": "zh-CN"})
    body = problem(answer, 409, "results-missing")
    assert body["detail"] == "第 1 轮还有台次没有成绩。"
    assert body["blockers"][0]["detail"].startswith("第 1 轮第 2 台 棋手2 – 棋手4 没有成绩")


def test_a_reopened_round_takes_results_again_and_says_why(play: Play) -> None:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)], state=RoundState.CLOSED)
    problem(play.referee().put(play.result_of(1, 1), {"result": "first_win"}, version=2), 409, "round-closed")
    problem(play.chief.post(f"{play.round(1)}/reopen", version=2), 412, "stale")
    answer = play.chief.post(f"{play.round(1)}/reopen", {"reason": "红方申诉"}, version=3)
    assert (answer.json["state"], answer.json["closed_by"], answer.json["version"]) == ("published", None, 4)
    assert play.referee().put(play.result_of(1, 1), {"result": "first_win"}, version=2).status_code == 200
    problem(play.chief.post(f"{play.round(1)}/reopen", version=4), 409, "round-not-closed")
    last = play.chief.get(f"{play.event}/log?kind=audit").json["items"][0]
    assert (last["action"], last["subject"], last["reason"]) == ("round.reopen", "round:1", "红方申诉")


def test_a_referee_neither_closes_nor_reopens_nor_pairs(play: Play) -> None:
    referee = play.referee()
    for path in (f"{play.round(1)}/close", f"{play.round(1)}/reopen", f"{play.round(1)}/draws"):
        problem(referee.post(path, version=1), 403, "no-right")


def test_an_event_starts_finishes_and_reopens_deliberately(play: Play) -> None:
    organiser_name = "李组织"
    organiser = play.service.person(Role.ORGANISER, play.field.event_id, name=organiser_name)
    problem(organiser.post(f"{play.event}/finish", version=1), 409, "event-state")
    for version in (0, 7):
        stale = problem(organiser.post(f"{play.event}/start", version=version), 412, "stale")
        assert (stale["current"]["version"], stale["current"]["updated_by"]) == (1, None)  # nobody changed it yet
    started = organiser.post(f"{play.event}/start", version=1)
    assert (started.json["state"], started.json["version"], started.headers["ETag"]) == ("running", 2, '"v2"')
    current = problem(play.chief.post(f"{play.event}/start", version=1), 412, "stale")["current"]
    assert (current["state"], current["updated_by"]) == ("running", organiser_name)
    assert current["updated_at"].endswith("Z")
    (blocker,) = problem(organiser.post(f"{play.event}/finish", version=2), 409, "event-not-over")["blockers"]
    assert blocker["slug"] == "no-round"
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.ADJOURNED)])
    blockers = problem(play.chief.post(f"{play.event}/finish", version=2), 409, "event-not-over")["blockers"]
    assert [blocker["slug"] for blocker in blockers] == ["round-open", "adjourned"]
    play.chief.put(play.result_of(1, 2), {"result": "draw"}, version=2)
    assert play.service.rows("SELECT state FROM event WHERE id = :id", id=play.field.event_id)[0].state == "running"
    play.chief.post(f"{play.round(1)}/close", version=2)
    problem(play.chief.post(f"{play.event}/finish"), 428, "version-needed")
    assert play.chief.post(f"{play.event}/finish", version=2).json["state"] == "finished"
    problem(play.chief.post(f"{play.round(1)}/reopen", version=3), 409, "event-not-running")
    assert play.chief.get(play.round(1)).json["state"] == "closed"
    reopened = play.chief.post(f"{play.event}/reopen", {"reason": "漏记一局"}, version=3)
    assert (reopened.json["state"], reopened.json["version"]) == ("running", 4)
    assert play.chief.post(f"{play.round(1)}/reopen", version=3).status_code == 200


def states_logged(play: Play) -> list[tuple[str, str, str, str]]:
    """Steps of the event's state in its log, oldest first: action, from, to, reason."""
    rows = play.service.rows(
        "SELECT action, old, new, reason FROM audit_log"
        " WHERE event_id = :id AND subject = 'event:' || :id AND new ? 'state' ORDER BY id",
        id=play.field.event_id,
    )
    return [(row.action, row.old["state"], row.new["state"], row.reason) for row in rows]


def states_told(play: Play) -> list[str]:
    """States that the event's feed told of, oldest first."""
    items = play.chief.get(f"{play.event}/feed?after=0").json["items"]
    return [item["data"]["state"] for item in items if item["kind"] == "event.state"]


@pytest.mark.parametrize("entrants", [0, 1])
def test_an_event_starts_with_two_who_can_play_each_other(service: Service, entrants: int) -> None:
    play = make_play(service, entrants=entrants)
    with service.owner() as session:
        fields.add_entrant(session, play.field.event_id, number=None, state=EntrantState.WITHDRAWN)
        fields.add_entrant(session, play.field.event_id, number=None, state=EntrantState.CHECKED_IN)
    body = problem(play.chief.post(f"{play.event}/start", version=1), 409, "too-few-seated")
    assert body["detail"].endswith("; an event starts with two or more: seat entrants first.")
    assert body["context"] == {"seated": entrants}
    assert (states_logged(play), states_told(play)) == ([], [])
    with service.owner() as session:
        for _place in range(2 - entrants):
            fields.add_entrant(session, play.field.event_id, number=None)
    assert play.chief.post(f"{play.event}/start", version=1).json["state"] == "running"


def test_a_start_is_taken_back_while_no_round_was_published(play: Play) -> None:
    organiser = play.service.person(Role.ORGANISER, play.field.event_id)
    problem(organiser.post(f"{play.event}/start", {"undo": True}, version=1), 409, "event-state")
    organiser.post(f"{play.event}/start", version=1)
    problem(play.referee().post(f"{play.event}/start", {"undo": True}, version=2), 403, "no-right")
    problem(organiser.post(f"{play.event}/start", {"undo": True}, version=1), 412, "stale")
    back = organiser.post(f"{play.event}/start", {"undo": True, "reason": "改期"}, version=2)
    assert (back.status_code, back.json["state"], back.json["version"]) == (200, "closed", 3)
    assert organiser.post(f"{play.event}/start", version=3).json["state"] == "running"
    assert states_logged(play) == [
        ("event.running", "closed", "running", ""),
        ("event.closed", "running", "closed", "改期"),
        ("event.running", "closed", "running", ""),
    ]
    assert states_told(play) == ["running", "closed", "running"]


def test_a_start_is_not_taken_back_once_a_round_is_published(play: Play) -> None:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3), (2, 4)])
    body = problem(play.chief.post(f"{play.event}/start", {"undo": True}, version=1), 409, "later-round-published")
    assert body["context"]["round"] == 1
    assert states_logged(play) == []


@pytest.mark.parametrize("started", [False, True])
def test_publishing_and_unpublishing_round_1_say_how_the_event_moved(play: Play, started: bool) -> None:
    with play.service.owner() as session:
        fields.add_draft(session, play.field, round_no=1, pairs=[(1, 3), (2, 4)])
    if started:
        play.chief.post(f"{play.event}/start", version=1)
    assert play.chief.post(f"{play.round(1)}/draws/1/publish", version=1).status_code == 200
    assert states_logged(play) == [("event.running", "closed", "running", "")]
    assert states_told(play) == ["running"]
    version = play.chief.get(play.round(1)).json["version"]
    assert play.chief.post(f"{play.round(1)}/unpublish", {"reason": "重排"}, version=version).status_code == 200
    assert states_logged(play)[1:] == [("event.closed", "running", "closed", "重排")]
    assert states_told(play) == ["running", "closed"]


@pytest.mark.parametrize("state", [EventState.DRAFT, EventState.OPEN, EventState.ARCHIVED])
def test_only_a_closed_event_starts(service: Service, state: EventState) -> None:
    play = make_play(service, state=state)
    problem(play.chief.post(f"{play.event}/start", version=1), 409, "event-state")
    problem(play.chief.post(f"{play.event}/reopen", version=1), 409, "event-state")


def test_a_round_is_changed_only_as_it_was_read(play: Play) -> None:
    """Pins the compare-and-set behind the lock: a round that was read without it does not overwrite a newer one."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)])
    with results_session(play.service.database) as session:
        (read_before,) = session.scalars(sa.select(RoundRow).where(RoundRow.event_id == play.field.event_id))
        assert play.chief.post(f"{play.round(1)}/close", version=2).status_code == 200
        with pytest.raises(Stale):
            change_round(session, read_before, to=RoundState.PENDING, values={})


def test_a_round_is_closed_with_open_boards_only_by_force_and_with_a_reason(play: Play) -> None:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4)])
    url = f"{play.round(1)}/close"
    problem(play.chief.post(url, {"reason": "散场"}, version=2), 409, "results-missing")
    body = problem(play.chief.post(url, {"force": True}, version=2), 422, "reason-needed")
    assert [fault["pointer"] for fault in body["errors"]] == ["/reason"]
    closed = play.chief.post(url, {"force": True, "reason": "闭馆，明日续录"}, version=2)
    assert (closed.json["state"], closed.json["reported"], closed.json["boards"]) == ("closed", 1, 2)
    last = play.chief.get(f"{play.event}/log?kind=audit").json["items"][0]
    assert (last["action"], last["reason"], last["new"]) == ("round.close", "闭馆，明日续录", {"open_boards": [2]})
    blockers = problem(play.chief.post(f"{play.event}/finish", version=1), 409, "event-not-over")["blockers"]
    assert [(blocker["slug"], blocker["board"]) for blocker in blockers] == [("result-missing", 2)]
    blockers = problem(play.chief.post(f"{play.round(2)}/draws"), 409, "draw-not-possible")["blockers"]
    assert [blocker["slug"] for blocker in blockers] == ["result-missing"]
