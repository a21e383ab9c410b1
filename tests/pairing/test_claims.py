"""Who gets which job: the oldest due one first, one worker an event, only queues and algorithms that a worker has."""

from __future__ import annotations

import dataclasses
import sys
import threading

import psutil
import pytest
import sqlalchemy as sa

from qisai.db.jobs import JobState
from qisai.db.session import Database as Connections
from qisai.kernel.pairing.search import DEFAULT_DEPTH
from qisai.queue.names import QUEUE_LARGE, QUEUE_SMALL
from services.pairing import jobs
from services.pairing.jobs import Claim
from services.pairing.operations import serve, work
from services.pairing.solving import Solver
from services.pairing.terms import Terms
from tests.fields import owner_of, ready_event
from tests.pairing.asking import ask, event_with_job, job
from tests.servers import Database

ALGORITHMS = ("qisai/1",)


def take(pairing: Connections, *, nudged: int = 0, queues: tuple[str, ...] = (QUEUE_SMALL,)) -> Claim | None:
    """One claim of a worker that got a message."""
    with pairing.transaction() as session:
        return jobs.claim_next(
            session, nudged=nudged, worker="w", lease_seconds=60, max_attempts=3, queues=queues, algorithms=ALGORITHMS
        )


def sql(database: Database, statement: str) -> None:
    """One statement as the owner."""
    with owner_of(database.owner_url) as session:
        session.execute(sa.text(statement))


def test_the_job_that_has_waited_longest_is_taken_whichever_the_message_names(
    database: Database, pairing: Connections
) -> None:
    waiting = [event_with_job(database)[1] for _ in range(3)]
    sql(database, f"UPDATE pairing_job SET due_at = now() - interval '1 hour' WHERE id = {waiting[1]}")
    order = [take(pairing, nudged=waiting[2]) for _ in range(4)]
    assert [held.job_id if held else None for held in order] == [waiting[1], waiting[0], waiting[2], None]


def test_a_burst_of_one_event_lets_the_others_through(database: Database, pairing: Connections) -> None:
    """Five rounds of one event are asked for before two other events; four workers come."""
    with owner_of(database.owner_url) as session:
        greedy = ready_event(session)
        burst = [ask(session, greedy, round_no=number) for number in range(1, 6)]
    others = [event_with_job(database)[1] for _ in range(2)]
    taken = [take(pairing) for _ in range(4)]
    assert [held.job_id if held else None for held in taken] == [burst[0], *others, None]


def test_of_two_workers_that_claim_two_jobs_of_one_event_at_once_one_gets_through(
    database: Database, pairing: Connections
) -> None:
    """Pins the unique index on running jobs: neither sees the other's uncommitted claim."""
    with owner_of(database.owner_url) as session:
        event = ready_event(session)
        first, second = ask(session, event, round_no=1), ask(session, event, round_no=2)
    got: list[Claim | None] = []

    def claim_second() -> None:
        with pairing.transaction() as session:
            got.append(jobs.claim(session, second, worker="b", lease_seconds=60, max_attempts=3))

    other = threading.Thread(target=claim_second)
    with pairing.transaction() as session:
        assert jobs.claim(session, first, worker="a", lease_seconds=60, max_attempts=3) is not None
        other.start()
        other.join(timeout=0.5)
        assert other.is_alive(), "the second claim waits for the first to be decided"
    other.join(timeout=10)
    assert got == [None]
    assert job(database, second).state is JobState.QUEUED


def test_a_worker_for_small_fields_leaves_large_ones(database: Database, pairing: Connections) -> None:
    _, large = event_with_job(database)
    sql(database, f"UPDATE pairing_job SET queue = '{QUEUE_LARGE}', due_at = now() - interval '1 hour'")
    _, small = event_with_job(database)
    for expected, queues in ((small, (QUEUE_SMALL,)), (None, (QUEUE_SMALL,)), (large, (QUEUE_SMALL, QUEUE_LARGE))):
        held = take(pairing, queues=queues)
        assert (held.job_id if held else None) == expected


def test_a_job_of_another_algorithm_is_left_to_workers_that_have_it(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    _, job_id = event_with_job(database)
    sql(database, "UPDATE event SET algorithm = 'qisai/0'")
    assert serve(pairing, solver, nudged=job_id, terms=terms) == 0
    assert (job(database, job_id).state, job(database, job_id).attempts) == (JobState.QUEUED, 0)
    with pairing.transaction() as session:
        assert jobs.lacking(session, job_id, algorithms=ALGORITHMS) == "qisai/0"
        assert jobs.lacking(session, job_id, algorithms=("qisai/0",)) is None
    newer = dataclasses.replace(terms, algorithms=("qisai/0", "qisai/1"))
    with pairing.transaction() as session:
        held = jobs.claim_next(
            session,
            nudged=0,
            worker="w",
            lease_seconds=60,
            max_attempts=3,
            queues=newer.queues,
            algorithms=newer.algorithms,
        )
    assert held is not None


def test_one_message_makes_a_worker_do_everything_that_is_due(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    waiting = [event_with_job(database)[1] for _ in range(3)]
    assert serve(pairing, solver, nudged=waiting[0], terms=terms) == 3
    assert {job(database, job_id).state for job_id in waiting} == {JobState.SUCCEEDED}


def test_a_worker_that_was_told_to_stop_begins_no_other_job(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    waiting = [event_with_job(database)[1] for _ in range(2)]
    asked = iter([False, True])
    assert serve(pairing, solver, nudged=waiting[0], terms=terms, is_stopping=lambda: next(asked)) == 1
    assert job(database, waiting[1]).state is JobState.QUEUED


@pytest.mark.parametrize(
    ("regulations", "asked", "depth", "steps"),
    [
        ({}, {}, DEFAULT_DEPTH, 2_000),
        ({"limits": {"max_depth": 3, "max_steps": 500}}, {}, 3, 500),
        ({"limits": {"max_depth": 3, "max_steps": 500}}, {"max_steps": 70}, 3, 70),
    ],
    ids=["by size", "of the event", "of the request"],
)
def test_the_row_says_which_limits_were_used(
    database: Database,
    pairing: Connections,
    solver: Solver,
    terms: Terms,
    regulations: dict[str, object],
    asked: dict[str, int],
    depth: int,
    steps: int,
) -> None:
    with owner_of(database.owner_url) as session:
        job_id = ask(session, ready_event(session, entrants=20, regulations=regulations), **asked)
    work(pairing, solver, job_id=job_id, terms=terms)
    assert job(database, job_id).limits == {
        "max_depth": depth,
        "max_steps": steps,
        "deadline_ms": terms.deadline_ms,
        "hard_ms": terms.deadline_ms + 5_000,
    }


def test_the_default_of_steps_grows_with_the_field(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    _, job_id = event_with_job(database, entrants=100)
    work(pairing, solver, job_id=job_id, terms=terms)
    assert job(database, job_id).limits["max_steps"] == 4_000
    progress = job(database, job_id).progress
    assert progress is not None
    assert progress["entrants"] == 100


def test_a_job_that_lost_all_its_workers_is_not_taken_once_more(database: Database, pairing: Connections) -> None:
    """Also while no keeper is there to give it up: a job that kills workers must not kill them for ever."""
    _, job_id = event_with_job(database)
    lost = "state = 'running', worker = 'x', lease_until = now() - interval '1 second'"
    sql(database, f"UPDATE pairing_job SET attempts = 3, {lost}")
    assert take(pairing, nudged=job_id) is None
    sql(database, "UPDATE pairing_job SET attempts = 2")
    held = take(pairing)
    assert held is not None
    assert held.attempt == 3


def test_a_solver_that_was_killed_is_replaced_before_the_next_draw_is_asked_for(
    database: Database, pairing: Connections, terms: Terms
) -> None:
    """Its start would be part of the next draw's deadline."""
    _, job_id = event_with_job(database, deadline_ms=300)
    solver = Solver(memory_bytes=2 << 30, command=[sys.executable, "-m", "tests.pairing.misbehaving", "hang"])
    try:
        first = solver.start()
        assert serve(pairing, solver, nudged=job_id, terms=terms) == 1
        assert not psutil.pid_exists(first)
        assert solver._process is not None
        assert psutil.pid_exists(solver._process.pid)
    finally:
        solver.kill()
