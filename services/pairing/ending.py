"""How a job ends: its draft, its row, the breaker, log, alert and feed in one short transaction, or not at all."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.orm import Session

from qisai.db.jobs import JobState
from qisai.db.rounds import DrawRow, DrawState
from qisai.db.session import Database
from qisai.db.snapshot import Snapshot
from qisai.errors import Unavailable
from qisai.kernel.draw_file import draw_to_json
from qisai.kernel.model import Draw
from qisai.kernel.tournament_file import tournament_to_json
from qisai.ledger import audit, feed
from qisai.ledger.actor import system_actor
from services.pairing import breaker, jobs
from services.pairing.alert_kinds import AlertKind, switch
from services.pairing.breaker import Change, Mode
from services.pairing.jobs import Claim

log = structlog.get_logger()

MOST_RESTARTS: Final = 20
"""How often a job starts again because its input changed while it ran, before it is `superseded`."""
SAVE_TRIES: Final = 8
_SAID: Final = ("slug", "detail", "rung", "drawn_no", "drawn_at", "reason")
"""Of an outcome, what an alert repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What every end of an event's job needs: where to write, who holds the job, what it was allowed to try."""

    database: Database
    held: Claim
    event_id: int
    mode: Mode


class _InputChanged(Exception):
    """The event's `pairing_no` moved while the solver ran."""


class _Lost(Exception):
    """The job is no longer ours: cancelled, or taken by another worker."""


def outcome(slug: str, detail: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Why a job ended as it did, as its row keeps it."""
    return {"slug": slug, "detail": detail, **context}


def save_draft(
    ending: Ending,
    draw: Draw,
    *,
    snapshot: Snapshot,
    state: JobState,
    why: Mapping[str, Any],
    timed_out: bool = False,
) -> JobState | None:
    """Stores the draft and ends the job, if the pairing input is still the same; else the job starts again.

    A connection lost during the commit leaves two possibilities; the claim, tested again, tells which came true, since
    a job that was ended is no longer held. None: the job is no longer ours.
    """
    for attempt in range(SAVE_TRIES):
        try:
            with ending.database.transaction() as session:
                _save(session, ending, draw, snapshot=snapshot, state=state, why=why, timed_out=timed_out)
        except _InputChanged:
            return _start_again(ending)
        except _Lost:
            log.info("job.lost_before_save", job_id=ending.held.job_id)
            return None
        except Unavailable:
            log.warning("job.save_failed", job_id=ending.held.job_id, attempt=attempt)
            time.sleep(min(0.25 * 2**attempt, 4))
        else:
            log.info("job.ended", job_id=ending.held.job_id, state=state.value)
            return state
    raise Unavailable("database-away", "The database does not answer; the job will be tried again.")


def end_without_draft(
    ending: Ending, state: JobState, why: Mapping[str, Any], *, timed_out: bool = False
) -> JobState | None:
    """Ends a job that has no draw to give."""
    try:
        with ending.database.transaction() as session:
            _end(session, ending, state=state, why=why, timed_out=timed_out, kind="draw.failed")
    except _Lost:
        log.info("job.lost_before_save", job_id=ending.held.job_id)
        return None
    log.info("job.ended", job_id=ending.held.job_id, state=state.value, outcome=why.get("slug"))
    return state


def _save(
    session: Session,
    ending: Ending,
    draw: Draw,
    *,
    snapshot: Snapshot,
    state: JobState,
    why: Mapping[str, Any],
    timed_out: bool,
) -> None:
    draft = _insert_draft(session, ending, draw, snapshot=snapshot, accept=state is JobState.DEGRADED)
    made = {"draw_id": draft, "pairing_no": snapshot.pairing_no}
    numbers = _end(session, ending, state=state, why=why, timed_out=timed_out, kind="draw.ready", **made)
    if numbers.pairing_no != snapshot.pairing_no:
        raise _InputChanged


def _end(
    session: Session,
    ending: Ending,
    *,
    state: JobState,
    why: Mapping[str, Any],
    timed_out: bool,
    kind: str,
    draw_id: int | None = None,
    pairing_no: int | None = None,
) -> feed.FeedNumbers:
    """Job row, breaker, log, alerts, and the feed as the last statement."""
    held = ending.held
    if not jobs.finish(session, held, state=state, outcome=why, draw_id=draw_id, pairing_no=pairing_no):
        raise _Lost
    change = Change.NONE
    if timed_out:
        change = breaker.record_timeout(session, ending.event_id, mode=ending.mode)
    elif state is not JobState.SUPERSEDED:
        change = breaker.record_finish(session, ending.event_id, mode=ending.mode)
    audit.record(
        session,
        system_actor("pairing", request_id=held.request_id),
        action=f"job.{state.value}",
        subject=f"job:{held.job_id}",
        event_id=ending.event_id,
        new={"round": held.round_no, "outcome": why.get("slug")},
    )
    _alert(session, ending, state=state, why=why, change=change)
    data = {"round": held.round_no, "job": held.job_id, "state": state.value}
    return feed.publish(session, ending.event_id, kind, data=data)


def _alert(session: Session, ending: Ending, *, state: JobState, why: Mapping[str, Any], change: Change) -> None:
    """The alerts of the round and of the breaker, raised or cleared."""
    held, event_id = ending.held, ending.event_id
    if change is not Change.NONE:
        on, since = change is Change.OPENED, {"job": held.job_id, "round": held.round_no}
        switch(session, AlertKind.BREAKER_OPEN, on=on, key=str(event_id), event_id=event_id, detail=since)
    if state is JobState.SUPERSEDED:
        return  # no draw, and no draw refused: what was open before is as open as it was
    bad = {JobState.DEGRADED: AlertKind.DRAW_DEGRADED, JobState.FAILED: AlertKind.DRAW_FAILED}.get(state)
    said = {name: why[name] for name in _SAID if name in why}
    detail = {"job": held.job_id, "round": held.round_no, **said}
    for kind in (AlertKind.DRAW_DEGRADED, AlertKind.DRAW_FAILED):
        key = round_key(event_id, held.round_no)
        switch(session, kind, on=kind is bad, key=key, event_id=event_id, detail=detail)


def round_key(event_id: int, round_no: int) -> str:
    """The key of alerts about a round."""
    return f"{event_id}:{round_no}"


def _insert_draft(session: Session, ending: Ending, draw: Draw, *, snapshot: Snapshot, accept: bool) -> int:
    held = ending.held
    here = (DrawRow.event_id == ending.event_id, DrawRow.round_no == held.round_no)
    session.execute(
        sa.update(DrawRow)
        .where(*here, DrawRow.state == DrawState.DRAFT)
        .values(state=DrawState.REPLACED, version=DrawRow.version + 1)
        .execution_options(synchronize_session=False)
    )
    latest = session.execute(sa.select(sa.func.max(DrawRow.number)).where(*here)).scalar_one()
    row = DrawRow(
        event_id=ending.event_id,
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


def _start_again(ending: Ending) -> JobState | None:
    held = ending.held
    if held.restarts + 1 < MOST_RESTARTS:
        with ending.database.transaction() as session:
            kept = jobs.back_to_queue(session, held)
        log.info("job.input_changed", job_id=held.job_id, restarts=held.restarts + 1)
        return JobState.QUEUED if kept else None
    text = f"The results or the field changed {MOST_RESTARTS} times while this ran; ask again."
    return end_without_draft(
        ending, JobState.SUPERSEDED, outcome("input-kept-changing", text, {"times": MOST_RESTARTS})
    )
