"""One pairing job from claim to draft. No transaction is open while the solver runs, so nothing here can hold a
referee; every step that writes says what it expects to find and is dropped when it finds something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from qisai.db.jobs import JobState
from qisai.db.session import Database
from qisai.db.snapshot import Snapshot, read_tournament
from qisai.errors import QisaiError, Unavailable
from qisai.kernel.check import violations
from qisai.kernel.draw_file import parse_draw
from qisai.kernel.model import Draw
from qisai.kernel.tournament_file import tournament_to_json
from services.pairing import breaker, jobs, ladder
from services.pairing.breaker import Mode
from services.pairing.ending import Ending, end_without_draft, outcome, save_draft
from services.pairing.jobs import Claim
from services.pairing.solving import DrawFound, End, Ended, Solver, Tick

log = structlog.get_logger()

WHY: Final[Mapping[End, str]] = {
    End.DEADLINE: "The solver did not finish before its deadline.",
    End.CRASHED: "The solver broke down.",
    End.DONE: "The solver offered no draw that keeps the rules.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a worker works: its name, its lease in seconds, attempts a job gets, deadline in milliseconds by default."""

    worker: str
    lease_seconds: int
    max_attempts: int
    deadline_ms: int


@dataclass(slots=True)
class Run:
    """What one run of the solver brought."""

    best: Draw | None = None
    refused: list[dict[str, Any]] = field(default_factory=list)
    ended: Ended | None = None
    lost: bool = False
    """The job was cancelled or taken by somebody else meanwhile."""


def work(database: Database, solver: Solver, *, job_id: int, terms: Terms) -> JobState | None:
    """Does one job if it is to be had. Returns the state it left it in, None where there was nothing to do."""
    with database.transaction() as session:
        held = jobs.claim(session, job_id, worker=terms.worker, lease_seconds=terms.lease_seconds)
        mode = None if held is None else breaker.admit(session, held.event_id, job_id=job_id)
    if held is None or mode is None:
        log.info("job.not_taken", job_id=job_id)
        return None
    log.info("job.taken", job_id=job_id, event_id=held.event_id, attempt=held.attempt, mode=mode.value)
    ending = Ending(database=database, held=held, mode=mode)
    try:
        with database.snapshot() as session:
            snapshot = read_tournament(session, held.event_id, round_no=held.round_no, for_pairing=True)
    except Unavailable:
        raise
    except QisaiError as error:
        return end_without_draft(ending, JobState.FAILED, outcome(error.slug, error.detail, error.context))
    run = solve(database, solver, held, mode=mode, snapshot=snapshot, terms=terms)
    if run.lost or run.ended is None:
        log.info("job.lost", job_id=job_id)
        return None
    return conclude(ending, run, snapshot=snapshot, terms=terms)


def solve(database: Database, solver: Solver, held: Claim, *, mode: Mode, snapshot: Snapshot, terms: Terms) -> Run:
    """Runs the solver, checks every draw it offers, keeps the best, and renews the lease with progress."""
    deadline_ms = int(held.limits.get("deadline_ms") or terms.deadline_ms)
    request = {
        "job": held.job_id,
        "tournament": tournament_to_json(snapshot.tournament),
        "stage": "search" if mode is Mode.SEARCH else "optimal",
        "limits": {"max_depth": held.limits.get("max_depth"), "max_steps": held.limits.get("max_steps")},
        "cpu_seconds": deadline_ms // 1000 + 30,
    }
    run = Run()
    messages = solver.run(request, deadline_ms=deadline_ms, tick_ms=terms.lease_seconds * 1000 // 6)
    for message in messages:
        if isinstance(message, DrawFound):
            _consider(run, message, snapshot=snapshot)
            if not _renew(database, held, run, terms=terms, elapsed_ms=message.elapsed_ms):
                break
        elif isinstance(message, Tick):
            if not _renew(database, held, run, terms=terms, elapsed_ms=message.elapsed_ms):
                break
        else:
            run.ended = message
    messages.close()
    return run


def _consider(run: Run, found: DrawFound, *, snapshot: Snapshot) -> None:
    draw = parse_draw(found.document)
    faults = violations(snapshot.tournament, draw)
    if faults:
        run.refused.append({"elapsed_ms": found.elapsed_ms, "violations": [str(fault) for fault in faults]})
        log.error("solver.illegal_draw", violations=len(faults))
    elif run.best is None or tuple(draw.cost.values()) <= tuple(run.best.cost.values()):
        run.best = draw  # the same draw again is one whose cost was proven meanwhile


def _renew(database: Database, held: Claim, run: Run, *, terms: Terms, elapsed_ms: int) -> bool:
    """Renews; a database that is away for a moment does not end the run: the claim is tested again at the end."""
    progress = {
        "stage": run.best.stage.value if run.best else "search",
        "elapsed_ms": elapsed_ms,
        "best": dict(run.best.cost) if run.best else None,
        "entrants": len(run.best.boards) * 2 + (run.best.bye is not None) if run.best else None,
    }
    try:
        with database.transaction() as session:
            kept = jobs.renew(session, held, lease_seconds=terms.lease_seconds, progress=progress)
    except Unavailable:
        log.warning("job.renewal_failed", job_id=held.job_id)
        return True
    run.lost = not kept
    return kept


def conclude(ending: Ending, run: Run, *, snapshot: Snapshot, terms: Terms) -> JobState | None:
    """Turns the end of a run into the end of the job, by the ladder of answers where the solver did not finish."""
    assert run.ended is not None
    end, detail, held = run.ended.end, run.ended.detail, ending.held
    if end in (End.NO_LEGAL_DRAW, End.BAD_INPUT):
        why = outcome(str(detail["slug"]), str(detail["detail"]), {"reason": detail.get("reason")})
        return end_without_draft(ending, JobState.FAILED, why)
    if end is End.DONE and run.best is not None:
        if ending.mode is Mode.SEARCH and not run.best.optimal:
            return _answer_from_search(ending, run, snapshot=snapshot)
        return save_draft(ending, run.best, snapshot=snapshot, state=JobState.SUCCEEDED, why={"slug": "drawn"})
    if end is End.CRASHED and run.best is None and held.attempt < terms.max_attempts:
        with ending.database.transaction() as session:
            jobs.retry_later(session, held, seconds=min(2 ** (held.attempt - 1), 30))
        log.warning("solver.crashed", job_id=held.job_id, attempt=held.attempt, reason=detail.get("reason"))
        return JobState.QUEUED
    return _last_valid_draw(ending, run, snapshot=snapshot)


def _answer_from_search(ending: Ending, run: Run, *, snapshot: Snapshot) -> JobState | None:
    assert run.best is not None
    left_open = ", ".join(run.best.relaxed) or "nothing"
    why = outcome(
        "breaker-open",
        "Draws of this event ran into their deadline several times in a row, so this one comes from the quick search: "
        f"it is legal, not proven best (relaxed: {left_open}). Read it and accept it before publishing.",
        {},
    )
    return save_draft(ending, run.best, snapshot=snapshot, state=JobState.DEGRADED, why=why)


def _last_valid_draw(ending: Ending, run: Run, *, snapshot: Snapshot) -> JobState | None:
    assert run.ended is not None
    end, solver = run.ended.end, {"solver": dict(run.ended.detail), "refused": run.refused}
    timed_out = end is not End.DONE
    with ending.database.snapshot() as session:
        answer = ladder.last_valid_draw(session, ending.held, best=run.best, tournament=snapshot.tournament)
    if answer is None:
        text = f"{WHY[end]} There is no earlier draw of this round to fall back on: pair it by hand, or ask again."
        why = outcome(f"solver-{end.value}", text, solver)
        return end_without_draft(ending, JobState.FAILED, why, timed_out=timed_out)
    text = f"{WHY[end]} {answer.words} Read it and accept it before publishing."
    why = outcome(f"solver-{end.value}", text, {**solver, "rung": answer.rung})
    return save_draft(ending, answer.draw, snapshot=snapshot, state=JobState.DEGRADED, why=why, timed_out=timed_out)
