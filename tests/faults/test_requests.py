"""Two people at once, results that change meanwhile: one job, one round, never a draw from stale scores."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from werkzeug.test import TestResponse

from qisai.db.accounts import Role
from qisai.db.jobs import JobState
from tests.faults.play import Play, is_the_draw
from tests.faults.stage import Stage


def at_once(*calls: Callable[[], TestResponse]) -> list[TestResponse]:
    """All calls at the same moment, each in a thread."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def test_two_chief_referees_who_ask_at_once_get_one_job(stage: Stage, play: Play) -> None:
    other = Play(stage, play.field, stage.person(Role.CHIEF_REFEREE, play.field.event_id, name="李裁判长"))
    stage.steer("hold")
    answers = at_once(*[play.request, other.request] * 3)
    assert {answer.status_code for answer in answers} == {202}
    ids = {answer.json["id"] for answer in answers}
    assert len(ids) == 1
    stage.steer("normal")
    stage.ends(*ids)
    jobs = stage.rows("SELECT id FROM pairing_job WHERE event_id = :id", id=play.field.event_id)
    assert [row.id for row in jobs] == list(ids)


def test_a_result_corrected_while_pairing_runs_is_in_the_draw(stage: Stage, play: Play) -> None:
    stage.steer("hold")
    job_id = play.ask()
    stage.held(job_id)
    assert play.correct(1, "second_win").status_code == 200
    (now,) = stage.rows("SELECT pairing_no FROM event_feed WHERE event_id = :id", id=play.field.event_id)
    stage.steer("normal")
    job = stage.ends(job_id)
    assert job.restarts == 1, "the fault is real: the first run's input was stale"
    (draft,) = stage.drafts(job_id)
    assert draft.pairing_no == now.pairing_no
    assert draft.snapshot["rounds"][0]["boards"][0]["result"] == "second_win"
    is_the_draw(play, job_id)


def test_a_job_cancelled_while_it_runs_leaves_nothing(stage: Stage, play: Play) -> None:
    stage.steer("hold")
    job_id = play.ask()
    stage.held(job_id)
    assert play.chief.delete(f"/api/v1/jobs/{job_id}").status_code < 300
    stage.steer("normal")
    stage.ends(job_id, JobState.CANCELLED)
    again = play.ask()
    stage.ends(again)
    assert stage.drafts(job_id) == []
    assert stage.job(job_id).state is JobState.CANCELLED


def test_publish_pressed_twice_makes_one_round_and_says_who_was_first(stage: Stage, play: Play) -> None:
    other = Play(stage, play.field, stage.person(Role.CHIEF_REFEREE, play.field.event_id, name="李裁判长"))
    stage.ends(play.ask())
    answers = at_once(play.publish, other.publish)
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    (lost,) = [answer.json for answer in answers if answer.status_code == 409]
    assert lost["type"].endswith("round-published")
    assert lost["context"]["published_by"] in ("孙裁判长", "李裁判长")
    assert lost["context"]["published_at"]
    rounds = stage.rows("SELECT number FROM round WHERE event_id = :id ORDER BY number", id=play.field.event_id)
    assert [row.number for row in rounds] == [1, 2]


def test_a_draft_is_not_published_over_a_result_that_changed_since(stage: Stage, play: Play) -> None:
    stage.ends(play.ask())
    assert play.correct(2, "second_win").status_code == 200
    refused = play.publish()
    assert (refused.status_code, refused.json["type"].rsplit(":", 1)[-1]) == (409, "draw-stale")
    assert len(stage.rows("SELECT 1 FROM round WHERE event_id = :id", id=play.field.event_id)) == 1
    stage.ends(play.ask())
    assert play.publish().status_code == 200
