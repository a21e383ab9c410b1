"""Keepers killed and stopped: another takes over, and draws asked for meanwhile still run."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import psutil
import pytest
import requests

from tests.faults.play import Play, is_the_draw
from tests.faults.stage import Part, Stage, soon


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


def test_when_the_keeper_is_killed_the_second_takes_over(stage: Stage, play: Play, second: Part) -> None:
    stage.keepers[0].kill()
    with stage.broker() as broker:
        job_id = play.ask()
        broker.flushall()  # the nudge may be gone too: then only a keeper can bring the job on
    soon(lambda: ready(second) is True)
    stage.ends(job_id)
    is_the_draw(play, job_id)


def test_a_draw_asked_for_while_no_keeper_runs_is_made(stage: Stage, play: Play) -> None:
    stage.keepers[0].kill()
    stage.ends(play.ask())


def test_a_keeper_that_stands_still_loses_the_lead(stage: Stage, play: Play, second: Part) -> None:
    """The server ends its session, which holds the lock; when it wakes up it waits like any other."""
    first = stage.keepers[0]
    first.send(signal.SIGSTOP)
    soon(lambda: psutil.Process(first.pid).status() == psutil.STATUS_STOPPED)
    soon(lambda: ready(second) is True)
    with stage.broker() as broker:
        job_id = play.ask()
        broker.flushall()
    stage.ends(job_id)
    first.send(signal.SIGCONT)
    soon(lambda: ready(first) is False)
    assert ready(second) is True
