"""A solver that never ends, eats memory, crashes, lies or is stopped: the job ends in words and the worker lives."""

from __future__ import annotations

import os
import signal
from typing import Any

import psutil
import pytest

from qisai.db.jobs import JobState
from tests import fields
from tests.faults.play import Play, is_the_draw, make_play
from tests.faults.stage import ATTEMPTS, Stage, soon
from tests.servers import comes_true

FAILED = JobState.FAILED


def gone(pid: int) -> bool:
    """Whether a process has ended."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def draws_again(play: Play, kind: str) -> None:
    """With a solver that works the same workers draw the round, and the alert goes."""
    play.stage.steer("normal")
    job_id = play.ask()
    play.stage.ends(job_id)
    is_the_draw(play, job_id)
    play.stage.alert_clears(kind, play.key)


def test_a_solver_that_never_ends_is_killed_at_its_deadline(stage: Stage, play: Play) -> None:
    """It ignores SIGTERM and burns a core; only SIGKILL from outside ends it."""
    pids = [worker.pid for worker in stage.workers]
    stage.steer("hang")
    job_id = play.ask(deadline_ms=1_000)
    solver = stage.held(job_id)
    os.kill(solver, signal.SIGTERM)
    assert not comes_true(lambda: gone(solver), seconds=0.2), "the fault is real: it does not listen"
    job = stage.ends(job_id, FAILED)
    assert job.outcome is not None
    assert job.outcome["slug"] == "solver-deadline"
    assert "by hand" in job.outcome["detail"]
    assert gone(solver)
    stage.alert_opens("draw-failed", play.key)
    assert ("alert.raised", "draw-failed") in [(kind, data.get("alert")) for kind, data in play.feed()]
    draws_again(play, "draw-failed")
    assert [worker.pid for worker in stage.workers if worker.is_alive()] == pids


def test_a_solver_that_stops_after_a_draw_leaves_a_degraded_one(stage: Stage, play: Play) -> None:
    stage.steer("draw-then-hang")
    job_id = play.ask(deadline_ms=3_000)
    solver = stage.held(job_id)

    def shown() -> dict[str, Any]:
        job: Any = play.chief.get(f"/api/v1/jobs/{job_id}", headers={"Accept-Language": "zh-TW"}).json
        return dict(job)

    soon(lambda: bool((shown()["progress"] or {}).get("best")))
    seen = shown()
    assert (seen["state"], seen["progress"]["stage"], seen["progress"]["entrants"]) == ("running", "search", 10)
    assert {"cross_pairs", "max_gap"} <= seen["progress"]["best"].keys(), "the tuple of the best draw so far"
    job = stage.ends(job_id, JobState.DEGRADED)
    assert shown()["outcome"]["detail"].startswith("計算未能在時限內完成。這是到那時為止找到的最好編排")
    assert gone(solver)
    assert job.outcome is not None
    assert job.outcome["rung"] == "this_run"
    stage.alert_opens("draw-degraded", play.key)
    assert play.publish().status_code == 409, "it must be accepted first"
    stage.steer("normal")
    assert play.accept().status_code == 200
    assert play.publish().status_code == 200
    stage.alert_clears("draw-degraded", play.key)


@pytest.mark.parametrize(("behaviour", "reason"), [("crash", "signal 11"), ("eat-memory", "out of memory")])
def test_a_solver_that_crashes_or_eats_memory_is_tried_again_and_then_given_up(
    stage: Stage, play: Play, behaviour: str, reason: str
) -> None:
    """4 GB are asked for and 700 MB allowed; the worker and the machine do not notice. The deadline is far away."""
    pids = [worker.pid for worker in stage.workers]
    stage.steer(behaviour)
    job_id = play.ask(deadline_ms=60_000)
    solvers = set()
    for _ in range(ATTEMPTS):
        solvers.add(stage.held(job_id))
    job = stage.ends(job_id, FAILED)
    assert len(solvers) == ATTEMPTS, "a new process each time"
    assert job.attempts == ATTEMPTS
    assert job.outcome is not None
    assert job.outcome["slug"] == "solver-crashed"
    assert reason in job.outcome["solver"]["reason"]
    stage.alert_opens("draw-failed", play.key)
    draws_again(play, "draw-failed")
    assert [worker.pid for worker in stage.workers if worker.is_alive()] == pids


def test_a_solver_that_crashes_after_a_draw_leaves_it_degraded(stage: Stage, play: Play) -> None:
    stage.steer("draw-then-crash")
    job_id = play.ask()
    solver = stage.held(job_id)
    assert stage.ends(job_id, JobState.DEGRADED).attempts == 1
    assert gone(solver)
    stage.alert_opens("draw-degraded", play.key)
    draws_again(play, "draw-degraded")


def test_a_solver_that_offers_a_rematch_is_not_believed(stage: Stage, play: Play) -> None:
    stage.steer("rematch")
    job_id = play.ask(deadline_ms=3_000)
    stage.held(job_id)
    job = stage.ends(job_id, FAILED)
    assert job.outcome is not None
    assert job.outcome["refused"][0]["violations"], "the fault is real: a draw was offered and refused"
    assert stage.drafts(job_id) == []
    stage.alert_opens("draw-failed", play.key)
    draws_again(play, "draw-failed")


def test_a_solver_that_is_stopped_is_killed_at_its_deadline(stage: Stage, play: Play) -> None:
    stage.steer("hold")
    job_id = play.ask(deadline_ms=1_500)
    solver = stage.held(job_id)
    os.kill(solver, signal.SIGSTOP)
    soon(lambda: psutil.Process(solver).status() == psutil.STATUS_STOPPED)
    job = stage.ends(job_id, FAILED)
    assert job.outcome is not None
    assert job.outcome["slug"] == "solver-deadline"
    assert gone(solver)
    stage.alert_opens("draw-failed", play.key)
    draws_again(play, "draw-failed")


def test_three_timeouts_open_the_breaker_and_a_good_trial_closes_it(stage: Stage, play: Play) -> None:
    stage.steer("draw-then-hang")
    for _ in range(3):
        timed_out = stage.ends(play.ask(deadline_ms=700), JobState.DEGRADED, FAILED)  # failed: no draw in that time
        assert timed_out.outcome is not None
        assert timed_out.outcome["slug"] == "solver-deadline", "the fault is real"
        stage.alert_opens(f"draw-{timed_out.state.value}", play.key)
    key = str(play.field.event_id)
    stage.alert_opens("breaker-open", key)
    stage.steer("normal")
    (breaker,) = stage.rows("SELECT * FROM breaker WHERE event_id = :id", id=play.field.event_id)
    assert (breaker.state, breaker.timeouts) == ("open", 3)
    quick = stage.job(play.ask())
    if (
        quick.state is not JobState.SUCCEEDED
    ):  # the pause of a second may be over on a slow machine: then it was a trial
        quick = stage.ends(quick.id, JobState.DEGRADED, JobState.SUCCEEDED)
    soon(lambda: stage.rows("SELECT clock_timestamp() - interval '1 second' > :at AS x", at=breaker.opened_at)[0].x)
    stage.ends(play.ask())
    stage.alert_clears("breaker-open", key)
    for kind in ("draw-degraded", "draw-failed"):
        stage.alert_clears(kind, play.key)
    (breaker,) = stage.rows("SELECT * FROM breaker WHERE event_id = :id", id=play.field.event_id)
    assert (breaker.state, breaker.timeouts) == ("closed", 0)


def test_an_event_without_a_legal_draw_fails_in_words_and_is_not_tried_again(stage: Stage) -> None:
    play = make_play(stage, entrants=2)
    job_id = play.ask()
    job = stage.ends(job_id, FAILED)
    assert job.outcome is not None
    assert (job.outcome["slug"], job.attempts) == ("no-legal-draw", 1)
    stage.alert_opens("draw-failed", play.key)
    with stage.owner() as session:
        for number in (3, 4):
            fields.add_entrant(session, play.field.event_id, number=number, entered_round=2)
        fields.bump(session, play.field.event_id)
    stage.ends(play.ask())
    stage.alert_clears("draw-failed", play.key)
