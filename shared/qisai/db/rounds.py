"""Rounds, draws, boards, seats and the log of results. Written by results; pairing inserts draft draws."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from qisai.db.base import Base, Created, Id, Version, choice
from qisai.kernel.model import Result, Source


class RoundState(StrEnum):
    """A round without a row is pending; "drawn" is derived from a draft existing."""

    PENDING = "pending"
    PUBLISHED = "published"
    CLOSED = "closed"


class DrawState(StrEnum):
    """A draft is replaced by a later one, published, or taken back (`unpublished`)."""

    DRAFT = "draft"
    PUBLISHED = "published"
    REPLACED = "replaced"
    UNPUBLISHED = "unpublished"


class SeatPlace(StrEnum):
    """Where an entrant is in a round: a side of a board as drawn, or the kind of bye."""

    FIRST = "first"
    SECOND = "second"
    PAIRING = "pairing"
    HALF = "half"
    FULL = "full"
    ZERO = "zero"
    ABSENT = "absent"


class RoundRow(Base):
    """A round of an event. Created by publishing, so a failed pairing leaves no empty round behind."""

    __tablename__ = "round"
    __table_args__ = (
        sa.UniqueConstraint("event_id", "number"),
        sa.UniqueConstraint("event_id", "id"),
        sa.CheckConstraint("number between 1 and 100", name="number"),
        sa.CheckConstraint("clock_ends_at is null or clock_left_ms is null", name="clock"),
    )

    id: Mapped[Id]
    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"))
    number: Mapped[int] = mapped_column(sa.Integer)
    state: Mapped[RoundState] = mapped_column(choice(RoundState, "state"), server_default="pending")
    draw_id: Mapped[int | None] = mapped_column(sa.ForeignKey("draw.id", use_alter=True))
    published_at: Mapped[datetime | None]
    published_by: Mapped[str | None]
    closed_at: Mapped[datetime | None]
    closed_by: Mapped[str | None]
    clock_ends_at: Mapped[datetime | None]
    """When the round's time is over, by the server's clock, while it runs; null while it stands or there is none."""
    clock_left_ms: Mapped[int | None]
    """Milliseconds left while the clock stands; null while it runs or there is none."""
    version: Mapped[Version]


class DrawRow(Base):
    """A draw of a round. `document` is `qisai.draw/1`; `number` counts the draws of one round from 1."""

    __tablename__ = "draw"
    __table_args__ = (
        sa.UniqueConstraint("event_id", "round_no", "number"),
        sa.UniqueConstraint("job_id"),
        sa.Index(
            "uq_draw_event_id_round_no_draft",
            "event_id",
            "round_no",
            unique=True,
            postgresql_where=sa.text("state = 'draft'"),
        ),
    )

    id: Mapped[Id]
    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"))
    round_no: Mapped[int] = mapped_column(sa.Integer)
    number: Mapped[int] = mapped_column(sa.Integer)
    state: Mapped[DrawState] = mapped_column(choice(DrawState, "state"), server_default="draft")
    source: Mapped[Source] = mapped_column(choice(Source, "source"))
    job_id: Mapped[int | None] = mapped_column(sa.ForeignKey("pairing_job.id", ondelete="SET NULL", use_alter=True))
    pairing_no: Mapped[int]
    """The event's pairing number that this draw was computed from: another one today means the draft is stale."""
    document: Mapped[dict[str, Any]]
    snapshot: Mapped[dict[str, Any]]
    """The whole `qisai.tournament/1` the draw was computed from, so that anyone can replay it from a file."""
    needs_acceptance: Mapped[bool] = mapped_column(server_default=sa.false())
    accepted_at: Mapped[datetime | None]
    accepted_by: Mapped[str | None]
    version: Mapped[Version]
    created_at: Mapped[Created]


class BoardRow(Base):
    """A board of a published round. `result` null: not reported yet. Entrants stand as drawn; `swapped` as played."""

    __tablename__ = "board"
    __table_args__ = (
        sa.CheckConstraint("first_entrant_id <> second_entrant_id", name="two_entrants"),
        sa.UniqueConstraint("round_id", "id"),
        sa.ForeignKeyConstraint(["event_id", "round_id"], ["round.event_id", "round.id"]),
        sa.Index("ix_board_event_id", "event_id"),
        sa.Index(
            "uq_board_round_id_number",
            "round_id",
            "number",
            unique=True,
            postgresql_where=sa.text("unpublished_at is null"),
        ),
        sa.ForeignKeyConstraint(["event_id", "first_entrant_id"], ["entrant.event_id", "entrant.id"]),
        sa.ForeignKeyConstraint(["event_id", "second_entrant_id"], ["entrant.event_id", "entrant.id"]),
    )

    id: Mapped[Id]
    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"))
    round_id: Mapped[int]
    number: Mapped[int] = mapped_column(sa.Integer)
    first_entrant_id: Mapped[int]
    second_entrant_id: Mapped[int]
    swapped: Mapped[bool] = mapped_column(server_default=sa.false())
    """The players actually sat the other way round; `result` then speaks of the sides as played."""
    result: Mapped[Result | None] = mapped_column(choice(Result, "result"))
    note: Mapped[str] = mapped_column(server_default="")
    version: Mapped[Version]
    updated_at: Mapped[Created]
    updated_by: Mapped[str] = mapped_column(server_default="")
    updated_account_id: Mapped[int | None]
    updated_device: Mapped[str] = mapped_column(server_default="")
    unpublished_at: Mapped[datetime | None]


class SeatRow(Base):
    """One place of one entrant in one round: the primary key keeps anyone from being on two boards."""

    __tablename__ = "seat"
    __table_args__ = (
        sa.UniqueConstraint("board_id", "place"),
        sa.CheckConstraint("(board_id is not null) = (place in ('first', 'second'))", name="board_or_bye"),
        sa.ForeignKeyConstraint(["round_id", "board_id"], ["board.round_id", "board.id"]),
        sa.Index("ix_seat_entrant_id", "entrant_id"),
    )

    round_id: Mapped[int] = mapped_column(sa.ForeignKey("round.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(sa.ForeignKey("entrant.id"), primary_key=True)
    board_id: Mapped[int | None]
    place: Mapped[SeatPlace] = mapped_column(choice(SeatPlace, "place"))


class AdjustmentRow(Base):
    """Points that the chief referee gave or took, from a round on. A decision is taken back, never deleted."""

    __tablename__ = "adjustment"
    __table_args__ = (
        sa.CheckConstraint("half_points <> 0 and half_points between -200 and 200", name="half_points"),
        sa.CheckConstraint("after_round between 1 and 100", name="after_round"),
        sa.ForeignKeyConstraint(["event_id", "entrant_id"], ["entrant.event_id", "entrant.id"]),
        sa.Index("ix_adjustment_event_id", "event_id"),
    )

    id: Mapped[Id]
    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"))
    entrant_id: Mapped[int]
    half_points: Mapped[int] = mapped_column(sa.Integer)
    after_round: Mapped[int] = mapped_column(sa.Integer)
    reason: Mapped[str]
    made_at: Mapped[Created]
    made_by: Mapped[str]
    account_id: Mapped[int | None]
    taken_back_at: Mapped[datetime | None]
    taken_back_by: Mapped[str | None]
    taken_back_reason: Mapped[str | None]
    version: Mapped[Version]


class ResultLogRow(Base):
    """Every change of a board: old, new, who, when, from where, why. Insert-only, in the transaction of the change."""

    __tablename__ = "result_log"
    __table_args__ = (
        sa.UniqueConstraint("board_id", "version"),
        sa.Index("ix_result_log_board_id_at", "board_id", "at"),
        sa.Index("ix_result_log_event_id_at", "event_id", "at"),
    )

    id: Mapped[Id]
    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"))
    board_id: Mapped[int] = mapped_column(sa.ForeignKey("board.id"))
    round_no: Mapped[int] = mapped_column(sa.Integer)
    version: Mapped[int] = mapped_column(sa.Integer)
    """The version this change made."""
    old: Mapped[dict[str, Any]]
    new: Mapped[dict[str, Any]]
    at: Mapped[Created]
    actor_account_id: Mapped[int | None]
    actor_name: Mapped[str]
    device: Mapped[str] = mapped_column(server_default="")
    reason: Mapped[str] = mapped_column(server_default="")
    request_id: Mapped[str] = mapped_column(server_default="-")


class ResultConflictRow(Base):
    """A result refused because its write saw an older version. Insert-only, for the people who ask later."""

    __tablename__ = "result_conflict"
    __table_args__ = (sa.Index("ix_result_conflict_event_id_at", "event_id", "at"),)

    id: Mapped[Id]
    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"))
    board_id: Mapped[int] = mapped_column(sa.ForeignKey("board.id"))
    round_no: Mapped[int] = mapped_column(sa.Integer)
    seen_version: Mapped[int] = mapped_column(sa.Integer)
    present_version: Mapped[int] = mapped_column(sa.Integer)
    present: Mapped[dict[str, Any]]
    wanted: Mapped[dict[str, Any]]
    at: Mapped[Created]
    actor_account_id: Mapped[int | None]
    actor_name: Mapped[str]
    device: Mapped[str] = mapped_column(server_default="")
    request_id: Mapped[str] = mapped_column(server_default="-")


class StandingsKind(StrEnum):
    """Which document of standings is kept."""

    STANDINGS = "standings"
    CROSSTABLE = "crosstable"


class StandingsCacheRow(Base):
    """Standings as answered last, a row for each round after which. Rebuilt at a read; deleting it costs time only."""

    __tablename__ = "standings_cache"

    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"), primary_key=True)
    after_round: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    kind: Mapped[StandingsKind] = mapped_column(choice(StandingsKind, "kind"), primary_key=True)
    feed_no: Mapped[int]
    """The event's feed number that this was computed at; with another one today, it is not served."""
    document: Mapped[str]
    """The answer's JSON, as text: served as it is."""
    digest: Mapped[str]
    """Of key, feed number, software version and document: a row that somebody changed is not served either."""
    made_at: Mapped[Created]
