"""Results of many boards in one request: each board stands or falls alone, by the same path as a single one."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from qisai.db.rounds import RoundState
from qisai.kernel.model import Result
from tests import fields
from tests.results.conftest import Play, Service, make_play, problem


@pytest.fixture
def round1(service: Service) -> Play:
    """Round 1 of eight: 1–5 … 4–8 on boards 1 … 4."""
    play = make_play(service, entrants=8)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(i, i + 4) for i in range(1, 5)])
    return play


def item(play: Play, board: int, result: str | None, *, version: int = 1, round_no: int = 1, **more: Any) -> Any:
    return {"board_id": play.field.board_ids[round_no, board], "version": version, "result": result, **more}


def statuses(answer: Any) -> list[int]:
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return [entry["status"] for entry in answer.json["items"]]


def test_each_board_of_a_batch_stands_or_falls_alone_and_says_so(round1: Play) -> None:
    url = f"{round1.round(1)}/results"
    other = make_play(round1.service)
    with round1.service.owner() as session:
        fields.add_round(session, other.field, pairs=[(1, 3), (2, 4)])
    round1.referee().put(round1.result_of(1, 2), {"result": "draw"}, version=1)
    feed_no, _ = round1.numbers()
    items = [
        item(round1, 1, "first_win", reason="补录", note="成绩单第一页"),
        item(round1, 2, "second_win"),
        item(round1, 3, "void", version=1, swapped=True),
        {**item(round1, 4, "draw"), "board_id": 999_999},
        item(other, 1, "draw"),
    ]
    answer = round1.referee(name="李裁判", device="手机3").put(url, {"results": items})
    assert statuses(answer) == [200, 412, 200, 404, 404]
    first, stale, third, unknown, _foreign = answer.json["items"]
    assert (first["board"]["result"], first["board"]["version"], first["board"]["updated_by"]) == (
        "first_win",
        2,
        "李裁判",
    )
    assert stale["problem"]["current"]["result"] == "draw"
    assert stale["problem"]["type"] == "urn:qisai:problem:stale"
    assert (third["board"]["swapped"], unknown["problem"]["status"]) == (True, 404)
    assert round1.numbers()[0] == feed_no + 2
    log = round1.chief.get(f"/api/v1/boards/{round1.field.board_ids[1, 1]}/log").json["items"]
    assert [(entry["actor"], entry["device"], entry["reason"]) for entry in log] == [("李裁判", "手机3", "补录")]
    refused = round1.chief.get(f"/api/v1/boards/{round1.field.board_ids[1, 2]}/log").json["conflicts"]
    assert [entry["wanted"]["result"] for entry in refused] == ["second_win"]
    assert other.chief.get(f"/api/v1/boards/{other.field.board_ids[1, 1]}").json["version"] == 1


def test_taking_many_results_back_is_logged_board_by_board(round1: Play) -> None:
    url = f"{round1.round(1)}/results"
    referee = round1.referee()
    referee.put(url, {"results": [item(round1, board, "draw") for board in range(1, 5)]})
    emptied = [item(round1, board, None, version=2, reason="录错轮次") for board in range(1, 5)]
    assert statuses(referee.put(url, {"results": emptied})) == [200] * 4
    query = "SELECT old->>'result' AS old, new->>'result' AS new, reason FROM result_log"
    rows = round1.service.rows(f"{query} WHERE event_id = :id AND version = 3", id=round1.field.event_id)
    assert [(row.old, row.new, row.reason) for row in rows] == [("draw", None, "录错轮次")] * 4


def test_a_batch_sent_again_after_a_lost_answer_changes_and_logs_nothing(round1: Play) -> None:
    url, referee = f"{round1.round(1)}/results", round1.referee(device="手机1")
    body = {"results": [item(round1, board, "draw") for board in (1, 2)]}
    first = referee.put(url, body)
    before = round1.numbers()
    again = referee.put(url, body)
    assert (statuses(again), again.json) == ([200, 200], first.json)
    assert round1.numbers() == before


def test_a_referee_of_some_boards_writes_only_those_of_a_batch(round1: Play) -> None:
    limited = round1.referee(boards=(2, 3))
    answer = limited.put(f"{round1.round(1)}/results", {"results": [item(round1, b, "draw") for b in range(1, 5)]})
    assert statuses(answer) == [403, 200, 200, 403]


def test_a_batch_in_a_closed_round_is_refused_board_by_board(round1: Play) -> None:
    with round1.service.owner() as session:
        session.execute(
            sa.text("UPDATE round SET state = 'closed' WHERE event_id = :id"), {"id": round1.field.event_id}
        )
    answer = round1.chief.put(f"{round1.round(1)}/results", {"results": [item(round1, 1, "draw")]})
    assert statuses(answer) == [409]
    assert answer.json["items"][0]["problem"]["type"].endswith(":round-closed")


def test_corrections_in_a_batch_need_the_chief_and_a_reason(service: Service) -> None:
    play = make_play(service)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)])
        fields.add_round(session, play.field, pairs=[(1, 2), (3, 4)], state=RoundState.PUBLISHED)
    url = f"{play.round(1)}/results"
    late = [item(play, 1, "first_win", version=2), item(play, 2, "first_win", version=2, reason="复核")]
    assert statuses(play.referee().put(url, {"results": late})) == [403, 403]
    assert statuses(play.chief.put(url, {"results": late})) == [422, 200]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"results": []},
        {"results": [{"board_id": 1, "result": "draw"}]},
        {"results": [{"board_id": 1, "version": 1}]},
    ],
)
def test_a_batch_that_names_no_version_or_no_result_is_refused_whole(round1: Play, body: Any) -> None:
    problem(round1.referee().put(f"{round1.round(1)}/results", body), 422, "invalid-request")


def test_results_of_a_withdrawn_entrants_games_are_taken(round1: Play) -> None:
    with round1.service.owner() as session:
        values = {"id": round1.field.entrant_ids[5]}
        session.execute(sa.text("UPDATE entrant SET state = 6, withdrawn_from = 2 WHERE id = :id"), values)
    answer = round1.referee().put(round1.result_of(1, 1), {"result": "second_forfeit"}, version=1)
    assert (answer.status_code, answer.json["second"]["number"]) == (200, 5)
    rows = round1.chief.get(f"{round1.event}/standings").json["rows"]
    assert {row["number"]: row["points"] for row in rows}[1] == 1
