"""Asking for a draw: a job row that survives without Redis, or everything that stands in the way."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import pytest
import redis
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.events import EventState
from qisai.db.jobs import JobRow
from qisai.db.rounds import RoundState
from qisai.kernel.model import Result
from services.results.app import create_app
from services.results.operations.draw_requests import deadline_by_size
from tests import calls, fields
from tests.results import asked
from tests.results.conftest import Play, Service, make_play, problem


def test_a_draw_is_accepted_at_once_without_redis_and_waits_in_its_row(play: Play) -> None:
    play.chief.post(f"{make_play(play.service).round(1)}/draws")  # loads Celery's transport, once a process
    began = time.monotonic()
    answer = play.chief.post(f"{play.round(1)}/draws", {"limits": {"max_steps": 9}})
    assert time.monotonic() - began < 3
    job = answer.json
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/api/v1/jobs/{job['id']}"
    assert answer.headers["Retry-After"] == "1"
    assert (job["state"], job["round_no"], job["queue"], job["size"]) == ("queued", 1, "pairing.small", 4)
    assert job["limits"] == {"max_depth": None, "max_steps": 9, "deadline_ms": 10_000, "hard_ms": 15_000}
    assert job["waiting"]["reason"] == "waiting-for-a-worker"
    assert play.chief.get(answer.headers["Location"]).json["requested_by"] == "孙裁判长"


def test_asking_again_is_asking_once(play: Play) -> None:
    first = play.chief.post(f"{play.round(1)}/draws")
    before = play.numbers()
    again = play.chief.post(f"{play.round(1)}/draws")
    assert (again.status_code, again.json["id"]) == (202, first.json["id"])
    assert play.numbers() == before
    with play.service.owner() as session:
        session.execute(sa.update(JobRow).where(JobRow.id == first.json["id"]).values(state="failed"))
    assert play.chief.post(f"{play.round(1)}/draws").json["id"] != first.json["id"]


def test_asking_reads_no_games_and_asking_again_reads_no_field(play: Play) -> None:
    """Pins that results entered meanwhile in the same process do not wait for a large field to be read."""
    with asked.statements(play.service.app) as first:
        play.chief.post(f"{play.round(1)}/draws")
    with asked.statements(play.service.app) as again:
        play.chief.post(f"{play.round(1)}/draws")
    assert any("FROM entrant" in query for query in first)
    of_boards = [query for query in first if "FROM board" in query]
    assert [query for query in of_boards if "board.result IS NULL" not in query] == [], "only boards still open"
    assert not any("FROM entrant" in query for query in again)


def test_the_list_of_draws_tells_the_latest_job_of_the_round(play: Play) -> None:
    def job(round_no: int = 1) -> Any:
        return play.chief.get(f"{play.round(round_no)}/draws").json["job"]

    def end(job_id: int, **values: Any) -> None:
        with play.service.owner() as session:
            session.execute(sa.update(JobRow).where(JobRow.id == job_id).values(finished_at=sa.func.now(), **values))

    assert job() is None
    first = play.chief.post(f"{play.round(1)}/draws").json["id"]
    assert (job()["id"], job()["state"], job()["waiting"]["reason"]) == (first, "queued", "waiting-for-a-worker")
    end(first, state="failed", outcome={"slug": "solver-done", "detail": "The solver found none."})
    assert job() == play.chief.get(f"/api/v1/jobs/{first}").json
    second = play.chief.post(f"{play.round(1)}/draws").json["id"]
    end(second, state="cancelled")
    assert (job()["id"], job()["state"]) == (second, "cancelled")
    assert job(2) is None


def test_a_connection_may_ask_for_many_draws(play: Play) -> None:
    """Pins the predicate without parameters: the driver prepares a statement it has sent five times, and PostgreSQL
    then makes one plan for all parameters, in which it no longer knows the partial index by them."""
    for _ in range(14):
        asked = play.chief.post(f"{play.round(1)}/draws")
        assert asked.status_code == 202
        assert play.chief.delete(f"/api/v1/jobs/{asked.json['id']}").status_code < 300


def test_an_idempotency_key_gives_the_first_answer_again(play: Play) -> None:
    key = {"Idempotency-Key": "draw-1"}
    first = play.chief.post(f"{play.round(1)}/draws", headers=key)
    with play.service.owner() as session:
        session.execute(sa.update(JobRow).where(JobRow.id == first.json["id"]).values(state="cancelled"))
    again = play.chief.post(f"{play.round(1)}/draws", headers=key)
    assert (again.status_code, again.json, again.headers["Location"]) == (202, first.json, first.headers["Location"])
    other = play.chief.post(f"{play.round(1)}/draws", {"limits": {"max_steps": 9}}, headers=key)
    problem(other, 422, "idempotency-key-reused")


def test_limits_come_from_the_request_then_the_event_then_the_size(service: Service) -> None:
    play = make_play(service, regulations={"limits": {"max_depth": 5, "max_steps": 70}})
    asked = play.chief.post(f"{play.round(1)}/draws", {"limits": {"max_depth": 3, "deadline_ms": 400}}).json
    assert asked["limits"] == {"max_depth": 3, "max_steps": 70, "deadline_ms": 400, "hard_ms": 5400}


@pytest.mark.parametrize(("entrants", "seconds"), [(4, 10), (999, 10), (1000, 20), (2_500, 30), (5_000, 60)])
def test_the_default_deadline_grows_with_the_field(entrants: int, seconds: int) -> None:
    assert deadline_by_size(10_000, entrants=entrants) == 1000 * seconds


def test_a_field_of_a_thousand_gets_its_deadline_and_the_queue_of_large_fields(service: Service) -> None:
    play = make_play(service, entrants=1000)
    job: Any = play.chief.post(f"{play.round(1)}/draws").json
    assert (job["size"], job["queue"]) == (1000, "pairing.large")
    assert (job["limits"]["deadline_ms"], job["limits"]["hard_ms"]) == (20_000, 25_000)


@pytest.mark.parametrize("limits", [{"max_steps": 0}, {"deadline_ms": 1}, {"max_depth": "3"}, {"max_time": 3}, [], 7])
def test_limits_of_another_form_are_refused(play: Play, limits: object) -> None:
    problem(play.chief.post(f"{play.round(1)}/draws", {"limits": limits}), 422, "invalid-request")


@pytest.mark.parametrize("state", [EventState.DRAFT, EventState.OPEN, EventState.FINISHED, EventState.ARCHIVED])
def test_the_event_must_be_closed_or_running(service: Service, state: EventState) -> None:
    play = make_play(service, state=state)
    body = problem(play.chief.post(f"{play.round(1)}/draws"), 409, "draw-not-possible")
    assert [blocker["slug"] for blocker in body["blockers"]] == ["event-not-running"]


def test_everything_in_the_way_is_named_at_once(play: Play) -> None:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3), (2, 4, Result.DRAW)])
        fields.add_entrant(session, play.field.event_id, number=None)
    body = problem(play.chief.post(f"{play.round(2)}/draws"), 409, "draw-not-possible")
    assert [blocker["slug"] for blocker in body["blockers"]] == ["numbers-not-drawn", "result-missing"]
    missing = body["blockers"][1]
    assert (missing["round"], missing["board"]) == (1, 1)
    assert "棋手1 – 棋手3" in missing["detail"]
    assert play.service.rows("SELECT 1 FROM pairing_job WHERE event_id = :id", id=play.field.event_id) == []


def test_a_whole_round_without_results_does_not_hide_the_other_blockers(service: Service) -> None:
    play = make_play(service, entrants=104)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(i, i + 52) for i in range(1, 53)])
    blockers = problem(play.chief.post(f"{play.round(2)}/draws"), 409, "draw-not-possible")["blockers"]
    assert [blocker["slug"] for blocker in blockers] == ["result-missing"] * 50 + ["more-results-missing"]
    assert blockers[-1]["boards"] == 2


def test_a_round_whose_boards_are_reported_need_not_be_closed(play: Play) -> None:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.ADJOURNED), (2, 4, Result.DRAW)])
    assert play.chief.post(f"{play.round(2)}/draws").status_code == 202


def test_an_empty_pool_is_refused(play: Play) -> None:
    with play.service.owner() as session:
        everybody = sa.update(EntrantRow).where(EntrantRow.event_id == play.field.event_id)
        session.execute(everybody.values(state=EntrantState.WITHDRAWN, withdrawn_from=1))
    body = problem(play.chief.post(f"{play.round(1)}/draws"), 409, "draw-not-possible")
    assert [blocker["slug"] for blocker in body["blockers"]] == ["empty-pool"]


def test_only_the_next_round_is_drawn(service: Service) -> None:
    play = make_play(service, regulations={"rounds": 2})
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)], state=RoundState.CLOSED)
    problem(play.chief.post(f"{play.round(1)}/draws"), 409, "round-published")
    problem(play.chief.post(f"{play.round(3)}/draws"), 409, "earlier-round-missing")
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 2, Result.DRAW), (3, 4, Result.DRAW)], state=RoundState.CLOSED)
    problem(play.chief.post(f"{play.round(3)}/draws"), 409, "round-beyond-end")
    problem(play.chief.post(f"{play.round(101)}/draws"), 422, "invalid-request")


def test_a_job_can_be_cancelled_once_and_for_all(play: Play) -> None:
    job = play.chief.post(f"{play.round(1)}/draws").json
    url = f"/api/v1/jobs/{job['id']}"
    cancelled = play.chief.delete(url)
    assert (cancelled.status_code, cancelled.json["state"]) == (200, "cancelled")
    assert cancelled.json["waiting"] is None
    before = play.numbers()
    assert play.chief.delete(url).json["state"] == "cancelled"
    assert play.numbers() == before
    with play.service.owner() as session:
        session.execute(sa.update(JobRow).where(JobRow.id == job["id"]).values(state="succeeded"))
    problem(play.chief.delete(url), 409, "job-ended")
    problem(play.chief.delete("/api/v1/jobs/999999"), 404, "job-not-found")


def test_jobs_are_shown_to_those_of_the_event_and_to_ops(play: Play, service: Service) -> None:
    url = f"/api/v1/jobs/{play.chief.post(f'{play.round(1)}/draws').json['id']}"
    assert service.person(Role.OPS).get(url).status_code == 200
    assert service.person(Role.ORGANISER, play.field.event_id).get(url).status_code == 200
    problem(make_play(service).chief.get(url), 403, "no-right")
    problem(service.public().get(url), 401, "sign-in-needed")


def test_the_nudge_names_the_job_and_its_request_and_leaves_after_the_commit(
    play: Play, service: Service, valkey: str
) -> None:
    environment = calls.service_environment("results", service.database, redis_url=valkey, prefix="nudge:")
    with calls.service_app(create_app, environment) as app:
        chief = calls.caller(app, account_id=play.chief.account_id)
        job = chief.post(f"{play.round(1)}/draws").json
        refused = chief.post(f"{make_play(service, state=EventState.OPEN).round(1)}/draws")
    assert refused.status_code == 403
    with redis.Redis.from_url(valkey) as client:
        (message,) = [json.loads(text) for text in client.lrange("nudge:pairing.small", 0, -1)]
    assert message["headers"]["task"] == "qisai.pair"
    assert json.loads(base64.b64decode(message["body"]))[0] == [job["id"], "test-request"]


def test_an_event_that_does_not_exist_has_no_rounds(play: Play, service: Service) -> None:
    problem(service.person(Role.ASSOCIATION_ADMIN).post("/api/v1/events/999999/rounds/1/draws"), 404, "event-not-found")
    problem(
        service.person(Role.ASSOCIATION_ADMIN).post(f"/api/v1/events/{2**70}/rounds/1/draws"), 404, "event-not-found"
    )
