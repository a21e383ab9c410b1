"""One pairing job from claim to draft. No transaction is open while the solver runs, so nothing here can hold a
referee; every step that writes says what it expects to find and is dropped when it finds something else."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import structlog
from sqlalchemy.orm import Session

from qisai import telemetry
from qisai.db.jobs import BreakerState, JobState
from qisai.db.session import Database
from qisai.db.snapshot import read_tournament
from qisai.errors import QisaiError, Unavailable
from qisai.kernel.draw_file import draw_to_json
from services.pairing import breaker, canary, jobs
from services.pairing.alert_kinds import AlertKind, note
from services.pairing.breaker import Mode
from services.pairing.concluding import conclude
from services.pairing.ending import Ending, end_without_draft, outcome
from services.pairing.jobs import Claim
from services.pairing.running import solve
from services.pairing.solving import End, Solver
from services.pairing.terms import Terms

log = structlog.get_logger()

LONGEST_STRETCH_SECONDS: Final = 60
"""A message makes a worker go on from job to job for so long at most; then the next message does."""


def serve(
    database: Database, solver: Solver, *, nudged: int, terms: Terms, is_stopping: Callable[[], bool] = lambda: False
) -> int:
    """What a message makes a worker do: jobs that are due, oldest first, until there are none. Returns how many.

    The job that the message names need not be the first: others may have waited longer. While the database is away
    nothing is taken, and what was taken comes back when its lease has run out.
    """
    done, began = 0, time.monotonic()
    try:
        while not is_stopping() and time.monotonic() - began < LONGEST_STRETCH_SECONDS:
            with database.transaction() as session:
                held = jobs.claim_next(
                    session,
                    nudged=nudged,
                    worker=terms.worker,
                    lease_seconds=terms.lease_seconds,
                    max_attempts=terms.max_attempts,
                    queues=terms.queues,
                    algorithms=terms.algorithms,
                )
                mode = _admit(session, held, terms=terms)
            if held is None:
                break
            _do(database, solver, held, mode=mode, terms=terms)
            solver.start()  # one that had to be killed is replaced now, not within the next draw's deadline
            done += 1
        if not done:
            _say_why_not(database, nudged, terms=terms)
    except Unavailable as error:
        log.warning("worker.database_away", error=error.slug)
    return done


def work(database: Database, solver: Solver, *, job_id: int, terms: Terms) -> JobState | None:
    """Does this job if it is to be had. Returns the state it left it in, None where there was nothing to do."""
    with database.transaction() as session:
        held = jobs.claim(
            session,
            job_id,
            worker=terms.worker,
            lease_seconds=terms.lease_seconds,
            max_attempts=terms.max_attempts,
        )
        mode = _admit(session, held, terms=terms)
    if held is None:
        log.info("job.not_taken", job_id=job_id)
        return None
    return _do(database, solver, held, mode=mode, terms=terms)


def _admit(session: Session, held: Claim | None, *, terms: Terms) -> Mode:
    if held is None or held.event_id is None:
        return Mode.FULL
    mode = breaker.admit(session, held.event_id, job_id=held.job_id, pause_seconds=terms.breaker_pause_seconds)
    if mode is Mode.TRIAL:
        said = {"state": BreakerState.HALF_OPEN.value, "job": held.job_id, "round": held.round_no}
        note(session, AlertKind.BREAKER_OPEN, key=str(held.event_id), event_id=held.event_id, detail=said)
    return mode


def _say_why_not(database: Database, job_id: int, *, terms: Terms) -> None:
    """A message came and there was nothing to do: mostly it came twice, or this worker is of another release."""
    with database.transaction() as session:
        needed = jobs.lacking(session, job_id, algorithms=terms.algorithms)
    if needed is None:
        log.info("job.not_taken", job_id=job_id)
    else:
        log.warning("job.algorithm_lacking", job_id=job_id, needs=needed, has=list(terms.algorithms))


def _do(database: Database, solver: Solver, held: Claim, *, mode: Mode, terms: Terms) -> JobState | None:
    token = telemetry.request_id.set(held.request_id)
    try:
        log.info("job.taken", job_id=held.job_id, event_id=held.event_id, attempt=held.attempt, mode=mode.value)
        if held.event_id is None:
            return _do_canary(database, solver, held, terms=terms)
        return _do_draw(database, solver, held, event_id=held.event_id, mode=mode, terms=terms)
    finally:
        telemetry.request_id.reset(token)


def _do_canary(database: Database, solver: Solver, held: Claim, *, terms: Terms) -> JobState | None:
    run = solve(database, solver, held, mode=Mode.FULL, snapshot=canary.snapshot(), terms=terms)
    if run.lost or run.ended is None:
        return None
    state, why = JobState.FAILED, outcome(f"solver-{run.ended.end.value}", "The canary got no draw.", run.ended.detail)
    if run.best is not None and run.ended.end is End.DONE:
        state, why = JobState.SUCCEEDED, outcome("drawn", "", {"draw": draw_to_json(run.best)})
    with database.transaction() as session:
        kept = jobs.finish(session, held, state=state, outcome=why)
    log.info("canary.ended", job_id=held.job_id, state=state.value)
    return state if kept else None


def _do_draw(
    database: Database, solver: Solver, held: Claim, *, event_id: int, mode: Mode, terms: Terms
) -> JobState | None:
    ending = Ending(database=database, held=held, event_id=event_id, mode=mode)
    try:
        with database.snapshot() as session:
            snapshot = read_tournament(session, event_id, round_no=held.round_no, for_pairing=True)
    except Unavailable:
        raise
    except QisaiError as error:
        return end_without_draft(ending, JobState.FAILED, outcome(error.slug, error.detail, error.context))
    run = solve(database, solver, held, mode=mode, snapshot=snapshot, terms=terms)
    if run.lost or run.ended is None:
        log.info("job.lost", job_id=held.job_id)
        return None
    return conclude(ending, run, snapshot=snapshot, terms=terms)
