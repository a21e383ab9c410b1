"""A correction of an earlier round: looked at first, then written by the same path as every result."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from qisai.db.events import EventRow, EventState
from qisai.db.rounds import RoundState
from qisai.kernel.model import Result
from tests import fields
from tests.results.conftest import Play, Service, make_play, problem

WIN = Result.FIRST_WIN


@pytest.fixture
def three(service: Service) -> Play:
    """Six entrants, three rounds, all played and closed but the third: the first ones won throughout."""
    play = make_play(service, entrants=6)
    with service.owner() as session:
        closed = {"state": RoundState.CLOSED}
        fields.add_round(session, play.field, pairs=[(1, 6, WIN), (2, 5, WIN), (3, 4, WIN)], **closed)
        fields.add_round(session, play.field, pairs=[(1, 2, WIN), (3, 6, WIN), (4, 5, WIN)], **closed)
        fields.add_round(session, play.field, pairs=[(1, 3, WIN), (2, 4, WIN), (5, 6, WIN)])
    return play


def correction(play: Play, board: int = 1, round_no: int = 1) -> str:
    return f"/api/v1/boards/{play.field.board_ids[round_no, board]}/correction"


def preview(play: Play, board: int, result: str | None, round_no: int = 1) -> dict[str, object]:
    url = f"/api/v1/boards/{play.field.board_ids[round_no, board]}/correction/preview"
    answer = play.chief.post(url, {"result": result})
    assert answer.status_code == 200, answer.get_data(as_text=True)
    body: dict[str, object] = answer.json
    return body


def test_a_preview_says_whose_line_moves_and_writes_nothing(three: Play) -> None:
    before = three.numbers()
    old = {row["number"]: row for row in three.chief.get(f"{three.event}/standings").json["rows"]}
    body = preview(three, 1, "second_win")
    moved = {move["number"]: move for move in body["moves"]}
    assert (moved[1]["old"]["points"], moved[1]["new"]["points"]) == (3, 2)
    assert (moved[6]["old"]["points"], moved[6]["new"]["points"]) == (0, 1)
    assert moved[1]["old"]["rank"] == old[1]["rank"] == 1
    assert moved[2]["old"]["values"]["opponents"] > moved[2]["new"]["values"]["opponents"]  # whoever met number 1
    assert (body["old"]["result"], body["new"]["result"], body["after"]) == ("first_win", "second_win", 3)
    assert [(one["round"], one["method"]) for one in body["later_rounds"]] == [(2, "paired_again"), (3, "paired_again")]
    assert body["blockers"] == []
    assert three.numbers() == before


def test_the_table_after_the_correction_is_the_one_that_was_previewed(three: Play) -> None:
    body = preview(three, 1, "second_win")
    before = {row["number"]: row for row in three.chief.get(f"{three.event}/standings").json["rows"]}
    written = three.chief.put(correction(three), {"result": "second_win", "reason": "记录纸为黑胜"}, version=2)
    assert written.status_code == 200
    assert three.chief.get(three.round(1)).json["state"] == "closed"
    after = {row["number"]: row for row in three.chief.get(f"{three.event}/standings").json["rows"]}
    for move in body["moves"]:
        row = after[move["number"]]
        assert (row["rank"], row["points"], row["values"]) == tuple(
            move["new"][n] for n in ("rank", "points", "values")
        )
    unmoved = after.keys() - {move["number"] for move in body["moves"]}
    assert {number: after[number] for number in unmoved} == {number: before[number] for number in unmoved}
    boards = three.chief.get(f"{three.round(2)}/boards").json["items"]
    assert [(b["first"]["number"], b["second"]["number"]) for b in boards] == [(1, 2), (3, 6), (4, 5)]  # as published
    (entry,) = [e for e in three.chief.get(f"{three.event}/log?kind=result").json["items"] if e["version"] == 3]
    assert (entry["reason"], entry["old"]["result"], entry["new"]["result"]) == (
        "记录纸为黑胜",
        "first_win",
        "second_win",
    )


def test_boards_that_a_first_correction_made_different_are_still_shown_with_the_second(three: Play) -> None:
    """Round 2 is 1–2, 3–6, 4–5, made by hand: what is shown differs from what was published, not from today's draw."""
    (first, _) = preview(three, 1, "second_win")["later_rounds"]
    assert first["agreed_before"] is False
    shown = {one["board"]: one["differed_before"] for one in first["differs"]}
    wanted = {"result": "second_win", "reason": "记录纸为黑胜"}
    assert three.chief.put(correction(three), wanted, version=2).status_code == 200
    (second, _) = preview(three, 1, "second_win")["later_rounds"]  # as it is now
    assert {one["board"]: one["differed_before"] for one in second["differs"]} == dict.fromkeys(shown, True)


def test_sides_alone_can_be_corrected(three: Play) -> None:
    url = f"/api/v1/boards/{three.field.board_ids[3, 1]}/correction/preview"
    body = three.chief.post(url, {"result": "first_win", "swapped": True}).json
    moved = {move["number"]: move for move in body["moves"]}
    assert (moved[1]["new"]["points"], moved[3]["new"]["points"], body["later_rounds"]) == (2, 3, [])


def test_a_preview_is_the_chiefs(three: Play) -> None:
    url = f"/api/v1/boards/{three.field.board_ids[1, 1]}/correction/preview"
    problem(three.referee().post(url, {"result": "draw"}), 403, "no-right")
    problem(three.chief.post(url, {}), 422, "invalid-request")
    problem(three.chief.post("/api/v1/boards/999999/correction/preview", {"result": "draw"}), 404, "board-not-found")


def test_a_closed_round_takes_a_correction_of_the_chief_with_a_reason_and_nothing_else(three: Play) -> None:
    draw = {"result": "draw"}
    problem(three.referee().put(correction(three), {**draw, "reason": "看错"}, version=2), 403, "no-right")
    problem(three.chief.put(correction(three), draw, version=2), 422, "invalid-request")
    problem(three.chief.put(correction(three), {**draw, "reason": ""}, version=2), 422, "invalid-request")
    problem(three.chief.put(correction(three), {**draw, "reason": "看错"}), 428, "version-needed")
    problem(three.chief.put(correction(three), {**draw, "reason": "看错"}, version=1), 412, "stale")
    problem(three.chief.put(three.result_of(1, 1), {**draw, "reason": "看错"}, version=2), 409, "round-closed")
    assert three.chief.get(f"{three.round(1)}/boards").json["items"][0]["result"] == "first_win"


def test_a_finished_event_takes_no_correction_until_it_goes_on(three: Play) -> None:
    with three.service.owner() as session:
        session.execute(sa.update(EventRow).values(state=EventState.FINISHED))
    wanted = {"result": "draw", "reason": "看错"}
    assert [one["slug"] for one in preview(three, 1, "draw")["blockers"]] == ["event-not-running"]
    problem(three.chief.put(correction(three), wanted, version=2), 409, "event-not-running")
    assert three.chief.get(f"{three.round(1)}/boards").json["items"][0]["result"] == "first_win"
    with three.service.owner() as session:
        session.execute(sa.update(EventRow).values(state=EventState.RUNNING))
    assert three.chief.put(correction(three), wanted, version=2).status_code == 200
