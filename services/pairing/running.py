"""One run of the solver for a job: its limits, what it offers, the lease renewed and progress shown meanwhile."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from qisai.db.session import Database
from qisai.db.snapshot import Snapshot
from qisai.errors import Unavailable
from qisai.kernel.check import violations
from qisai.kernel.draw_file import parse_draw
from qisai.kernel.model import Draw, Tournament
from qisai.kernel.pairing.draw import rank_of
from qisai.kernel.pairing.search import DEFAULT_DEPTH, LEAST_STEPS, STEPS_PER_ENTRANT
from qisai.kernel.tournament_file import tournament_to_json
from services.pairing import jobs
from services.pairing.breaker import Mode
from services.pairing.jobs import Claim
from services.pairing.solving import DrawFound, Ended, Solver, Tick
from services.pairing.terms import Terms

log = structlog.get_logger()

HARD_LIMIT_MARGIN_MS: Final = 5_000


@dataclass(slots=True)
class Run:
    """What one run of the solver brought."""

    entrants: int
    best: Draw | None = None
    refused: list[dict[str, Any]] = field(default_factory=list)
    ended: Ended | None = None
    lost: bool = False
    """The job was cancelled or taken by somebody else meanwhile."""


def limits_in_force(held: Claim, tournament: Tournament, *, terms: Terms) -> dict[str, int]:
    """The job's limits with what was left open filled in by the size of the field: counts and milliseconds."""
    steps = max(LEAST_STEPS, STEPS_PER_ENTRANT * _present(tournament))
    deadline_ms = int(held.limits.get("deadline_ms") or terms.deadline_ms)
    asked, event = held.limits, tournament.regulations.limits
    return {
        "max_depth": _first_given(asked.get("max_depth"), event.max_depth, DEFAULT_DEPTH),
        "max_steps": _first_given(asked.get("max_steps"), event.max_steps, steps),
        "deadline_ms": deadline_ms,
        "hard_ms": int(held.limits.get("hard_ms") or deadline_ms + HARD_LIMIT_MARGIN_MS),
    }


def _first_given(*values: int | None) -> int:
    return next(value for value in values if value is not None)


def _present(tournament: Tournament) -> int:
    """How many will be paired."""
    drawing, pool = tournament.next_round, tournament.next
    away = {*pool.absent, *(bye.entrant for bye in pool.byes)} if pool is not None else set()
    gone = {
        one.number for one in tournament.entrants if one.withdrawn_from is not None and one.withdrawn_from <= drawing
    }
    return len({one.number for one in tournament.entrants} - away - gone)


def solve(database: Database, solver: Solver, held: Claim, *, mode: Mode, snapshot: Snapshot, terms: Terms) -> Run:
    """Runs the solver, checks every draw it offers, keeps the best, and renews the lease with progress."""
    limits = limits_in_force(held, snapshot.tournament, terms=terms)
    run = Run(entrants=_present(snapshot.tournament))
    if not _renew(database, held, run, terms=terms, elapsed_ms=0, limits=limits):
        return run
    request = {
        "job": held.job_id,
        "tournament": tournament_to_json(snapshot.tournament),
        "stage": "search" if mode is Mode.SEARCH else "optimal",
        "limits": {name: limits[name] for name in ("max_depth", "max_steps")},
        "cpu_seconds": math.ceil(limits["hard_ms"] / 1000),
    }
    messages = solver.run(request, deadline_ms=limits["deadline_ms"], tick_ms=terms.lease_seconds * 1000 // 6)
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
    elif run.best is None or rank_of(draw) <= rank_of(run.best):
        run.best = draw  # the same draw again is one of which more was proven meanwhile


def _renew(
    database: Database,
    held: Claim,
    run: Run,
    *,
    terms: Terms,
    elapsed_ms: int,
    limits: Mapping[str, int] | None = None,
) -> bool:
    """Renews; a database that is away for a moment does not end the run: the claim is tested again at the end."""
    progress = {
        "stage": run.best.stage.value if run.best else "search",
        "elapsed_ms": elapsed_ms,
        "best": dict(run.best.cost) if run.best else None,
        "entrants": run.entrants,
    }
    values: dict[str, Any] = {"progress": progress} if limits is None else {"progress": progress, "limits": limits}
    try:
        with database.transaction() as session:
            kept = jobs.renew(session, held, lease_seconds=terms.lease_seconds, **values)
    except Unavailable:
        log.warning("job.renewal_failed", job_id=held.job_id)
        return True
    run.lost = not kept
    return kept
