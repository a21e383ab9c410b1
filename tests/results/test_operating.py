"""What ops see and do, and the log of an event."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.db.jobs import BreakerRow, JobRow, JobState, KeeperRow, WorkerRow, worker_dead_seconds
from qisai.db.records import AlertRow, Severity
from qisai.kernel.model import Result
from qisai.web.requests import encode_cursor
from tests import calls, fields
from tests.results.conftest import Play, Service, make_play, problem


@pytest.fixture
def ops(service: Service) -> calls.Caller:
    with service.owner() as session:
        for table in (JobRow, WorkerRow, KeeperRow, BreakerRow, AlertRow):
            session.execute(sa.delete(table))
    return service.person(Role.OPS, name="李运维")


def add_job(play: Play, *, state: JobState = JobState.QUEUED, minutes_ago: float = 0, round_no: int = 1) -> int:
    """A job asked for some minutes ago; one that ended did so a second later."""
    then = sa.func.now() - sa.func.make_interval(0, 0, 0, 0, 0, 0, minutes_ago * 60)
    ended = state not in (JobState.QUEUED, JobState.RUNNING)
    with play.service.owner() as session:
        job = JobRow(
            event_id=play.field.event_id,
            round_no=round_no,
            state=state,
            queue="pairing.small",
            size=4,
            limits={},
            requested_by="",
            requested_at=then,
            due_at=then,
            started_at=None if state is JobState.QUEUED else then,
            finished_at=then if ended else None,
        )
        session.add(job)
        session.flush()
        return job.id


def test_the_queue_is_told_from_the_job_table(play: Play, ops: calls.Caller) -> None:
    add_job(play, state=JobState.SUCCEEDED, minutes_ago=5)
    add_job(play, state=JobState.FAILED, minutes_ago=5)
    add_job(play, minutes_ago=2)
    add_job(play, state=JobState.RUNNING, round_no=2)
    seen = ops.get("/api/v1/ops/queue").json
    assert seen["depth"] == 1
    assert 119 <= seen["oldest_due_seconds"] < 180
    assert {state: n for state, n in seen["by_state"].items() if n} == {
        "queued": 1,
        "running": 1,
        "succeeded": 1,
        "failed": 1,
    }
    assert len(seen["recent"]) == 4
    history = seen["history"]
    assert len(history) == 60
    assert (sum(m["finished"] for m in history), sum(m["failed"] for m in history)) == (1, 1)
    assert history[-6]["finished"] + history[-5]["finished"] == 1
    assert [m["waiting"] for m in history][-1] == 1
    assert max(m["waiting"] for m in history[:-4]) == 0


def test_jobs_under_way_and_in_trouble_are_listed_apart_with_their_events(play: Play, ops: calls.Caller) -> None:
    waiting = add_job(play, minutes_ago=2)
    running = add_job(play, state=JobState.RUNNING, round_no=2)
    old = add_job(play, state=JobState.FAILED, minutes_ago=90)
    young = add_job(play, state=JobState.DEGRADED, minutes_ago=10)
    add_job(play, state=JobState.SUCCEEDED)
    seen: Any = ops.get("/api/v1/ops/queue").json
    assert [job["id"] for job in seen["active"]] == [running, waiting]
    assert [job["id"] for job in seen["in_trouble"]] == [young]
    assert {job["event_name"] for job in seen["recent"]} == {"测试赛"}
    day: Any = ops.get("/api/v1/ops/queue?hours=24").json
    assert [job["id"] for job in day["in_trouble"]] == [young, old]
    assert len(day["history"]) == 60
    assert (sum(m["finished"] for m in day["history"]), sum(m["failed"] for m in day["history"])) == (2, 1)
    assert day["history"][-1]["finished"] == 2, "the last of 60 steps of 24 minutes is as long as the others"
    problem(ops.get("/api/v1/ops/queue?hours=25"), 422, "invalid-request")


def test_ops_cancel_a_job_of_any_event_and_the_log_says_who(play: Play, ops: calls.Caller) -> None:
    job_id = add_job(play)
    for _ in range(2):
        assert ops.post(f"/api/v1/ops/jobs/{job_id}/cancel").json["state"] == "cancelled"
    log: Any = play.chief.get(f"{play.event}/log?kind=audit").json
    assert [(entry["action"], entry["actor"]) for entry in log["items"]] == [("job.cancel", "李运维")]
    ended = add_job(play, state=JobState.FAILED)
    problem(ops.post(f"/api/v1/ops/jobs/{ended}/cancel"), 409, "job-ended")
    problem(ops.post("/api/v1/ops/jobs/999999/cancel"), 404, "job-not-found")
    problem(play.chief.post(f"/api/v1/ops/jobs/{job_id}/cancel"), 403, "no-right")


def test_without_a_keeper_in_time_the_queue_says_so(ops: calls.Caller, service: Service) -> None:
    def keepers() -> tuple[bool, list[str]]:
        body: Any = ops.get("/api/v1/ops/queue").json
        return body["keeper_is_late"], [keeper["name"] for keeper in body["keepers"]]

    assert keepers() == (True, [])
    machine = {"host": "h", "pid": 7, "release": "0.1.0", "late_seconds": 30}
    with service.owner() as session:
        session.add(KeeperRow(name="second", is_leading=False, **machine))
    assert keepers() == (True, ["second"])
    with service.owner() as session:
        session.add(KeeperRow(name="first", is_leading=True, **machine))
    assert keepers() == (False, ["first", "second"])
    with service.owner() as session:
        late = sa.func.now() - sa.text("interval '31 seconds'")
        session.execute(sa.update(KeeperRow).where(KeeperRow.is_leading).values(seen_at=late))
    assert keepers()[0] is True


def test_jobs_are_paged_latest_first_and_filtered(play: Play, ops: calls.Caller) -> None:
    ids = [add_job(play, state=JobState.FAILED) for _ in range(3)] + [add_job(play)]
    first = ops.get("/api/v1/ops/jobs?limit=3").json
    assert [job["id"] for job in first["items"]] == ids[:0:-1]
    second = ops.get(f"/api/v1/ops/jobs?limit=3&cursor={first['next']}").json
    assert ([job["id"] for job in second["items"]], second["next"]) == (ids[:1], None)
    failed = ops.get(f"/api/v1/ops/jobs?state=failed&event_id={play.field.event_id}").json["items"]
    assert {job["id"] for job in failed} == set(ids[:3])
    problem(ops.get("/api/v1/ops/jobs?state=asleep"), 422, "invalid-request")


@pytest.mark.parametrize("values", [["x"], [-1], [1 << 64], [0], [1, 2]])
def test_a_cursor_that_is_not_ours_is_refused(ops: calls.Caller, values: list[Any]) -> None:
    for url in ("/api/v1/ops/jobs", "/api/v1/ops/alerts"):
        problem(ops.get(f"{url}?cursor={encode_cursor(values)}"), 422, "bad-cursor")


def test_workers_are_listed_with_the_time_since_they_were_seen(ops: calls.Caller, service: Service) -> None:
    with service.owner() as session:
        worker = {"host": "h", "pid": 7, "release": "0.1.0", "algorithms": ["qisai/1"], "queues": ["pairing.small"]}
        session.add(WorkerRow(name="w1", seen_at=sa.func.now() - sa.text("interval '40 seconds'"), **worker))
    (seen,) = ops.get("/api/v1/ops/workers").json["items"]
    assert (seen["name"], seen["algorithms"], seen["queues"]) == ("w1", ["qisai/1"], ["pairing.small"])
    assert 39 <= seen["seen_seconds_ago"] < 60


@pytest.mark.parametrize(("seconds", "is_alive"), [(3, True), (17, True), (21, False), (40, False)])
def test_a_worker_lives_by_the_limit_that_the_alert_goes_by(
    ops: calls.Caller, service: Service, seconds: int, is_alive: bool
) -> None:
    with service.owner() as session:
        worker = {"host": "h", "pid": 7, "release": "0.1.0", "algorithms": ["qisai/1"], "queues": ["pairing.small"]}
        seen_at = sa.func.now() - sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)
        session.add(WorkerRow(name="w1", seen_at=seen_at, **worker))
    (seen,) = ops.get("/api/v1/ops/workers").json["items"]
    assert seen["is_alive"] is is_alive
    assert worker_dead_seconds(15) == 20


def test_a_breaker_can_be_reset_and_the_log_says_by_whom(play: Play, ops: calls.Caller) -> None:
    problem(ops.post(f"/api/v1/ops/breakers/{play.field.event_id}/reset"), 404, "breaker-not-found")
    with play.service.owner() as session:
        session.add(BreakerRow(event_id=play.field.event_id, state="open", timeouts=3, opened_at=sa.func.now()))
    assert [b["state"] for b in ops.get("/api/v1/ops/breakers").json["items"]] == ["open"]
    after = ops.post(f"/api/v1/ops/breakers/{play.field.event_id}/reset").json
    assert (after["state"], after["timeouts"], after["opened_at"], after["version"]) == ("closed", 0, None, 2)
    (entry,) = play.chief.get(f"{play.event}/log?kind=audit").json["items"]
    assert (entry["action"], entry["actor"], entry["old"]) == (
        "breaker.reset",
        "李运维",
        {"state": "open", "timeouts": 3},
    )


def test_an_alert_is_acknowledged_by_who_was_first(ops: calls.Caller, service: Service) -> None:
    with service.owner() as session:
        alert = AlertRow(kind="draw-failed", key="1:1", severity=Severity.WARNING, detail={"job": 1})
        gone = AlertRow(kind="draw-failed", key="2:1", severity=Severity.INFO, detail={}, cleared_at=sa.func.now())
        session.add_all([alert, gone])
        session.flush()
        alert_id = alert.id
    assert [a["key"] for a in ops.get("/api/v1/ops/alerts").json["items"]] == ["1:1"]
    assert len(ops.get("/api/v1/ops/alerts?open=false").json["items"]) == 2
    url = f"/api/v1/ops/alerts/{alert_id}/acknowledge"
    assert ops.post(url).json["acknowledged_by"] == "李运维"
    assert service.person(Role.OPS, name="王运维").post(url).json["acknowledged_by"] == "李运维"
    problem(ops.post("/api/v1/ops/alerts/999999/acknowledge"), 404, "alert-not-found")


def add_alerts(play: Play, *, other: int | None = None) -> None:
    """An open and a cleared alert of the event, one of another event, two of the whole platform."""
    event_id = play.field.event_id
    detail = {"slug": "solver-deadline", "detail": "The solver did not finish before its deadline.", "round": 2}
    with play.service.owner() as session:
        for kind, of, severity, more in (
            ("draw-degraded", event_id, Severity.WARNING, {"detail": detail}),
            ("draw-failed", event_id, Severity.WARNING, {"cleared_at": sa.func.now()}),
            ("draw-failed", other, Severity.WARNING, {}),
            ("no-live-worker", None, Severity.CRITICAL, {}),
            ("canary-late", None, Severity.WARNING, {}),
        ):
            if of is not None or kind != "draw-failed":
                row = {"key": f"{of or 'all'}", "severity": severity, "detail": {}, **more}
                session.add(AlertRow(kind=kind, event_id=of, **row))


def test_alerts_of_an_event_are_for_those_who_work_at_it(play: Play, ops: calls.Caller, service: Service) -> None:
    other = make_play(service)
    add_alerts(play, other=other.field.event_id)
    seen: Any = play.chief.get(f"{play.event}/alerts", headers={"Accept-Language": "zh-CN"}).json
    assert [(alert["kind"], alert["detail"]["round"]) for alert in seen["items"]] == [("draw-degraded", 2)]
    assert "时限" in seen["items"][0]["detail"]["detail"]
    assert [one["kind"] for one in play.referee().get(f"{play.event}/alerts").json["items"]] == ["draw-degraded"]
    problem(other.chief.get(f"{play.event}/alerts"), 403, "no-right")
    problem(ops.get(f"{play.event}/alerts"), 403, "no-right")
    problem(service.public().get(f"{play.event}/alerts"), 401, "sign-in-needed")


def test_who_operates_sees_the_critical_ones_of_everywhere_beside_those_of_an_event(
    play: Play, ops: calls.Caller, service: Service
) -> None:
    other = make_play(service)
    add_alerts(play, other=other.field.event_id)
    critical: Any = ops.get("/api/v1/ops/alerts?severity=critical").json
    assert [alert["kind"] for alert in critical["items"]] == ["no-live-worker"]
    problem(ops.get("/api/v1/ops/alerts?severity=loud"), 422, "invalid-request")
    admin = service.person(Role.ASSOCIATION_ADMIN)
    both: Any = admin.get(f"{play.event}/alerts").json
    assert [alert["kind"] for alert in both["items"]] == ["no-live-worker", "draw-degraded"]


def test_ops_have_no_event_data_to_write(play: Play, ops: calls.Caller) -> None:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3), (2, 4)])
    problem(ops.put(play.result_of(1, 1), {"result": "draw"}, version=1), 403, "no-right")
    problem(ops.post(f"{play.round(1)}/close", version=2), 403, "no-right")


def test_the_log_of_an_event_is_one_list_paged_without_gap_or_repeat(play: Play) -> None:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4)])
    play.chief.put(play.result_of(1, 2), {"result": "draw", "reason": "补报"}, version=1)
    problem(play.referee().put(play.result_of(1, 2), {"result": "first_win"}, version=1), 412, "stale")
    play.chief.post(f"{play.round(1)}/close", version=2)
    whole = play.chief.get(f"{play.event}/log").json["items"]
    assert [item["kind"] for item in whole] == ["audit", "conflict", "result", "result"]
    assert (whole[0]["action"], whole[2]["reason"], whole[1]["wanted"]["result"]) == (
        "round.close",
        "补报",
        "first_win",
    )
    pages, cursor = [], ""
    while True:
        page = play.chief.get(f"{play.event}/log?limit=1&cursor={cursor}").json
        pages += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    assert pages == whole
    assert [item["kind"] for item in play.chief.get(f"{play.event}/log?kind=result").json["items"]] == ["result"] * 2
    problem(play.chief.get(f"{play.event}/log?kind=gossip"), 422, "invalid-request")
    for values in (["yesterday", "audit", 1], ["2026-01-01T00:00:00", "audit", 1], ["2026-01-01T00:00:00Z", "x", 1]):
        problem(play.chief.get(f"{play.event}/log?cursor={encode_cursor(values)}"), 422, "bad-cursor")


def test_the_feed_goes_on_where_the_reader_left_off(play: Play) -> None:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3), (2, 4)])
    start = play.numbers()[0]
    for board in (1, 2):
        play.chief.put(play.result_of(1, board), {"result": "draw"}, version=1)
    page = play.service.public().get(f"{play.event}/feed?after={start}&limit=1").json
    assert ([item["feed_no"] for item in page["items"]], page["next"], page["feed_no"]) == (
        [start + 1],
        str(start + 1),
        start + 2,
    )
    rest = play.service.public().get(f"{play.event}/feed?after={page['next']}").json
    assert ([item["feed_no"] for item in rest["items"]], rest["next"]) == ([start + 2], None)
