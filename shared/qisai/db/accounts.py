"""Accounts, grants, sessions, tokens and links that are handed over. Written by the gateway; read at each call."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from qisai.db.base import Base, Created, Id, Version, choice


class Role(StrEnum):
    """What an account may be: `association_admin` and `ops` association-wide, the others in one event or in all."""

    ASSOCIATION_ADMIN = "association_admin"
    ORGANISER = "organiser"
    CHIEF_REFEREE = "chief_referee"
    REFEREE = "referee"
    DESK = "desk"
    OPS = "ops"


class AccountRow(Base):
    """A person who can sign in."""

    __tablename__ = "account"
    __table_args__ = (sa.Index("uq_account_login_lower", sa.text("lower(login)"), unique=True),)

    id: Mapped[Id]
    login: Mapped[str]
    name: Mapped[str]
    password_hash: Mapped[str | None]
    """Argon2id; null: cannot sign in by password."""
    is_active: Mapped[bool] = mapped_column(server_default=sa.true())
    version: Mapped[Version]
    created_at: Mapped[Created]


class GrantRow(Base):
    """A role of an account, in one event (`event_id`) or everywhere (null); a referee may be limited to boards."""

    __tablename__ = "access_grant"
    __table_args__ = (
        sa.CheckConstraint(
            "(board_from is null) = (board_to is null) and (board_from is null or board_from <= board_to)",
            name="boards",
        ),
        sa.CheckConstraint("event_id is null or role not in ('association_admin', 'ops')", name="scope"),
        sa.Index("ix_access_grant_account_id", "account_id"),
        sa.Index("ix_access_grant_event_id", "event_id"),
    )

    id: Mapped[Id]
    account_id: Mapped[int] = mapped_column(sa.ForeignKey("account.id"))
    role: Mapped[Role] = mapped_column(choice(Role, "role"))
    event_id: Mapped[int | None] = mapped_column(sa.ForeignKey("event.id"))
    board_from: Mapped[int | None] = mapped_column(sa.Integer)
    board_to: Mapped[int | None] = mapped_column(sa.Integer)
    granted_by: Mapped[str]
    created_at: Mapped[Created]


class WebSessionRow(Base):
    """A signed-in browser. The cookie holds the secret, the table its SHA-256."""

    __tablename__ = "web_session"

    id: Mapped[Id]
    account_id: Mapped[int] = mapped_column(sa.ForeignKey("account.id"))
    secret_hash: Mapped[str] = mapped_column(unique=True)
    browser: Mapped[str] = mapped_column(server_default="")
    """Kind of browser and system, such as `Firefox, Android`, so that its owner knows it again."""
    created_at: Mapped[Created]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class TokenRow(Base):
    """An API token. Shown once; the table keeps its SHA-256."""

    __tablename__ = "api_token"

    id: Mapped[Id]
    account_id: Mapped[int] = mapped_column(sa.ForeignKey("account.id"))
    name: Mapped[str]
    secret_hash: Mapped[str] = mapped_column(unique=True)
    scopes: Mapped[list[Any]]
    """`read`, `write`: what calls it may make at most; grants decide the rest."""
    created_at: Mapped[Created]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class InvitationRow(Base):
    """A role that is offered by a link to whoever holds it, once. The link holds the secret, the table its SHA-256."""

    __tablename__ = "invitation"
    __table_args__ = (
        sa.CheckConstraint(
            "(board_from is null) = (board_to is null) and (board_from is null or board_from <= board_to)",
            name="boards",
        ),
        sa.CheckConstraint("event_id is null or role not in ('association_admin', 'ops')", name="scope"),
        sa.CheckConstraint("(accepted_at is null) = (accepted_by is null)", name="accepted"),
        sa.Index("ix_invitation_event_id", "event_id"),
    )

    id: Mapped[Id]
    secret_hash: Mapped[str] = mapped_column(unique=True)
    role: Mapped[Role] = mapped_column(choice(Role, "role"))
    event_id: Mapped[int | None] = mapped_column(sa.ForeignKey("event.id"))
    board_from: Mapped[int | None] = mapped_column(sa.Integer)
    board_to: Mapped[int | None] = mapped_column(sa.Integer)
    name: Mapped[str]
    """Whom it is meant for; proposed as the name of a new account."""
    invited_by: Mapped[int] = mapped_column(sa.ForeignKey("account.id"))
    """The link counts only as long as this account may give the role."""
    created_at: Mapped[Created]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    accepted_at: Mapped[datetime | None]
    accepted_by: Mapped[int | None] = mapped_column(sa.ForeignKey("account.id"))


class PasswordResetRow(Base):
    """A link by which somebody sets a new password of an account, once. The table keeps the secret's SHA-256."""

    __tablename__ = "password_reset"
    __table_args__ = (sa.Index("ix_password_reset_account_id", "account_id"),)

    id: Mapped[Id]
    account_id: Mapped[int] = mapped_column(sa.ForeignKey("account.id"))
    secret_hash: Mapped[str] = mapped_column(unique=True)
    made_by: Mapped[int] = mapped_column(sa.ForeignKey("account.id"))
    created_at: Mapped[Created]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]


class IdempotencyRow(Base):
    """First answer to a POST that carried an `Idempotency-Key`, kept 24 hours by the service that made the effect."""

    __tablename__ = "idempotency_key"

    caller: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    request_hash: Mapped[str]
    """SHA-256 over method, path and body."""
    status: Mapped[int] = mapped_column(sa.SmallInteger)
    headers: Mapped[dict[str, Any]]
    body: Mapped[str]
    created_at: Mapped[Created]
