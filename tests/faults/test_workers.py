"""Workers killed, stopped, told twice, of another release, with a wrong clock: no job is lost or done twice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from qisai.db.jobs import JobState
from qisai.queue.app import make_celery
from qisai.queue.names import QUEUE_SMALL
from qisai.queue.sending import send_pair
from tests.faults.play import Play, is_the_draw, make_play
from tests.faults.stage import LEASE_SECONDS, PREFIX, Part, Stage, pause, soon


def holder(stage: Stage, job_id: int) -> Part:
    """The worker that has the job."""
    name = stage.job(job_id).worker
    assert name is not None
    main = int(name.split(":")[-2])
    return next(worker for worker in stage.workers if worker.pid == main)


def ended(pid: int) -> bool:
    """Whether a process runs no more."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_worker_killed_while_it_solves_loses_nothing(stage: Stage, play: Play) -> None:
    stage.steer("hold")
    job_id = play.ask()
    solver = stage.held(job_id)
    dead = holder(stage, job_id)
    family = dead.family()
    dead.kill()
    soon(lambda: all(ended(pid) for pid in (*family, solver)))
    assert stage.job(job_id).state is JobState.RUNNING, "the fault is real: nobody has told the row"
    stage.steer("normal")
    job = stage.ends(job_id)
    assert job.attempts == 2
    is_the_draw(play, job_id)
    assert stage.open_alerts() & {("draw-failed", play.key), ("draw-degraded", play.key)} == set()


def test_a_pool_process_killed_while_it_solves_loses_nothing(stage: Stage, play: Play) -> None:
    stage.steer("hold")
    job_id = play.ask()
    stage.held(job_id)
    name = stage.job(job_id).worker
    assert name is not None
    pool = int(name.split(":")[-1])
    os.kill(pool, signal.SIGKILL)
    soon(lambda: ended(pool))
    stage.steer("normal")
    stage.ends(job_id)
    is_the_draw(play, job_id)


def test_a_worker_that_stands_still_loses_its_job_and_what_it_brings_late_is_dropped(stage: Stage, play: Play) -> None:
    stage.steer("hold")
    job_id = play.ask()
    stage.held(job_id)
    still = holder(stage, job_id)
    soon(lambda: (stage.job(job_id).progress or {}).get("elapsed_ms", 0) > 0)
    shown = "SELECT 1 FROM worker WHERE job_id = :job AND pid = :pid"
    soon(lambda: len(stage.rows(shown, job=job_id, pid=still.pid)) == 1)
    still.send(signal.SIGSTOP)
    soon(lambda: all(psutil.Process(pid).status() == psutil.STATUS_STOPPED for pid in still.family()))
    stage.steer("normal")
    stage.ends(job_id)
    other = stage.job(job_id)
    still.send(signal.SIGCONT)
    soon(stage.is_whole)
    pause(0.5)
    after = stage.job(job_id)
    assert (after.version, after.worker, after.draw_id) == (other.version, other.worker, other.draw_id)
    is_the_draw(play, job_id)


def test_a_worker_told_to_stop_finishes_its_job_and_begins_no_other(stage: Stage) -> None:
    """SIGTERM, as a new release brings it, with more jobs waiting: nothing waits for a lease to run out."""
    stage.steer("hold")
    jobs = [make_play(stage).ask() for _ in range(2)]
    for job_id in jobs:
        stage.held(job_id)
    leaving = holder(stage, jobs[0])
    jobs += [make_play(stage).ask() for _ in range(3)]
    assert leaving.process is not None
    told = leaving.said("worker.stopping")
    leaving.process.terminate()
    soon(lambda: leaving.said("worker.stopping") > told)
    stage.steer("normal")
    assert leaving.process.wait(timeout=30) == 0
    ended = [stage.ends(job_id) for job_id in jobs]
    assert {job.attempts for job in ended} == {1}
    by_the_leaving = [job for job in ended if job.worker is not None and f":{leaving.pid}:" in job.worker]
    assert [job.id for job in by_the_leaving] == jobs[:1]


def test_without_any_worker_there_is_an_alert_and_jobs_wait(stage: Stage, play: Play) -> None:
    for worker in stage.workers:
        worker.kill()
    job_id = play.ask()
    stage.alert_opens("no-live-worker")
    assert stage.job(job_id).state is JobState.QUEUED
    stage.alert_opens("queue-stuck", QUEUE_SMALL, seconds=10 * LEASE_SECONDS)
    stage.alert_opens("canary-late")
    for worker in stage.workers:
        worker.start()
    stage.ends(job_id)
    for kind, key in (("no-live-worker", "all"), ("queue-stuck", QUEUE_SMALL), ("canary-late", "all")):
        stage.alert_clears(kind, key)


def test_a_message_that_comes_again_after_the_draft_was_saved_changes_nothing(stage: Stage, play: Play) -> None:
    job_id = play.ask()
    before = stage.ends(job_id)
    celery = make_celery(stage.valkey_server.url(), prefix=PREFIX, for_worker=False)
    for _ in range(3):
        assert send_pair(celery, job_id=job_id, queue="pairing.small", request_id="again")
    with stage.broker() as broker:
        soon(lambda: broker.llen(f"{PREFIX}pairing.small") == 0)
    words = f"event='job.not_taken' job_id={job_id} "
    soon(lambda: sum(worker.said(words) for worker in stage.workers) >= 3)  # the keeper may have sent it again too
    after = stage.job(job_id)
    assert (after.version, after.attempts, after.draw_id) == (before.version, before.attempts, before.draw_id)
    is_the_draw(play, job_id)


def test_a_worker_of_another_release_leaves_the_job_and_says_so(stage: Stage, play: Play) -> None:
    """The event began under an algorithm that no worker here has; then workers that have it are brought back."""
    stage.rows("UPDATE event SET algorithm = 'qisai/0' WHERE id = :id RETURNING id", id=play.field.event_id)
    job_id = play.ask()
    soon(lambda: any(worker.said(f"job_id={job_id}") and worker.said("qisai/0") for worker in stage.workers))
    key = str(play.field.event_id)
    stage.alert_opens("worker-of-other-release", key)
    job = stage.job(job_id)
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    assert ("alert.raised", "worker-of-other-release") in [(kind, data.get("alert")) for kind, data in play.feed()]
    stage.rows("UPDATE event SET algorithm = 'qisai/1' WHERE id = :id RETURNING id", id=play.field.event_id)
    stage.ends(job_id)
    stage.alert_clears("worker-of-other-release", key)


@pytest.fixture(scope="session")
def wrong_clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that gives one process a wrong time of day."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler here, which makes the wrong clock")
    library = tmp_path_factory.mktemp("clock") / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library


def test_a_clock_that_jumps_moves_no_lease(stage: Stage, play: Play, wrong_clock: Path, tmp_path: Path) -> None:
    """A worker in a zone with daylight saving, whose clock jumps two hours ahead and a day back while it solves."""
    offset = tmp_path / "offset"
    offset.write_text("0")
    for worker in stage.workers:
        worker.kill()
    wrong = {"LD_PRELOAD": str(wrong_clock), "CLOCK_OFFSET": str(offset), "TZ": "America/New_York"}
    worker = stage.add_worker(**wrong)
    said = "import datetime; print(datetime.datetime.now(datetime.timezone.utc).timestamp())"
    worker.start()
    stage.steer("hold")
    job_id = play.ask()
    stage.held(job_id)
    for seconds in (7_200, -86_400):
        offset.write_text(str(seconds))
        clock = [worker.command[0], "-c", said]
        shown = subprocess.run(clock, env=dict(worker.environment), check=True, capture_output=True, text=True)
        (row,) = stage.rows("SELECT extract(epoch FROM clock_timestamp()) AS now")
        assert abs(float(shown.stdout) - float(row.now) - seconds) < 60, "the fault is real"
        pause(LEASE_SECONDS * 0.75)
        (row,) = stage.rows(
            "SELECT extract(epoch FROM lease_until - clock_timestamp()) AS left FROM pairing_job WHERE id = :id",
            id=job_id,
        )
        assert 0 < row.left <= LEASE_SECONDS, "renewed by the database's time"
    stage.steer("normal")
    job = stage.ends(job_id)
    assert job.attempts == 1
    (row,) = stage.rows(
        "SELECT finished_at BETWEEN requested_at AND clock_timestamp() AS sane FROM pairing_job WHERE id = :id",
        id=job_id,
    )
    assert row.sane
    worker.kill()
