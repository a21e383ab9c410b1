"""Points given or taken by the chief referee: recorded, shown, taken back, in standings and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from qisai.db.accounts import Role
from qisai.db.events import EventRow, EventState
from qisai.kernel.model import Result
from tests import fields
from tests.results.conftest import Play, problem


@pytest.fixture
def round1(play: Play) -> Play:
    """Round 1 played: 1 beat 3, 2 beat 4."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.FIRST_WIN), (2, 4, Result.FIRST_WIN)])
        fields.add_draft(session, play.field, round_no=2, pairs=[(1, 2), (3, 4)])
    return play


def decide(play: Play, number: int = 1, points: Any = -0.5, **more: Any) -> Any:
    body = {"entrant_id": play.field.entrant_ids[number], "points": points, "after_round": 1, "reason": "迟到", **more}
    return play.chief.post(f"{play.event}/adjustments", body)


def points(play: Play) -> dict[int, float]:
    return {row["number"]: row["points"] for row in play.chief.get(f"{play.event}/standings").json["rows"]}


def test_a_penalty_moves_the_place_and_is_shown_with_its_reason(round1: Play) -> None:
    feed_no, pairing_no = round1.numbers()
    made = decide(round1)
    assert (made.status_code, made.json["points"], made.json["made_by"]) == (201, -0.5, "孙裁判长")
    assert points(round1) == {1: 0.5, 2: 1, 3: 0, 4: 0}
    terms = round1.chief.get(f"{round1.event}/standings/1").json["criteria"][0]["terms"]
    assert [(term["reason"], term["value"]) for term in terms] == [("points", 1), ("adjustment", -0.5)]
    assert round1.numbers() == (feed_no + 1, pairing_no)  # the draft of round 2 is as good as before
    assert round1.chief.get(f"{round1.round(2)}/draws/1").json["stale"] is False
    (log,) = round1.chief.get(f"{round1.event}/log?kind=audit").json["items"]
    assert (log["action"], log["reason"], log["new"]["points"]) == ("points.adjust", "迟到", -0.5)
    (entry,) = round1.chief.get(f"{round1.event}/feed?after={feed_no}").json["items"]
    assert "reason" not in entry["data"]  # the feed is public


def test_a_decision_taken_back_counts_no_more_and_stays_on_record(round1: Play) -> None:
    """Pins version and state of the decision."""
    made = decide(round1, points=1).json
    url = f"{round1.event}/adjustments/{made['id']}/take-back"
    problem(round1.chief.post(url, {"reason": "申诉成立"}), 428, "version-needed")
    problem(round1.chief.post(url, {}, version=1), 422, "invalid-request")
    back = round1.chief.post(url, {"reason": "申诉成立"}, version=1)
    assert (back.json["taken_back_by"], back.json["taken_back_reason"], back.json["version"]) == (
        "孙裁判长",
        "申诉成立",
        2,
    )
    assert points(round1)[1] == 1
    problem(round1.chief.post(url, {"reason": "申诉成立"}, version=1), 412, "stale")
    problem(round1.chief.post(url, {"reason": "申诉成立"}, version=2), 409, "adjustment-taken-back")
    assert len(round1.chief.get(f"{round1.event}/adjustments").json["items"]) == 1


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"points": 0}, "/points"),
        ({"points": 0.25}, "/points"),
        ({"points": 101}, "/points"),
        ({"points": "1"}, "/points"),
        ({"after_round": 0}, "/after_round"),
        ({"reason": ""}, "/reason"),
    ],
)
def test_a_decision_of_another_form_is_refused(round1: Play, change: dict[str, Any], pointer: str) -> None:
    body = problem(decide(round1, **change), 422, "invalid-request")
    assert pointer in [fault["pointer"] for fault in body["errors"]]


def test_a_decision_needs_a_published_round_a_running_event_and_the_chief(round1: Play) -> None:
    problem(decide(round1, after_round=2), 409, "round-not-published")
    problem(decide(round1, entrant_id=999_999), 404, "entrant-not-found")
    body = {"entrant_id": round1.field.entrant_ids[1], "points": 1, "after_round": 1, "reason": "x"}
    problem(round1.referee().post(f"{round1.event}/adjustments", body), 403, "no-right")
    with round1.service.owner() as session:
        session.get_one(EventRow, round1.field.event_id).state = EventState.FINISHED
    before = round1.numbers()
    problem(decide(round1), 409, "event-not-running")
    assert (round1.numbers(), points(round1)[1]) == (before, 1)


def test_a_file_carries_adjustments_and_only_staff_read_why(round1: Play) -> None:
    decide(round1)
    public = round1.service.public().get(f"{round1.event}/exports/json").json
    assert public["adjustments"] == [{"entrant": 1, "points": -0.5, "after_round": 1, "reason": ""}]
    whole = round1.chief.get(f"{round1.event}/exports/json").json
    assert whole["adjustments"][0]["reason"] == "迟到"
    organiser = round1.service.person(Role.ORGANISER)
    made = organiser.post("/api/v1/events/imports/json", whole)
    rows = organiser.get(f"/api/v1/events/{made.json['id']}/standings").json["rows"]
    assert {row["number"]: row["points"] for row in rows} == points(round1)
