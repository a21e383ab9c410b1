"""Worked by hand: a correction three rounds back, and an adjourned game that ends after the next round is published."""

from __future__ import annotations

from typing import Any

import pytest

from qisai.db.rounds import RoundState
from qisai.kernel.model import Result
from tests import fields
from tests.results.conftest import Play, Service, make_play, problem

WIN, LOSS, DRAW = Result.FIRST_WIN, Result.SECOND_WIN, Result.DRAW
ROUNDS = (
    [(1, 4, WIN), (2, 5, WIN), (3, 6, DRAW)],
    [(1, 2, WIN), (4, 3, WIN), (5, 6, DRAW)],
    [(1, 3, DRAW), (4, 2, WIN), (6, 5, LOSS)],
    [(4, 1, DRAW), (2, 6, WIN), (5, 3, WIN)],
)
"""Six entrants. Points after each round, added up from the pairs above by hand:"""
POINTS = {
    1: [1, 2, 2.5, 3],
    2: [1, 1, 1, 2],
    3: [0.5, 0.5, 1, 1],
    4: [0, 1, 2, 2.5],
    5: [0, 0.5, 1.5, 2.5],
    6: [0.5, 1, 1, 1],
}


@pytest.fixture
def four(service: Service) -> Play:
    """Four rounds, the last one open."""
    play = make_play(service, entrants=6)
    with service.owner() as session:
        for number, pairs in enumerate(ROUNDS, start=1):
            state = RoundState.PUBLISHED if number == len(ROUNDS) else RoundState.CLOSED
            fields.add_round(session, play.field, pairs=pairs, state=state)
    return play


def points(play: Play) -> dict[int, list[float]]:
    """Points by number after each round, as everybody sees them."""
    tables = [play.service.public().get(f"{play.event}/standings?after={after}").json for after in (1, 2, 3, 4)]
    by_number: list[dict[int, float]] = [{row["number"]: row["points"] for row in table["rows"]} for table in tables]
    return {number: [table[number] for table in by_number] for number in POINTS}


def test_a_correction_three_rounds_back_is_in_every_later_table_and_in_the_log(four: Play) -> None:
    assert points(four) == POINTS
    url, reason = four.result_of(1, 1), "记录纸为黑胜"
    problem(four.chief.put(url, {"result": "second_win", "reason": reason}, version=2), 409, "round-closed")
    looked: Any = four.chief.post(url.replace("/result", "/correction/preview"), {"result": "second_win"}).json
    assert [one["round"] for one in looked["later_rounds"]] == [2, 3, 4]
    assert {move["number"]: move["new"]["points"] for move in looked["moves"] if move["number"] in (1, 4)} == {
        1: 2,
        4: 3.5,
    }
    assert all(pair["first"]["name"] and pair["second"]["name"] for pair in looked["later_rounds"][0]["differs"])
    assert looked["later_rounds"][0]["differs"], "1 and 4 have other scores in round 2"
    assert four.chief.post(f"{four.round(1)}/reopen", {"reason": reason}, version=3).status_code == 200
    problem(four.referee().put(url, {"result": "second_win", "reason": reason}, version=2), 403, "needs-chief-referee")
    problem(four.chief.put(url, {"result": "second_win"}, version=2), 422, "reason-needed")
    assert four.chief.put(url, {"result": "second_win", "reason": reason}, version=2).status_code == 200
    corrected = POINTS | {1: [n - 1 for n in POINTS[1]], 4: [n + 1 for n in POINTS[4]]}
    assert points(four) == corrected
    boards = [four.chief.get(f"{four.round(number)}/boards").json["items"] for number in (2, 3, 4)]
    assert [[(b["first"]["number"], b["second"]["number"], b["result"]) for b in items] for items in boards] == [
        [(first, second, result.value) for first, second, result in pairs] for pairs in ROUNDS[1:]
    ]
    (entry,) = four.chief.get(f"{four.event}/log?kind=result&board_id={four.field.board_ids[1, 1]}&limit=1").json[
        "items"
    ]
    assert (entry["old"]["result"], entry["new"]["result"]) == ("first_win", "second_win")
    assert (entry["reason"], entry["actor"], entry["round"]) == (reason, "孙裁判长", 1)


def test_an_adjourned_game_counts_nothing_until_it_ends_in_a_later_round(service: Service) -> None:
    play = make_play(service, entrants=4)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3), (2, 4, WIN)])
    referee = play.referee()
    assert referee.put(play.result_of(1, 1), {"result": "adjourned"}, version=1).status_code == 200
    assert play.chief.post(f"{play.round(1)}/close", {}, version=2).status_code == 200
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 2), (3, 4)])

    def after(number: int) -> dict[int, float]:
        rows = service.public().get(f"{play.event}/standings?after={number}").json["rows"]
        return {row["number"]: row["points"] for row in rows}

    assert after(1) == after(2) == {1: 0, 2: 1, 3: 0, 4: 0}
    assert play.chief.post(f"{play.round(1)}/reopen", {"reason": "续弈"}, version=3).status_code == 200
    ended = {"result": "draw", "reason": "续弈和棋"}
    problem(referee.put(play.result_of(1, 1), ended, version=2), 403, "needs-chief-referee")
    assert play.chief.put(play.result_of(1, 1), ended, version=2).status_code == 200
    assert after(1) == after(2) == {1: 0.5, 2: 1, 3: 0.5, 4: 0}
    log: Any = play.chief.get(f"/api/v1/boards/{play.field.board_ids[1, 1]}/log").json
    assert [entry["new"]["result"] for entry in log["items"]] == ["adjourned", "draw"]
