"""From the end of a solver's run to the end of the job, by the ladder of answers where the solver did not finish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import structlog

from qisai.db.jobs import JobState
from qisai.db.snapshot import Snapshot
from services.pairing import jobs, ladder
from services.pairing.breaker import Mode
from services.pairing.ending import Ending, end_without_draft, outcome, save_draft
from services.pairing.running import Run
from services.pairing.solving import End
from services.pairing.terms import Terms

log = structlog.get_logger()

WHY: Final[Mapping[End, str]] = {
    End.DEADLINE: "The solver did not finish before its deadline.",
    End.CRASHED: "The solver broke down.",
    End.DONE: "The solver offered no draw that keeps the rules.",
}


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
            jobs.retry_later(session, held, pause=min(2 ** (held.attempt - 1), 30))
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
        answer = ladder.last_valid_draw(
            session, event_id=ending.event_id, best=run.best, tournament=snapshot.tournament
        )
    if answer is None:
        text = f"{WHY[end]} There is no earlier draw of this round to fall back on: pair it by hand, or ask again."
        why = outcome(f"solver-{end.value}", text, solver)
        return end_without_draft(ending, JobState.FAILED, why, timed_out=timed_out)
    text = f"{WHY[end]} {answer.words} Read it and accept it before publishing."
    why = outcome(f"solver-{end.value}", text, {**solver, "rung": answer.rung, **answer.said})
    return save_draft(ending, answer.draw, snapshot=snapshot, state=JobState.DEGRADED, why=why, timed_out=timed_out)
