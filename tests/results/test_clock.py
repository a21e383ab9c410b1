"""The clock of a round runs by the server's time and stands while it is paused."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from qisai.kernel.model import Result
from tests import fields
from tests.results.conftest import Play, problem


@pytest.fixture
def round1(play: Play) -> Play:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)])
    return play


def clock(play: Play, action: str, *, version: int, seconds: int | None = None) -> Any:
    body = {"action": action} | ({} if seconds is None else {"seconds": seconds})
    return play.chief.post(f"{play.round(1)}/clock", body, version=version)


def let_pass(play: Play, seconds: int) -> None:
    """As if that much time had passed since: moves what was stored, never anybody's clock."""
    with play.service.owner() as session:
        earlier = sa.text("UPDATE round SET clock_ends_at = clock_ends_at - make_interval(secs => :s) WHERE id = :id")
        session.execute(earlier, {"s": seconds, "id": play.field.round_ids[1]})


def shown(play: Play) -> Any:
    return play.service.public().get(play.round(1)).json["clock"]


def test_a_clock_runs_pauses_and_goes_on_where_it_stood(round1: Play) -> None:
    assert shown(round1) is None
    started = clock(round1, "start", version=2, seconds=3600).json
    assert (started["version"], started["clock"]["runs"]) == (3, True)
    let_pass(round1, 600)
    assert shown(round1)["left_seconds"] == pytest.approx(3000, abs=5)
    assert shown(round1)["ends_at"] > shown(round1)["now"]
    paused = clock(round1, "pause", version=3).json["clock"]
    assert (paused["runs"], paused["ends_at"]) == (False, None)
    let_pass(round1, 600)  # nothing runs
    assert shown(round1)["left_seconds"] == paused["left_seconds"] == pytest.approx(3000, abs=5)
    clock(round1, "adjust", version=4, seconds=-60)
    assert shown(round1)["left_seconds"] == pytest.approx(2940, abs=5)
    assert clock(round1, "resume", version=5).json["clock"]["runs"] is True
    let_pass(round1, 4000)
    assert shown(round1)["left_seconds"] == 0
    assert clock(round1, "stop", version=6).json["clock"] is None
    actions = [item["new"]["action"] for item in round1.chief.get(f"{round1.event}/log?kind=audit").json["items"]]
    assert actions == ["stop", "resume", "adjust", "pause", "start"]


def test_a_clock_is_set_as_it_was_read_and_only_where_it_makes_sense(round1: Play) -> None:
    problem(clock(round1, "start", version=1, seconds=60), 412, "stale")
    problem(clock(round1, "pause", version=2), 409, "no-clock")
    problem(clock(round1, "start", version=2), 422, "invalid-request")
    problem(clock(round1, "start", version=2, seconds=-1), 422, "invalid-request")
    problem(clock(round1, "start", version=2, seconds=10**6), 422, "invalid-request")
    clock(round1, "start", version=2, seconds=60)
    problem(clock(round1, "resume", version=3), 409, "clock-runs")
    problem(clock(round1, "adjust", version=3, seconds=-120), 422, "invalid-request")
    clock(round1, "pause", version=3)
    problem(clock(round1, "pause", version=4), 409, "clock-stands")
    referee = round1.referee()
    problem(referee.post(f"{round1.round(1)}/clock", {"action": "resume"}, version=4), 403, "no-right")


def test_a_closed_round_has_no_clock(round1: Play) -> None:
    clock(round1, "start", version=2, seconds=60)
    assert round1.chief.post(f"{round1.round(1)}/close", version=3).json["clock"] is None
    problem(clock(round1, "start", version=4, seconds=60), 409, "round-closed")
