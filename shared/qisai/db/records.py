"""What everyone writes through `qisai.ledger`: the event feed, the audit log, alerts."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from qisai.db.base import Base, Created, Id, choice


class FeedRow(Base):
    """Counters of an event, apart from the event itself: bumped as the last statement of each write."""

    __tablename__ = "event_feed"

    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"), primary_key=True)
    feed_no: Mapped[int] = mapped_column(server_default="0")
    pairing_no: Mapped[int] = mapped_column(server_default="0")
    """Goes up only when something changes that pairing reads."""


class FeedEntryRow(Base):
    """One change of an event, in the order of commits, without gaps. Insert-only."""

    __tablename__ = "feed_entry"

    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"), primary_key=True)
    feed_no: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    data: Mapped[dict[str, Any]]
    at: Mapped[Created]


class AuditRow(Base):
    """Who did what. Insert-only."""

    __tablename__ = "audit_log"
    __table_args__ = (sa.Index("ix_audit_log_event_id_at", "event_id", "at"),)

    id: Mapped[Id]
    at: Mapped[Created]
    event_id: Mapped[int | None] = mapped_column(sa.ForeignKey("event.id"))
    action: Mapped[str]
    """Static name: `event.create`, `entrant.import`, `draw.publish`."""
    subject: Mapped[str]
    """What it was done to: `entrant:17`, `round:3`."""
    old: Mapped[dict[str, Any] | None]
    new: Mapped[dict[str, Any] | None]
    reason: Mapped[str] = mapped_column(server_default="")
    actor_account_id: Mapped[int | None]
    actor_name: Mapped[str]
    device: Mapped[str] = mapped_column(server_default="")
    request_id: Mapped[str] = mapped_column(server_default="-")


class Severity(StrEnum):
    """How urgent an alert is."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class AlertRow(Base):
    """Something a person should know about. One open alert per kind and key; cleared when its cause is gone."""

    __tablename__ = "alert"
    __table_args__ = (
        sa.Index("uq_alert_kind_key_open", "kind", "key", unique=True, postgresql_where=sa.text("cleared_at is null")),
        sa.Index("ix_alert_raised_at", "raised_at"),
    )

    id: Mapped[Id]
    kind: Mapped[str]
    key: Mapped[str]
    severity: Mapped[Severity] = mapped_column(choice(Severity, "severity"))
    event_id: Mapped[int | None] = mapped_column(sa.ForeignKey("event.id"))
    detail: Mapped[dict[str, Any]]
    raised_at: Mapped[Created]
    seen_at: Mapped[Created]
    times: Mapped[int] = mapped_column(sa.Integer, server_default="1")
    acknowledged_at: Mapped[datetime | None]
    acknowledged_by: Mapped[str | None]
    cleared_at: Mapped[datetime | None]
