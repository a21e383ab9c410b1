"""Everything that happened in an event, by whom: narrowed down, paged, and as a sheet that is safe to open."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
import sqlalchemy as sa

from qisai.db.entrants import EntrantState, TransitionRow
from qisai.kernel.model import Result
from tests import fields
from tests.results.conftest import Play, problem


@pytest.fixture
def busy(play: Play) -> Play:
    """Two rounds; a result, a refused one, a correction, a closing, a step of an entrant, an adjustment."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4)])
    play.referee(name="李裁判", device="手机3").put(play.result_of(1, 2), {"result": "draw"}, version=1)
    play.referee(name="吴裁判").put(play.result_of(1, 2), {"result": "first_win"}, version=1)
    play.chief.put(play.result_of(1, 1), {"result": "first_win", "reason": "=复核"}, version=2)
    play.chief.post(f"{play.round(1)}/close", version=2)
    with play.service.owner() as session:
        entrant = play.field.entrant_ids[4]
        step = {"from_state": EntrantState.SEATED, "to_state": EntrantState.WITHDRAWN, "reason": "生病"}
        session.add(
            TransitionRow(event_id=play.field.event_id, entrant_id=entrant, actor_name="报到处", device="平板1", **step)
        )
    adjustment = {"entrant_id": entrant, "points": -0.5, "after_round": 1, "reason": "弃赛"}
    play.chief.post(f"{play.event}/adjustments", adjustment)
    return play


def kinds(play: Play, query: str) -> list[str]:
    answer = play.chief.get(f"{play.event}/log?{query}")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return [item["kind"] for item in answer.json["items"]]


def test_the_log_has_every_kind_latest_first_and_says_what_it_is_about(busy: Play) -> None:
    items = busy.chief.get(f"{busy.event}/log").json["items"]
    assert [item["kind"] for item in items] == [
        "audit", "transition", "audit", "result", "conflict", "result", "result",
    ]  # fmt: skip
    adjusted, step, closed, corrected, refused, _written, _imported = items
    assert (adjusted["action"], adjusted["round"], adjusted["entrant_id"]) == (
        "points.adjust",
        1,
        busy.field.entrant_ids[4],
    )
    assert (step["from"], step["to"], step["actor"]) == ("seated", "withdrawn", "报到处")
    assert step["device"] == "平板1"
    assert (closed["action"], closed["round"]) == ("round.close", 1)
    assert (corrected["board"], corrected["old"]["result"], corrected["new"]["result"]) == (1, "draw", "first_win")
    assert (refused["actor"], refused["wanted"]["result"]) == ("吴裁判", "first_win")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("kind=transition", ["transition"]),
        ("actor=李", ["result"]),
        ("actor=裁判", ["audit", "audit", "result", "conflict", "result"]),
        ("action=round.", ["audit"]),
        ("action=round.&kind=result", []),
        ("round=1", ["audit", "audit", "result", "conflict", "result", "result"]),
        ("round=2", []),
        ("entrant_id={4}", ["audit", "transition", "conflict", "result"]),
        ("entrant_id={3}", ["result", "result"]),
        ("board_id={b1}", ["result", "result"]),
        ("since=2000-01-01T00:00:00Z&until=2000-01-02T00:00:00Z", []),
        ("since=2000-01-01T00:00:00Z&kind=conflict", ["conflict"]),
    ],
)
def test_the_log_is_narrowed_down(busy: Play, query: str, found: list[str]) -> None:
    ids = {"{4}": busy.field.entrant_ids[4], "{3}": busy.field.entrant_ids[3], "{b1}": busy.field.board_ids[1, 1]}
    for name, value in ids.items():
        query = query.replace(name, str(value))
    assert kinds(busy, query) == found


def test_a_narrowed_log_is_paged(busy: Play) -> None:
    first = busy.chief.get(f"{busy.event}/log?round=1&limit=4").json
    second = busy.chief.get(f"{busy.event}/log?round=1&limit=4&cursor={first['next']}").json
    assert ([len(first["items"]), len(second["items"])], second["next"]) == ([4, 2], None)


@pytest.mark.parametrize(
    "query",
    ["kind=x", "round=0", "since=2026-01-01T00:00:00", "until=yesterday", "board_id=x", "actor=", "actor=%00"],
)
def test_a_filter_of_another_form_is_refused(busy: Play, query: str) -> None:
    problem(busy.chief.get(f"{busy.event}/log?{query}"), 422, "invalid-request")
    problem(busy.chief.get(f"{busy.event}/log/csv?{query}"), 422, "invalid-request")


def sheet(answer: Any) -> list[list[str]]:
    assert answer.status_code == 200
    assert answer.data.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(answer.data.decode("utf-8-sig"))))


def test_the_sheet_has_every_row_in_the_readers_language_and_no_formula(busy: Play) -> None:
    chinese = sheet(busy.chief.get(f"{busy.event}/log/csv", headers={"Accept-Language": "zh-CN"}))
    assert chinese[0][:3] == ["时间（UTC）", "类别", "操作人"]
    assert len(chinese) == 8
    lines = sheet(busy.chief.get(f"{busy.event}/log/csv?kind=result&board_id={busy.field.board_ids[1, 1]}"))
    corrected = dict(zip(lines[0], lines[1], strict=True))
    assert (corrected["Kind"], corrected["Who"], corrected["Round"], corrected["Board"]) == (
        "result",
        "孙裁判长",
        "1",
        "1",
    )
    assert (corrected["Before"], corrected["After"]) == (
        "result: draw; swapped: false",
        "result: first_win; swapped: false",
    )
    assert corrected["Reason"] == "'=复核"
    step = sheet(busy.chief.get(f"{busy.event}/log/csv?kind=transition"))[1]
    assert step[6:] == ["棋手4", "", "seated", "withdrawn", "生病"]


def test_the_sheet_goes_on_behind_one_page(busy: Play) -> None:
    """Pins the cursor between the pages that the sheet is read in: many rows of one moment."""
    with busy.service.owner() as session:
        session.execute(
            sa.text(
                "INSERT INTO audit_log (event_id, action, subject, actor_name)"
                " SELECT :id, 'test.' || n, 'event:1', 'x' FROM generate_series(1, 2300) n"
            ),
            {"id": busy.field.event_id},
        )
    lines = sheet(busy.chief.get(f"{busy.event}/log/csv?action=test."))
    assert len({line[7] for line in lines[1:]}) == len(lines) - 1 == 2300


def test_the_log_is_for_those_who_work_at_the_event(busy: Play) -> None:
    problem(busy.service.public().get(f"{busy.event}/log/csv"), 401, "sign-in-needed")
