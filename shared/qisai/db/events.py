"""Events, game profiles. Written by registration (results changes `event.state` only: start, finish, reopen)."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from qisai.db.base import Base, Created, Id, Version, choice


class EventState(StrEnum):
    """draft → open → closed → running → finished → archived; every step is logged and has a way back."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"
    RUNNING = "running"
    FINISHED = "finished"
    ARCHIVED = "archived"


class ProfileRow(Base):
    """A game profile. An event keeps its own copy, so a later change touches no existing event."""

    __tablename__ = "profile"

    code: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(sa.SmallInteger)
    data: Mapped[dict[str, Any]]
    """As `qisai.kernel.profiles` writes it: names, unit, sides, default regulations."""
    shipped: Mapped[dict[str, Any] | None]
    """`data` as `qisai migrate` last wrote it; where `data` differs, somebody edited it and migrate leaves it alone."""
    version: Mapped[Version]
    updated_at: Mapped[Created]


class EventRow(Base):
    """One competition of the association, with its own frozen regulations."""

    __tablename__ = "event"
    __table_args__ = (
        sa.CheckConstraint("capacity is null or capacity between 1 and 20000", name="capacity"),
        sa.CheckConstraint("late_entry_until is null or late_entry_until between 1 and 100", name="late_entry_until"),
        sa.CheckConstraint("max_byes is null or max_byes between 0 and 100", name="max_byes"),
        sa.CheckConstraint("byes_until_round is null or byes_until_round between 1 and 100", name="byes_until_round"),
        sa.Index("ix_event_state_starts_on", "state", "starts_on"),
    )

    id: Mapped[Id]
    name: Mapped[str]
    state: Mapped[EventState] = mapped_column(choice(EventState, "state"), server_default="draft")
    profile: Mapped[str] = mapped_column(sa.ForeignKey("profile.code"))
    profile_copy: Mapped[dict[str, Any]]
    regulations: Mapped[dict[str, Any]]
    """The `regulations` object of `qisai.tournament/1` with every default filled in."""
    is_public: Mapped[bool] = mapped_column(server_default=sa.true())
    time_zone: Mapped[str]
    venue: Mapped[str] = mapped_column(server_default="")
    starts_on: Mapped[date | None]
    needs_approval: Mapped[bool] = mapped_column(server_default=sa.true())
    needs_check_in: Mapped[bool] = mapped_column(server_default=sa.true())
    capacity: Mapped[int | None] = mapped_column(sa.Integer)
    registration_until: Mapped[datetime | None]
    """From then on the public registers nobody, whatever the state; the desk may still enter somebody late."""
    expected_entrants: Mapped[int | None] = mapped_column(sa.Integer)
    late_entry_until: Mapped[int | None] = mapped_column(sa.SmallInteger)
    """Last round in which somebody may still enter; 1: nobody after round 1 is published; NULL: any round."""
    max_byes: Mapped[int | None] = mapped_column(sa.SmallInteger)
    """Half- and full-point byes that one entrant may ask for; NULL: any number."""
    byes_until_round: Mapped[int | None] = mapped_column(sa.SmallInteger)
    """Last round for which such byes may be asked; NULL: any round."""
    algorithm: Mapped[str | None]
    frozen_at: Mapped[datetime | None]
    """When round 1 was published: from then on regulations, numbers and the algorithm version do not change."""
    version: Mapped[Version]
    created_at: Mapped[Created]
    created_by: Mapped[int | None]
