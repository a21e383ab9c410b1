"""One pairing job from claim to draft. No transaction is open while the solver runs, so nothing here can hold a
referee; every step that writes says what it expects to find and is dropped when it finds something else."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.orm import Session

from qisai.db.jobs import JobState
from qisai.db.records import Severity
from qisai.db.rounds import DrawRow, DrawState
from qisai.db.session import Database
from qisai.db.snapshot import Snapshot, read_tournament
from qisai.errors import QisaiError, Unavailable
from qisai.kernel.check import violations
from qisai.kernel.draw_file import draw_to_json, parse_draw
from qisai.kernel.model import Draw
from qisai.kernel.tournament_file import tournament_to_json
from qisai.ledger import alerts, audit, feed
from qisai.ledger.actor import system_actor
from services.pairing import jobs, ladder
from services.pairing.jobs import Claim
from services.pairing.solving import DrawFound, End, Ended, Solver, Tick

log = structlog.get_logger()

MOST_RESTARTS: Final = 20
"""How often a job starts again because its input changed while it ran, before it is `superseded`."""
DEGRADED_ALERT: Final = "draw-degraded"
FAILED_ALERT: Final = "draw-failed"
SAVE_TRIES: Final = 8


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
    if held is None:
        log.info("job.not_taken", job_id=job_id)
        return None
    log.info("job.taken", job_id=job_id, event_id=held.event_id, round_no=held.round_no, attempt=held.attempt)
    try:
        with database.snapshot() as session:
            snapshot = read_tournament(session, held.event_id, round_no=held.round_no, for_pairing=True)
    except Unavailable:
        raise
    except QisaiError as error:
        return _end(database, held, JobState.FAILED, _outcome(error.slug, error.detail, error.context))
    run = solve(database, solver, held, snapshot=snapshot, terms=terms)
    if run.lost or run.ended is None:
        log.info("job.lost", job_id=job_id)
        return None
    return conclude(database, held, run, snapshot=snapshot, terms=terms)


def solve(database: Database, solver: Solver, held: Claim, *, snapshot: Snapshot, terms: Terms) -> Run:
    """Runs the solver, checks every draw it offers, keeps the best, and renews the lease with progress."""
    deadline_ms = int(held.limits.get("deadline_ms") or terms.deadline_ms)
    request = {
        "job": held.job_id,
        "tournament": tournament_to_json(snapshot.tournament),
        "stage": "optimal",
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
    messages.close()  # type: ignore[attr-defined]
    return run


def _consider(run: Run, found: DrawFound, *, snapshot: Snapshot) -> None:
    draw = parse_draw(found.document)
    faults = violations(snapshot.tournament, draw)
    if faults:
        run.refused.append({"elapsed_ms": found.elapsed_ms, "violations": [str(fault) for fault in faults]})
        log.error("solver.illegal_draw", violations=len(faults))
    elif run.best is None or tuple(draw.cost.values()) < tuple(run.best.cost.values()):
        run.best = draw


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


def conclude(database: Database, held: Claim, run: Run, *, snapshot: Snapshot, terms: Terms) -> JobState | None:
    """Turns the end of a run into the end of the job, by the ladder of answers of docs/architecture.md."""
    assert run.ended is not None
    end = run.ended.end
    detail = run.ended.detail
    if end in (End.NO_LEGAL_DRAW, End.BAD_INPUT):
        outcome = _outcome(str(detail["slug"]), str(detail["detail"]), {"reason": detail.get("reason")})
        return _end(database, held, JobState.FAILED, outcome)
    if end is End.DONE and run.best is not None:
        return save(database, held, run.best, snapshot=snapshot, state=JobState.SUCCEEDED, outcome={"slug": "drawn"})
    if end is End.CRASHED and run.best is None and held.attempt < terms.max_attempts:
        with database.transaction() as session:
            jobs.retry_later(session, held, seconds=min(2 ** (held.attempt - 1), 30))
        log.warning("solver.crashed", job_id=held.job_id, attempt=held.attempt, reason=detail.get("reason"))
        return JobState.QUEUED
    why = {
        End.DEADLINE: "The solver did not finish before its deadline.",
        End.CRASHED: "The solver broke down.",
        End.DONE: "The solver offered no draw that keeps the rules.",
    }[end]
    with database.snapshot() as session:
        answer = ladder.last_valid_draw(session, held, best=run.best, tournament=snapshot.tournament)
    if answer is None:
        outcome = _outcome(
            f"solver-{end.value}",
            f"{why} There is no earlier draw of this round to fall back on: pair it by hand, or ask again.",
            {"solver": dict(detail), "refused": run.refused},
        )
        return _end(database, held, JobState.FAILED, outcome)
    outcome = _outcome(
        f"solver-{end.value}",
        f"{why} {answer.words} Read it and accept it before publishing.",
        {"solver": dict(detail), "refused": run.refused, "rung": answer.rung},
    )
    return save(database, held, answer.draw, snapshot=snapshot, state=JobState.DEGRADED, outcome=outcome)


def save(
    database: Database, held: Claim, draw: Draw, *, snapshot: Snapshot, state: JobState, outcome: Mapping[str, Any]
) -> JobState | None:
    """Stores the draft and ends the job in one short transaction, if the pairing input is still the same.

    A connection lost during the commit leaves two possibilities; the job row, read again, tells which one came true.
    """
    for attempt in range(SAVE_TRIES):
        try:
            return _save_once(database, held, draw, snapshot=snapshot, state=state, outcome=outcome)
        except Unavailable:
            log.warning("job.save_failed", job_id=held.job_id, attempt=attempt)
            time.sleep(min(0.25 * 2**attempt, 4))
    raise Unavailable("database-away", "The database does not answer; the job will be tried again.")


def _save_once(
    database: Database, held: Claim, draw: Draw, *, snapshot: Snapshot, state: JobState, outcome: Mapping[str, Any]
) -> JobState | None:
    with database.transaction() as session:
        draw_id = _insert_draft(session, held, draw, snapshot=snapshot, accept=state is JobState.DEGRADED)
        done = jobs.finish(session, held, state=state, outcome=outcome, draw_id=draw_id, pairing_no=snapshot.pairing_no)
        if not done:
            session.rollback()
            log.info("job.lost_before_save", job_id=held.job_id)
            return None
        _tell(session, held, state=state, outcome=outcome)
        data = {"round": held.round_no, "job": held.job_id, "state": state.value}
        numbers = feed.publish(session, held.event_id, "draw.ready", data=data)
        stale = numbers.pairing_no != snapshot.pairing_no
        if stale:
            session.rollback()
    if stale:
        return _start_again(database, held)
    log.info("job.ended", job_id=held.job_id, state=state.value)
    return state


def _insert_draft(session: Session, held: Claim, draw: Draw, *, snapshot: Snapshot, accept: bool) -> int:
    here = (DrawRow.event_id == held.event_id, DrawRow.round_no == held.round_no)
    session.execute(
        sa.update(DrawRow)
        .where(*here, DrawRow.state == DrawState.DRAFT)
        .values(state=DrawState.REPLACED, version=DrawRow.version + 1)
        .execution_options(synchronize_session=False)
    )
    latest = session.execute(sa.select(sa.func.max(DrawRow.number)).where(*here)).scalar_one()
    row = DrawRow(
        event_id=held.event_id,
        round_no=held.round_no,
        number=(latest or 0) + 1,
        source=draw.source,
        job_id=held.job_id,
        pairing_no=snapshot.pairing_no,
        document=draw_to_json(draw),
        snapshot=tournament_to_json(snapshot.tournament),
        needs_acceptance=accept,
    )
    session.add(row)
    session.flush()
    return row.id


def _tell(session: Session, held: Claim, *, state: JobState, outcome: Mapping[str, Any]) -> None:
    """Audit row, and the alert raised or cleared, in the transaction that ends the job."""
    actor = system_actor("pairing", request_id=held.request_id)
    key = f"{held.event_id}:{held.round_no}"
    audit.record(
        session,
        actor,
        action=f"job.{state.value}",
        subject=f"job:{held.job_id}",
        event_id=held.event_id,
        new={"round": held.round_no, "outcome": outcome.get("slug")},
    )
    detail = {"job": held.job_id, "round": held.round_no, **{k: outcome[k] for k in ("slug", "detail") if k in outcome}}
    if state is JobState.DEGRADED:
        alerts.raise_alert(
            session, DEGRADED_ALERT, key=key, severity=Severity.WARNING, event_id=held.event_id, detail=detail
        )
    elif state is JobState.FAILED:
        alerts.raise_alert(
            session, FAILED_ALERT, key=key, severity=Severity.WARNING, event_id=held.event_id, detail=detail
        )
    else:
        alerts.clear_alert(session, DEGRADED_ALERT, key=key)
    if state is not JobState.FAILED:
        alerts.clear_alert(session, FAILED_ALERT, key=key)


def _start_again(database: Database, held: Claim) -> JobState:
    if held.restarts + 1 < MOST_RESTARTS:
        with database.transaction() as session:
            jobs.back_to_queue(session, held)
        log.info("job.input_changed", job_id=held.job_id, restarts=held.restarts + 1)
        return JobState.QUEUED
    outcome = _outcome(
        "input-kept-changing", f"The results or the field changed {MOST_RESTARTS} times while this ran; ask again.", {}
    )
    _end(database, held, JobState.SUPERSEDED, outcome)
    return JobState.SUPERSEDED


def _end(database: Database, held: Claim, state: JobState, outcome: Mapping[str, Any]) -> JobState | None:
    """Ends a job without a draft."""
    with database.transaction() as session:
        if not jobs.finish(session, held, state=state, outcome=outcome):
            return None
        _tell(session, held, state=state, outcome=outcome)
        data = {"round": held.round_no, "job": held.job_id, "state": state.value}
        feed.publish(session, held.event_id, "draw.failed", data=data)
    log.info("job.ended", job_id=held.job_id, state=state.value, outcome=outcome.get("slug"))
    return state


def _outcome(slug: str, detail: str, context: Mapping[str, Any]) -> dict[str, Any]:
    return {"slug": slug, "detail": detail, **context}
