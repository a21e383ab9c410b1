"""Redis and PostgreSQL restarted, emptied, stopped, cut off, full: everything goes on by itself, nothing twice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from qisai.db.jobs import JobState
from tests.faults.play import Play, is_the_draw, make_play
from tests.faults.proxy import Cut
from tests.faults.stage import PREFIX, Stage, pause, soon


def one_draft_each(stage: Stage, jobs: list[int]) -> None:
    """All succeed, with one draft for each, and no round has two jobs."""
    for job_id in jobs:
        stage.ends(job_id)
        assert len(stage.drafts(job_id)) == 1


def busy(stage: Stage) -> list[int]:
    """Both workers held by a job."""
    stage.steer("hold")
    jobs = [make_play(stage).ask() for _ in stage.workers]
    for job_id in jobs:
        stage.held(job_id)
    return jobs


def test_redis_emptied_with_jobs_queued_loses_none(stage: Stage) -> None:
    jobs = busy(stage)
    jobs += [make_play(stage).ask() for _ in range(5)]
    with stage.broker() as broker:
        assert broker.llen(f"{PREFIX}pairing.small") >= 5
        broker.flushall()
        assert broker.llen(f"{PREFIX}pairing.small") < 5, "the fault is real: the messages are gone"
    stage.steer("normal")
    one_draft_each(stage, jobs)


def test_redis_killed_with_jobs_queued_comes_back_empty_and_loses_none(stage: Stage) -> None:
    jobs = busy(stage)
    jobs += [make_play(stage).ask() for _ in range(5)]
    stage.valkey.kill()
    stage.alert_opens("broker-away")
    stage.steer("normal")
    for job_id in jobs[:2]:
        stage.ends(job_id)
    stage.start_valkey()
    one_draft_each(stage, jobs)
    stage.alert_clears("broker-away")
    before = time.monotonic()
    one_draft_each(stage, [make_play(stage).ask()])
    assert time.monotonic() - before < 20, "workers that look alive take what comes"


def test_a_draw_asked_for_while_redis_is_down_starts_when_it_is_back(stage: Stage, play: Play) -> None:
    stage.valkey.kill()
    stage.alert_opens("broker-away")
    began = time.monotonic()
    job_id = play.ask()
    assert time.monotonic() - began < 2, "the chief referee does not wait for Redis"
    shown = play.chief.get(f"/api/v1/jobs/{job_id}").json
    assert (shown["state"], shown["waiting"]["reason"]) == ("queued", "waiting-for-a-worker")
    assert play.correct(1, "draw").status_code == 200, "results go on"
    stage.start_valkey()
    stage.ends(job_id)
    is_the_draw(play, job_id)
    stage.alert_clears("broker-away")


def test_a_broker_that_takes_connections_and_never_answers_holds_nobody_up(stage: Stage, play: Play) -> None:
    stage.to_valkey.stall()
    stage.alert_opens("broker-away")
    began = time.monotonic()
    job_id = play.ask()
    assert time.monotonic() - began < 4
    stage.to_valkey.restore()
    stage.ends(job_id)
    stage.alert_clears("broker-away")


def test_a_broker_that_is_full_holds_nobody_up(stage: Stage, play: Play) -> None:
    """It answers, and takes nothing: that is an answer of another kind than none."""
    with stage.broker() as broker:
        broker.config_set("maxmemory", "1")
        try:
            with pytest.raises(redis.ResponseError):
                broker.set("anything", "1")
            job_id = play.ask()
            stage.alert_opens("broker-away")
        finally:
            broker.config_set("maxmemory", "128mb")
    stage.ends(job_id)
    stage.alert_clears("broker-away")


def test_postgres_restarted_while_a_solver_runs_leaves_one_whole_draft(stage: Stage, play: Play) -> None:
    stage.steer("hold")
    job_id = play.ask()
    stage.held(job_id)
    stage.postgres.stop(signal.SIGINT)
    assert not stage.postgres.is_alive()
    stage.steer("normal")
    pause(1)
    stage.start_postgres()
    stage.ends(job_id)
    is_the_draw(play, job_id)
    rows = stage.rows("SELECT action FROM audit_log WHERE subject = :job", job=f"job:{job_id}")
    assert [row.action for row in rows] == ["job.succeeded"]


@pytest.mark.parametrize("passed_on", [False, True], ids=["before-the-commit", "after-the-commit"])
def test_a_connection_lost_while_the_draft_is_committed_stores_it_once(
    stage: Stage, play: Play, passed_on: bool
) -> None:
    """Lost before the server heard of it, or before the worker heard the answer: it cannot tell, the row can."""
    cut = Cut(after=b"qisai.draw/1", at=b"COMMIT", passed_on=passed_on)  # the draft itself, then its commit
    stage.steer("hold")
    job_id = play.ask()
    stage.held(job_id)
    stage.to_postgres.cut = cut
    stage.steer("normal")
    stage.ends(job_id)
    soon(lambda: cut.happened == 1)
    is_the_draw(play, job_id)
    job = stage.job(job_id)
    assert job.draw_id == stage.drafts(job_id)[0].id
    assert job.attempts == 1, "the worker itself tried again"
    pause(0.5)
    assert stage.job(job_id).version == job.version
    kinds = [kind for kind, data in play.feed() if data.get("job") == job_id]
    assert kinds == ["draw.requested", "draw.ready"]


def test_all_connections_to_postgres_cut_and_refused_for_a_while(stage: Stage, play: Play) -> None:
    stage.steer("hold")
    job_id = play.ask()
    stage.held(job_id)
    before = stage.to_postgres.refused
    stage.to_postgres.refuse()
    soon(lambda: stage.to_postgres.refused > before)
    stage.steer("normal")
    pause(0.5)
    stage.to_postgres.restore()
    stage.ends(job_id)
    is_the_draw(play, job_id)


def test_postgres_away_at_a_request_is_a_clear_503_and_goes_on_by_itself(stage: Stage, play: Play) -> None:
    stage.postgres.stop(signal.SIGINT)
    refused = play.chief.post(f"{play.round}/draws", json={})
    assert refused.status_code == 503
    assert refused.content_type.startswith("application/problem+json")
    assert refused.headers["Retry-After"]
    stage.start_postgres()
    assert stage.rows("SELECT 1 FROM pairing_job WHERE event_id = :id", id=play.field.event_id) == []
    stage.ends(play.ask())


@pytest.fixture
def small_disk(stage: Stage) -> Iterator[Path]:
    """A disk of two megabytes on which the jobs are stored from now on, two to a page."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a small disk")
    disk = stage.folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], check=False)
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    space = disk / "tablespace"
    space.mkdir(mode=0o700)
    os.chown(space, *stage.postgres_server.seat.identity.owner)
    with stage.postgres_server.connect(stage.database.name) as connection:
        connection.execute(f"CREATE TABLESPACE small LOCATION '{space}'".encode())
        connection.execute("ALTER TABLE pairing_job SET (fillfactor = 10)")
        connection.execute("ALTER TABLE pairing_job SET TABLESPACE small")
    yield disk
    (disk / "filler").unlink(missing_ok=True)
    with stage.postgres_server.connect(stage.database.name) as connection:
        connection.execute("ALTER TABLE pairing_job SET TABLESPACE pg_default")
        connection.execute("ALTER TABLE pairing_job RESET (fillfactor)")
        connection.execute("DROP TABLESPACE small")
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_at_a_request_is_a_clear_503_and_nothing_is_half_written(stage: Stage, small_disk: Path) -> None:
    for part in (*stage.workers, *stage.keepers):
        part.send(signal.SIGSTOP)
    filler = small_disk / "filler"
    with filler.open("wb") as file:
        left = shutil.disk_usage(small_disk).free
        file.write(b"\0" * left)
    assert shutil.disk_usage(small_disk).free == 0
    for _ in range(12):
        play = make_play(stage, entrants=4)
        refused = play.request()
        if refused.status_code != 202:
            break
    assert refused.status_code == 503, refused.get_data(as_text=True)
    assert refused.json["type"].endswith("database-full")
    for table in ("pairing_job", "audit_log", "feed_entry"):
        assert stage.rows(f"SELECT 1 FROM {table} WHERE event_id = :id", id=play.field.event_id) == []
    filler.unlink()
    for part in (*stage.workers, *stage.keepers):
        part.send(signal.SIGCONT)
    stage.ends(play.ask(), JobState.SUCCEEDED)
