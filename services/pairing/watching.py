"""Alerts that follow from the state of things: what should be open by the tables, and what is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.events import EventRow
from qisai.db.jobs import BreakerRow, BreakerState, JobRow, JobState, WorkerRow, worker_lives
from qisai.db.records import AlertRow, Severity
from qisai.db.rounds import RoundRow, RoundState
from qisai.kernel.model import ALGORITHM
from services.pairing import canary, jobs
from services.pairing.alert_kinds import EVERYWHERE, AlertKind, switch
from services.pairing.jobs import CLOCK, ago


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """From when on things count as wrong, in seconds."""

    lease_seconds: int
    canary_seconds: int
    grace_seconds: int = 0
    """So long after a keeper begins to lead nobody's silence is an alert yet: others may be starting too."""

    @property
    def stuck_seconds(self) -> float:
        """A due job this old is stuck if none of its queue began or ended in the meantime: four leases."""
        return 4 * self.lease_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One alert to raise or to clear."""

    kind: AlertKind
    on: bool
    key: str = EVERYWHERE
    severity: Severity = Severity.CRITICAL
    event_id: int | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    def make(self, session: Session) -> None:
        """Raises or clears it; with a transaction of its own for each no two locks of different events meet."""
        switch(
            session,
            self.kind,
            on=self.on,
            key=self.key,
            severity=self.severity,
            event_id=self.event_id,
            detail=self.detail,
        )


_OF_SILENCE: Final = frozenset({AlertKind.QUEUE_STUCK, AlertKind.NO_LIVE_WORKER, AlertKind.CANARY_LATE})
"""Where everything starts at once, or comes back with the database, these would be raised for a moment each time."""
_WATCHED: Final = (*_OF_SILENCE, AlertKind.BROKER_AWAY, AlertKind.OTHER_RELEASE, AlertKind.KEEPER_LATE)


def changes(session: Session, *, limits: Limits, broker_answers: bool, is_early: bool = False) -> list[Change]:
    """What has to be raised, because it is wrong and not open, and cleared, because it is open and no longer wrong.

    `is_early`: within the grace, when silence raises nothing; what is open already stays open.
    """
    rows = session.execute(
        sa.select(AlertRow.kind, AlertRow.key, AlertRow.event_id).where(
            AlertRow.kind.in_(_WATCHED), AlertRow.cleared_at.is_(None)
        )
    )
    is_open = {(AlertKind(row.kind), row.key): row.event_id for row in rows}
    wrong = {(change.kind, change.key): change for change in _wrong(session, limits, broker_answers=broker_answers)}
    raised = [
        change
        for place, change in wrong.items()
        if place not in is_open and not (is_early and change.kind in _OF_SILENCE)
    ]
    cleared = [
        Change(kind=kind, key=key, on=False, event_id=event_id)
        for (kind, key), event_id in is_open.items()
        if (kind, key) not in wrong
    ]
    return [*raised, *cleared, *_settled(session)]


def _wrong(session: Session, limits: Limits, *, broker_answers: bool) -> Iterator[Change]:
    if not broker_answers:
        yield Change(kind=AlertKind.BROKER_AWAY, on=True)
    # Asked once: a heartbeat that grows too old between two questions would be one of another release.
    live = session.scalars(sa.select(WorkerRow.algorithms).where(worker_lives(limits.lease_seconds))).all()
    if not live:
        yield Change(kind=AlertKind.NO_LIVE_WORKER, on=True)
    yield from _stuck(session, limits)
    late = canary.trouble(session, every_seconds=limits.canary_seconds)
    if late is not None:
        yield Change(kind=AlertKind.CANARY_LATE, on=True, severity=Severity.WARNING, detail=late)
    if live:
        yield from _lacking(session, {name for names in live for name in names})


def _stuck(session: Session, limits: Limits) -> Iterator[Change]:
    """Queues whose oldest due job is too old while none of theirs began or ended for as long.

    Each by itself, and without canaries: what moves in one queue says nothing about the workers of the other. Nor does
    a job that somebody cancelled.
    """
    since = ago(limits.stuck_seconds)
    ended = sa.and_(JobRow.finished_at > since, JobRow.state != JobState.CANCELLED)
    moves = sa.select(JobRow.queue).where(~JobRow.is_canary, sa.or_(JobRow.started_at > since, ended)).distinct()
    moving = set(session.scalars(moves))
    for queue, oldest in sorted(jobs.oldest_due(session).items()):
        if oldest > limits.stuck_seconds and queue not in moving:
            detail = {"queue": queue, "oldest_seconds": int(oldest)}
            yield Change(kind=AlertKind.QUEUE_STUCK, on=True, key=queue, detail=detail)


def _lacking(session: Session, known: set[str]) -> Iterator[Change]:
    """Events whose draws wait for an algorithm that no live worker has; `known` are those that they have."""
    needed = sa.func.coalesce(EventRow.algorithm, ALGORITHM)
    waiting = (
        sa.select(EventRow.id, needed.label("needed"))
        .join(JobRow, JobRow.event_id == EventRow.id)
        .where(JobRow.state == JobState.QUEUED, JobRow.due_at <= CLOCK, needed.not_in(known))
        .distinct()
    )
    for row in session.execute(waiting):
        detail = {"needs": row.needed, "workers_have": sorted(known)}
        yield Change(kind=AlertKind.OTHER_RELEASE, on=True, key=str(row.id), event_id=row.id, detail=detail)


def _settled(session: Session) -> Iterator[Change]:
    """A degraded or failed draw is settled once its round is published, a breaker once somebody has closed it."""
    a, r, b = AlertRow, RoundRow, BreakerRow
    of_round = (AlertKind.DRAW_DEGRADED, AlertKind.DRAW_FAILED)
    published = sa.and_(
        r.event_id == a.event_id, r.state != RoundState.PENDING, a.key == sa.func.concat(r.event_id, ":", r.number)
    )
    rounds = sa.select(a.kind, a.key, a.event_id).join(r, published).where(a.kind.in_(of_round), a.cleared_at.is_(None))
    closed = sa.and_(b.event_id == a.event_id, b.state == BreakerState.CLOSED)
    breakers = sa.select(a.kind, a.key, a.event_id).join(b, closed)
    breakers = breakers.where(a.kind == AlertKind.BREAKER_OPEN, a.cleared_at.is_(None))
    for row in (*session.execute(rounds), *session.execute(breakers)):
        yield Change(kind=AlertKind(row.kind), key=row.key, on=False, event_id=row.event_id)
