"""Pairing jobs and what operates them. Results inserts and cancels jobs; pairing owns everything else here."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from qisai.db.base import Base, Created, Id, Version, choice


class JobState(StrEnum):
    """Life of a pairing job. The first two are active: one active job per event and round."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    DEGRADED = "degraded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


IS_ACTIVE: Final = sa.text("state in ('queued', 'running')")
"""Predicate of the index of active jobs. Written out, also in `ON CONFLICT`: with parameters in their place PostgreSQL
no longer knows the index once the driver has prepared the statement."""
IS_ACTIVE_CANARY: Final = sa.text("is_canary and state in ('queued', 'running')")


class JobRow(Base):
    """One asked-for draw. The row is the record; a message in Redis only says that it is worth a look.

    A canary is a job of the keeper's own, without an event, that proves the way from a request to a draw. No event has
    more than one running job, so that none holds more than one worker.
    """

    __tablename__ = "pairing_job"
    __table_args__ = (
        sa.Index(
            "uq_pairing_job_event_id_round_no_active",
            "event_id",
            "round_no",
            unique=True,
            postgresql_where=IS_ACTIVE,
        ),
        sa.Index(
            "uq_pairing_job_event_id_running",
            "event_id",
            unique=True,
            postgresql_where=sa.text("state = 'running'"),
        ),
        sa.Index(
            "uq_pairing_job_is_canary_active",
            "is_canary",
            unique=True,
            postgresql_where=IS_ACTIVE_CANARY,
        ),
        sa.CheckConstraint("is_canary = (event_id is null)", name="canary"),
        sa.Index("ix_pairing_job_state_due_at", "state", "due_at"),
        sa.Index("ix_pairing_job_finished_at", "finished_at"),
    )

    id: Mapped[Id]
    event_id: Mapped[int | None] = mapped_column(sa.ForeignKey("event.id"))
    """Null for a canary, and only for a canary."""
    is_canary: Mapped[bool] = mapped_column(server_default=sa.false())
    round_no: Mapped[int] = mapped_column(sa.Integer)
    state: Mapped[JobState] = mapped_column(choice(JobState, "state"), server_default="queued")
    queue: Mapped[str]
    size: Mapped[int] = mapped_column(sa.Integer)
    """Entrants in the pool when asked; decides the queue."""
    limits: Mapped[dict[str, Any]]
    """max_depth, max_steps (counts), deadline_ms, hard_ms. What was left open is filled in by the worker that takes the
    job, by the size of the field, so that the row says what was really used."""
    requested_at: Mapped[Created]
    requested_by: Mapped[str]
    requested_account_id: Mapped[int | None]
    request_id: Mapped[str] = mapped_column(server_default="-")
    due_at: Mapped[Created]
    sent_at: Mapped[datetime | None]
    sends: Mapped[int] = mapped_column(sa.Integer, server_default="0")
    attempts: Mapped[int] = mapped_column(sa.Integer, server_default="0")
    restarts: Mapped[int] = mapped_column(sa.Integer, server_default="0")
    """How often it went back to the queue because the pairing input changed meanwhile."""
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    pairing_no: Mapped[int | None]
    progress: Mapped[dict[str, Any] | None]
    """stage, elapsed_ms, best (cost tuple of the best draw so far), entrants."""
    outcome: Mapped[dict[str, Any] | None]
    """Why it ended as it did: slug, detail and context; NoLegalDraw's reason."""
    draw_id: Mapped[int | None] = mapped_column(sa.ForeignKey("draw.id", use_alter=True))
    version: Mapped[Version]


class WorkerRow(Base):
    """Heartbeat of a pairing worker."""

    __tablename__ = "worker"

    name: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int] = mapped_column(sa.Integer)
    release: Mapped[str]
    algorithms: Mapped[list[Any]]
    queues: Mapped[list[Any]]
    started_at: Mapped[Created]
    seen_at: Mapped[Created]
    job_id: Mapped[int | None]
    load: Mapped[float | None] = mapped_column(sa.Double)
    """The machine's load average of the last minute for each of its cores: above 1, work waits for a core."""


def worker_dead_seconds(lease_seconds: int) -> float:
    """A worker that was not seen for so long is taken for dead: four thirds of a lease, which are four of its beats."""
    return 4 * lease_seconds / 3


def worker_lives(lease_seconds: int) -> sa.ColumnElement[bool]:
    """True for a worker that was seen in time."""
    unseen = sa.func.make_interval(0, 0, 0, 0, 0, 0, worker_dead_seconds(lease_seconds))
    return WorkerRow.seen_at > sa.func.clock_timestamp() - unseen


class KeeperRow(Base):
    """Heartbeat of a keeper. One of them leads; the others wait to take over."""

    __tablename__ = "keeper"

    name: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int] = mapped_column(sa.Integer)
    release: Mapped[str]
    is_leading: Mapped[bool]
    late_seconds: Mapped[int] = mapped_column(sa.Integer)
    """What it promises: unseen for so long, it is dead or stands still."""
    started_at: Mapped[Created]
    seen_at: Mapped[Created]


KEEPER_LEADS: Final = (
    KeeperRow.is_leading,
    KeeperRow.seen_at > sa.func.clock_timestamp() - sa.func.make_interval(0, 0, 0, 0, 0, 0, KeeperRow.late_seconds),
)
"""True for a keeper that leads and was seen in time. Where no row fulfils it, nobody keeps the queue."""


class BreakerState(StrEnum):
    """closed: normal; open: answer from the search at once; half_open: one trial of the optimal stage goes through."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class BreakerRow(Base):
    """Circuit breaker of one event, written in the transaction that finishes a job."""

    __tablename__ = "breaker"

    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"), primary_key=True)
    state: Mapped[BreakerState] = mapped_column(choice(BreakerState, "state"), server_default="closed")
    timeouts: Mapped[int] = mapped_column(sa.Integer, server_default="0")
    """Timeouts in a row."""
    opened_at: Mapped[datetime | None]
    trial_job_id: Mapped[int | None]
    version: Mapped[Version]
    updated_at: Mapped[Created]
