"""Keepers killed and stopped: another takes over, and draws asked for meanwhile still run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
import requests
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.db.jobs import JobState
from tests.faults.play import Play, is_the_draw, make_play
from tests.faults.stage import LEASE_SECONDS, Part, Stage, pause, soon


@pytest.fixture
def second(stage: Stage) -> Iterator[Part]:
    """A second keeper, which waits, since the first leads."""
    soon(lambda: ready(stage.keepers[0]) is True)
    keeper = stage.add_keeper()
    keeper.start()
    soon(lambda: ready(keeper) is not None)
    assert ready(keeper) is False, "one leads"
    yield keeper
    keeper.send(signal.SIGCONT)
    keeper.stop()


def ready(keeper: Part) -> bool | None:
    """Whether this keeper leads; None where it does not answer."""
    try:
        port = keeper.environment["QISAI_KEEPER_PORT"]
        answer = requests.get(f"http://127.0.0.1:{port}/readyz", timeout=1)
    except requests.RequestException:
        return None
    return bool(answer.json()["leading"]) if answer.status_code == 200 else None


def busy(stage: Stage) -> list[int]:
    """A job of another event in every worker's hands, until the solvers are steered on; their ids."""
    stage.steer("hold")
    jobs = [make_play(stage).ask(deadline_ms=120_000) for _ in stage.workers]
    for job_id in jobs:
        stage.held(job_id)
    return jobs


def ask_for_what_only_a_keeper_can_send(stage: Stage, play: Play) -> int:
    """A job whose message is lost while nobody is free to take it; its id."""
    with stage.broker() as broker:
        job_id = play.ask()
        broker.flushall()
    waiting = stage.job(job_id)
    assert (waiting.state, waiting.sends) == (JobState.QUEUED, 0), "the fault is real: nobody was told"
    return job_id


def test_when_the_keeper_is_killed_the_second_takes_over(stage: Stage, play: Play, second: Part) -> None:
    held = busy(stage)
    stage.keepers[0].kill()
    job_id = ask_for_what_only_a_keeper_can_send(stage, play)
    soon(lambda: stage.job(job_id).sends >= 1)
    assert ready(second) is True, "the first is dead, so it was the second who sent it"
    stage.steer("normal")
    for waiting in (*held, job_id):
        stage.ends(waiting)
    is_the_draw(play, job_id)


def test_a_draw_asked_for_while_no_keeper_runs_is_made(stage: Stage, play: Play) -> None:
    stage.keepers[0].kill()
    stage.ends(play.ask())


def test_a_dead_keeper_is_told_by_the_workers_and_seen_by_those_who_operate(stage: Stage) -> None:
    """Without Prometheus too: an alert, and /ops says when it was last seen."""
    ops = stage.person(Role.OPS)

    def keeper() -> tuple[bool, list[Any]]:
        body = ops.get("/api/v1/ops/queue").json
        return body["keeper_is_late"], body["keepers"]

    def told() -> int:
        return sum(worker.said("kind='keeper-late'") for worker in stage.workers)

    soon(lambda: ready(stage.keepers[0]) is True and keeper()[0] is False)
    stage.alert_clears("keeper-late")
    before = told()
    stage.keepers[0].kill()
    stage.alert_opens("keeper-late")
    assert told() == before + 1
    soon(lambda: keeper()[0])
    _is_late, (last, *_others) = keeper()
    assert (last["pid"], last["is_leading"]) == (stage.keepers[0].pid, True)
    assert last["seen_seconds_ago"] > 2 * LEASE_SECONDS
    stage.keepers[0].start()
    stage.alert_clears("keeper-late")
    assert keeper()[0] is False


def test_at_a_normal_start_nobody_is_missed_yet(stage: Stage) -> None:
    """The keeper is there before the workers, whose start takes seconds: no alert, as long as they come in time."""
    for part in (*stage.workers, *stage.keepers):
        part.kill()
    with stage.owner() as session:
        session.execute(sa.text("DELETE FROM alert"))
        session.execute(sa.text("UPDATE worker SET seen_at = now() - interval '1 hour'"))  # of a machine that crashed
    keeper = stage.add_keeper(QISAI_ALERT_GRACE_SECONDS="600")
    keeper.start()
    soon(lambda: ready(keeper) is True)
    pause(1)  # in which a keeper without grace looks twenty times; ten minutes of it are for a busy machine
    for worker in stage.workers:
        worker.start()
    soon(stage.is_whole, seconds=60)
    raised = {row.kind for row in stage.rows("SELECT kind FROM alert")}
    keeper.stop()
    assert raised == set()


def test_a_keeper_that_stands_still_loses_the_lead(stage: Stage, play: Play, second: Part) -> None:
    """The server ends its session, which holds the lock; when it wakes up it waits like any other."""
    first, held = stage.keepers[0], busy(stage)
    first.send(signal.SIGSTOP)
    soon(lambda: psutil.Process(first.pid).status() == psutil.STATUS_STOPPED)
    job_id = ask_for_what_only_a_keeper_can_send(stage, play)
    soon(lambda: stage.job(job_id).sends >= 1)
    assert ready(second) is True, "the first stands still, so it was the second who sent it"
    stage.steer("normal")
    for waiting in (*held, job_id):
        stage.ends(waiting)
    first.send(signal.SIGCONT)
    soon(lambda: ready(first) is False)
    assert ready(second) is True
