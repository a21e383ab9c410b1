"""The circuit breaker of an event: after timeouts in a row its jobs answer from the search at once.

closed → (3 timeouts in a row) → open → (after a pause) → half open, one trial of the optimal stage → closed or open.
The row is written in the transaction that claims or finishes a job, so all workers agree and restarts change nothing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from qisai.db.jobs import BreakerRow, BreakerState, JobRow
from services.pairing.jobs import ACTIVE, CLOCK, seconds

log = structlog.get_logger()

TIMEOUTS: Final = 3
"""So many in a row open the breaker."""
PAUSE_SECONDS: Final = 60
"""So long it stays open before a trial, unless settings say otherwise."""


class Mode(StrEnum):
    """What a job may try."""

    FULL = "full"
    TRIAL = "trial"
    """The one job that tries the optimal stage while the breaker is half open."""
    SEARCH = "search"


class Change(StrEnum):
    """What the end of a job did to the breaker."""

    NONE = "none"
    OPENED = "opened"
    CLOSED = "closed"


def admit(session: Session, event_id: int, *, job_id: int, pause_seconds: int = PAUSE_SECONDS) -> Mode:
    """What the job just claimed may try. Takes the breaker's row: call it in the transaction of the claim."""
    row = _hold(session, event_id)
    if row is None or row.state is BreakerState.CLOSED:
        return Mode.FULL
    if row.state is BreakerState.OPEN:
        over = sa.select(BreakerRow.opened_at + seconds(pause_seconds) <= CLOCK).where(BreakerRow.event_id == event_id)
        if not session.execute(over).scalar_one():
            return Mode.SEARCH
    elif row.trial_job_id != job_id and _is_active(session, row.trial_job_id):
        return Mode.SEARCH
    _set(session, event_id, state=BreakerState.HALF_OPEN, trial_job_id=job_id)
    if row.state is BreakerState.OPEN:
        log.info("breaker.half_open", event_id=event_id, job_id=job_id)
    return Mode.TRIAL


def record_timeout(session: Session, event_id: int, *, mode: Mode) -> Change:
    """A job's solver did not finish. Opens the breaker at the third in a row, and at once after a failed trial."""
    if mode is Mode.SEARCH:
        return Change.NONE
    row = _hold(session, event_id, create=True)
    assert row is not None
    timeouts = row.timeouts + 1
    if mode is Mode.FULL and timeouts < TIMEOUTS:
        _set(session, event_id, timeouts=timeouts)
        return Change.NONE
    _set(session, event_id, state=BreakerState.OPEN, timeouts=timeouts, opened_at=CLOCK, trial_job_id=None)
    log.warning("breaker.opened", event_id=event_id, timeouts=timeouts)
    return Change.OPENED


def record_finish(session: Session, event_id: int, *, mode: Mode) -> Change:
    """A job's solver came to its end: the row of timeouts is broken, a trial closes the breaker."""
    if mode is Mode.SEARCH:
        return Change.NONE
    row = _hold(session, event_id)
    if row is None or (row.state is BreakerState.CLOSED and row.timeouts == 0):
        return Change.NONE
    _set(session, event_id, state=BreakerState.CLOSED, timeouts=0, opened_at=None, trial_job_id=None)
    if row.state is BreakerState.CLOSED:
        return Change.NONE
    log.info("breaker.closed", event_id=event_id)
    return Change.CLOSED


def _hold(session: Session, event_id: int, *, create: bool = False) -> BreakerRow | None:
    if create:
        statement = insert(BreakerRow).values(event_id=event_id)
        session.execute(statement.on_conflict_do_nothing(index_elements=["event_id"]))
    query = sa.select(BreakerRow).where(BreakerRow.event_id == event_id).with_for_update()
    return session.scalars(query.execution_options(populate_existing=True)).one_or_none()


def _set(session: Session, event_id: int, **values: Any) -> None:
    statement = sa.update(BreakerRow).where(BreakerRow.event_id == event_id)
    values |= {"version": BreakerRow.version + 1, "updated_at": CLOCK}
    session.execute(statement.values(**values).execution_options(synchronize_session=False))


def _is_active(session: Session, job_id: int | None) -> bool:
    active = (JobRow.id == job_id, JobRow.state.in_(ACTIVE))
    return session.execute(sa.select(sa.literal(1)).where(*active)).first() is not None
