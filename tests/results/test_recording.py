"""Writing results: every write says what it saw, every change is logged, nothing is overwritten unseen."""

from __future__ import annotations

import pytest

from qisai.db.accounts import Role
from qisai.db.rounds import RoundState
from qisai.kernel.model import Result
from tests import fields
from tests.results.conftest import Play, Service, make_play, problem


@pytest.fixture
def round1(play: Play) -> Play:
    """Round 1 is published: 1–3 on board 1, 2–4 on board 2."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3), (2, 4)])
    return play


@pytest.mark.parametrize("result", list(Result))
def test_every_kind_of_result_is_taken_and_logged_with_who_and_when(round1: Play, result: Result) -> None:
    referee = round1.referee(name="李裁判", device="手机3")
    feed_no, pairing_no = round1.numbers()
    answer = referee.put(round1.result_of(1, 1), {"result": result.value, "reason": "口头报告"}, version=1)
    assert answer.status_code == 200
    assert answer.headers["ETag"] == '"v2"'
    assert (answer.json["result"], answer.json["version"], answer.json["updated_by"]) == (result.value, 2, "李裁判")
    log = round1.chief.get(f"/api/v1/boards/{round1.field.board_ids[1, 1]}/log").json["items"]
    assert len(log) == 1
    blank = {"result": None, "swapped": False, "note": ""}
    assert (log[0]["version"], log[0]["old"], log[0]["new"]) == (2, blank, {**blank, "result": result.value})
    assert (log[0]["actor"], log[0]["device"], log[0]["reason"]) == ("李裁判", "手机3", "口头报告")
    assert round1.numbers() == (feed_no + 1, pairing_no + 1)
    (entry,) = round1.chief.get(f"{round1.event}/feed?after={feed_no}").json["items"]
    assert entry["kind"] == "result.recorded"
    assert "note" not in entry["data"]  # the feed is public, a note is not


def test_a_result_can_be_taken_back_and_the_log_keeps_both(round1: Play) -> None:
    referee = round1.referee()
    referee.put(round1.result_of(1, 1), {"result": "draw", "note": "提和"}, version=1)
    answer = referee.put(round1.result_of(1, 1), {"result": None, "reason": "填错台"}, version=2)
    assert (answer.json["result"], answer.json["note"], answer.json["version"]) == (None, "提和", 3)
    log = round1.chief.get(f"/api/v1/boards/{round1.field.board_ids[1, 1]}/log").json["items"]
    assert [(entry["old"]["result"], entry["new"]["result"]) for entry in log] == [(None, "draw"), ("draw", None)]


def test_sides_as_played_count_and_what_is_left_out_stays(round1: Play) -> None:
    referee = round1.referee()
    answer = referee.put(round1.result_of(1, 1), {"result": "first_win", "swapped": True, "note": "坐反"}, version=1)
    assert (answer.json["swapped"], answer.json["first"]["number"]) == (True, 1)
    rows = round1.service.public().get(f"{round1.event}/standings").json["rows"]
    assert rows[0]["number"] == 3  # sat first and won
    answer = referee.put(round1.result_of(1, 1), {"result": "second_win"}, version=2)
    assert (answer.json["swapped"], answer.json["note"]) == (True, "坐反")


def test_a_stale_write_is_refused_with_the_present_value_and_kept_in_the_conflict_log(round1: Play) -> None:
    """Pins the version test of the update and the conflict row."""
    first, second = round1.referee(name="吴裁判"), round1.referee(name="郑裁判", device="平板")
    assert first.put(round1.result_of(1, 1), {"result": "first_win"}, version=1).status_code == 200
    before = round1.numbers()
    answer = second.put(round1.result_of(1, 1), {"result": "draw"}, version=1)
    body = problem(answer, 412, "stale")
    current = body["current"]
    assert (current["result"], current["version"], current["updated_by"]) == ("first_win", 2, "吴裁判")
    assert current["updated_at"].endswith("Z")
    assert answer.headers["ETag"] == '"v2"'
    assert round1.numbers() == before
    log = round1.chief.get(f"/api/v1/boards/{round1.field.board_ids[1, 1]}/log").json
    assert len(log["items"]) == 1
    (conflict,) = log["conflicts"]
    assert (conflict["seen_version"], conflict["present_version"], conflict["actor"]) == (1, 2, "郑裁判")
    assert (conflict["wanted"]["result"], conflict["present"]["result"]) == ("draw", "first_win")


def test_a_version_nobody_could_have_seen_is_refused(round1: Play) -> None:
    problem(round1.referee().put(round1.result_of(1, 1), {"result": "draw"}, version=7), 412, "stale")


def test_the_same_write_again_after_a_lost_answer_is_fine_and_logged_once(round1: Play) -> None:
    referee = round1.referee(device="手机1")
    wanted = {"result": "draw", "note": "长将"}
    first = referee.put(round1.result_of(1, 1), wanted, version=1)
    before = round1.numbers()
    again = referee.put(round1.result_of(1, 1), wanted, version=1)
    assert (again.status_code, again.json) == (200, first.json)
    assert round1.numbers() == before
    log = round1.chief.get(f"/api/v1/boards/{round1.field.board_ids[1, 1]}/log").json
    assert (len(log["items"]), log["conflicts"]) == (1, [])


def test_a_lost_answer_is_given_again_when_the_round_was_closed_meanwhile(round1: Play) -> None:
    """One's own write stands there: only another one is told that the round takes none any more."""
    referee = round1.referee(device="手机1")
    wanted = {"result": "draw", "reason": "口头报告"}
    first = referee.put(round1.result_of(1, 1), wanted, version=1)
    closed = round1.chief.post(f"{round1.round(1)}/close", {"force": True, "reason": "收工"}, version=2)
    assert closed.status_code == 200
    before = round1.numbers()
    again = referee.put(round1.result_of(1, 1), wanted, version=1)
    assert (again.status_code, again.json, again.headers["ETag"]) == (200, first.json, '"v2"')
    (item,) = referee.put(
        f"{round1.round(1)}/results",
        {"results": [{"board_id": round1.field.board_ids[1, 1], "version": 1, **wanted}]},
    ).json["items"]
    assert item["status"] == 200
    elsewhere = type(referee)(app=referee.app, account_id=referee.account_id, device="手机2")
    for hand, body, version in (
        (referee, {**wanted, "result": "first_win"}, 1),
        (referee, {**wanted, "reason": "误记"}, 1),
        (referee, wanted, 2),
        (elsewhere, wanted, 1),
        (round1.referee(device="手机1"), wanted, 1),
    ):
        problem(hand.put(round1.result_of(1, 1), body, version=version), 409, "round-closed")
    assert round1.numbers() == before
    log = round1.chief.get(f"/api/v1/boards/{round1.field.board_ids[1, 1]}/log").json
    assert (len(log["items"]), log["conflicts"]) == (1, [])


@pytest.mark.parametrize(
    ("other_device", "other_result"), [("手机2", "draw"), ("手机1", "first_win")], ids=["device", "value"]
)
def test_one_version_ahead_is_a_conflict_unless_hand_and_value_are_the_same(
    round1: Play, other_device: str, other_result: str
) -> None:
    referee = round1.referee(device="手机1")
    referee.put(round1.result_of(1, 1), {"result": "draw"}, version=1)
    again = type(referee)(app=referee.app, account_id=referee.account_id, device=other_device)
    problem(again.put(round1.result_of(1, 1), {"result": other_result}, version=1), 412, "stale")


def test_the_same_value_with_another_reason_is_not_the_write_whose_answer_was_lost(round1: Play) -> None:
    """The log would keep the first reason, and nobody would know of the second."""
    path, wanted = round1.result_of(1, 1), {"result": "draw", "reason": "误记"}
    first = round1.chief.put(path, wanted, version=1)
    assert first.status_code == 200
    problem(round1.chief.put(path, {**wanted, "reason": "申诉成立"}, version=1), 412, "stale")
    assert round1.chief.put(path, wanted, version=1).json == first.json


def test_the_same_write_again_after_others_came_between_is_a_conflict(round1: Play) -> None:
    """Pins "just one ahead": the value that stands there again is not the one whose answer got lost."""
    referee = round1.referee()
    for version, result in enumerate(("draw", None, "draw"), start=1):
        assert referee.put(round1.result_of(1, 1), {"result": result}, version=version).status_code == 200
    problem(referee.put(round1.result_of(1, 1), {"result": "draw"}, version=1), 412, "stale")


def test_another_person_with_the_same_value_still_gets_the_conflict(round1: Play) -> None:
    round1.referee().put(round1.result_of(1, 1), {"result": "draw"}, version=1)
    problem(round1.referee().put(round1.result_of(1, 1), {"result": "draw"}, version=1), 412, "stale")


def test_a_write_without_a_version_is_refused(round1: Play) -> None:
    problem(round1.referee().put(round1.result_of(1, 1), {"result": "draw"}), 428, "version-needed")


@pytest.mark.parametrize("tag", ['W/"c3"', '"v-1"', "*", '"1"', '"v99999999999"', '"v01"', '"v²"', '"v1", "v2"'])
def test_a_version_of_another_form_is_refused(round1: Play, tag: str) -> None:
    answer = round1.referee().put(round1.result_of(1, 1), {"result": "draw"}, headers={"If-Match": tag})
    problem(answer, 422, "bad-version")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/result"),
        ({"result": "win"}, "/result"),
        ({"result": 1}, "/result"),
        ({"result": "draw", "swapped": "yes"}, "/swapped"),
        ({"result": "draw", "swapped": 1}, "/swapped"),
        ({"result": "draw", "note": 7}, "/note"),
        ({"result": "draw", "note": "长" * 501}, "/note"),
        ({"result": "draw", "note": "\x00"}, "/note"),
        ({"result": "draw", "reason": "\ud800"}, "/reason"),
        ({"result": "draw", "version": 3}, "/version"),
        (["draw"], ""),
    ],
)
def test_a_body_of_another_form_is_refused_with_its_place(round1: Play, body: object, pointer: str) -> None:
    answer = round1.referee().put(round1.result_of(1, 1), body, version=1)
    faults = problem(answer, 422, "invalid-request")["errors"]
    assert pointer in [fault["pointer"] for fault in faults]
    assert round1.chief.get(f"/api/v1/boards/{round1.field.board_ids[1, 1]}").json["version"] == 1


def test_a_closed_round_takes_no_result_and_says_who_closed_it(round1: Play) -> None:
    with round1.service.owner() as session:
        fields.add_round(
            session, round1.field, pairs=[(1, 2, Result.DRAW), (3, 4, Result.DRAW)], state=RoundState.CLOSED
        )
    body = problem(round1.chief.put(round1.result_of(2, 1), {"result": "first_win"}, version=2), 409, "round-closed")
    assert body["context"]["closed_by"] == "a test"


def test_only_the_chief_corrects_a_round_when_a_later_one_is_published(service: Service) -> None:
    """Pins the test for a later round under the feed's lock."""
    play = make_play(service)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)])
        fields.add_round(session, play.field, pairs=[(1, 2), (3, 4)])
    before = play.numbers()
    problem(play.referee().put(play.result_of(1, 1), {"result": "first_win"}, version=2), 403, "needs-chief-referee")
    assert play.numbers() == before
    assert play.chief.get(f"/api/v1/boards/{play.field.board_ids[1, 1]}").json["version"] == 2
    body = problem(play.chief.put(play.result_of(1, 1), {"result": "first_win"}, version=2), 422, "reason-needed")
    assert [fault["pointer"] for fault in body["errors"]] == ["/reason"]
    corrected = {"result": "first_win", "reason": "复核记录纸"}
    assert play.chief.put(play.result_of(1, 1), corrected, version=2).status_code == 200
    after1 = service.public().get(f"{play.event}/standings?after=1").json["rows"]
    assert after1[0]["number"] == 1  # the correction shows in the table of that round


def test_a_referee_of_some_boards_writes_on_those_only(round1: Play) -> None:
    """Pins the test of the range of boards."""
    limited = round1.referee(boards=(2, 5))
    problem(limited.put(round1.result_of(1, 1), {"result": "draw"}, version=1), 403, "not-your-board")
    assert limited.put(round1.result_of(1, 2), {"result": "draw"}, version=1).status_code == 200


def test_a_referee_of_another_event_may_not_write_here(round1: Play, service: Service) -> None:
    other = make_play(service)
    problem(other.referee().put(round1.result_of(1, 1), {"result": "draw"}, version=1), 403, "no-right")


@pytest.mark.parametrize("board_id", [999_999, 2**62, 2**64])
def test_a_board_that_does_not_exist_is_not_found(round1: Play, board_id: int) -> None:
    answer = round1.chief.put(f"/api/v1/boards/{board_id}/result", {"result": "draw"}, version=1)
    problem(answer, 404, "board-not-found")


def test_nobody_writes_without_an_assertion(round1: Play) -> None:
    client = round1.service.app.test_client()
    problem(client.put(round1.result_of(1, 1), json={"result": "draw"}), 401, "no-assertion")


def test_a_token_that_may_only_read_writes_nothing(round1: Play) -> None:
    referee = round1.referee()
    reader = type(referee)(app=referee.app, account_id=referee.account_id, scopes=("read",))
    problem(reader.put(round1.result_of(1, 1), {"result": "draw"}, version=1), 403, "read-only")


def test_a_hidden_event_is_unknown_to_strangers(service: Service) -> None:
    play = make_play(service, is_public=False)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3), (2, 4)])
    board = f"/api/v1/boards/{play.field.board_ids[1, 1]}"
    problem(service.public().get(board), 404, "event-not-found")
    problem(service.person(Role.REFEREE, make_play(service).field.event_id).get(board), 404, "event-not-found")
    assert play.referee().get(board).status_code == 200


@pytest.mark.parametrize("version", [2**31 - 1, 2**31, 9_999_999_999])
def test_a_version_that_no_board_or_event_can_have_is_refused_as_none(round1: Play, version: int) -> None:
    """Versions are stored, and written with one added: neither may run over its column."""
    before = round1.numbers()
    problem(round1.chief.put(round1.result_of(1, 1), {"result": "draw"}, version=version), 422, "bad-version")
    problem(round1.chief.post(f"{round1.event}/finish", version=version), 422, "bad-version")
    items = [{"board_id": round1.field.board_ids[1, 1], "version": version, "result": "draw"}]
    batch = round1.chief.put(f"{round1.round(1)}/results", {"results": items})
    problem(batch, 422, "invalid-request")
    stale = round1.chief.put(round1.result_of(1, 1), {"result": "draw"}, version=2**31 - 2)
    problem(stale, 412, "stale")
    assert round1.numbers() == before
