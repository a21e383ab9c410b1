"""Entrants, their members and states, and what is known of them before a round. Written by registration."""

from __future__ import annotations

from datetime import date, datetime
from enum import IntEnum, StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from qisai.db.base import Base, Created, Id, Version, choice
from qisai.kernel.model import ByeKind


class EntrantState(IntEnum):
    """States of docs/rules.md section 10. Only `SEATED` entrants are paired. The stored numbers never change."""

    WAITING = 1
    REGISTERED = 2
    APPROVED = 3
    CHECKED_IN = 4
    SEATED = 5
    WITHDRAWN = 6
    DISQUALIFIED = 7
    REJECTED = 8
    CANCELLED = 9

    @property
    def slug(self) -> str:
        """Name in the API: `checked_in`."""
        return self.name.lower()


class EntrantStateType(sa.types.TypeDecorator[EntrantState]):
    """Stores an `EntrantState` as a small integer."""

    impl = sa.SmallInteger
    cache_ok = True

    def process_bind_param(self, value: EntrantState | None, dialect: sa.Dialect) -> int | None:  # noqa: ARG002
        return None if value is None else int(value)

    def process_result_value(self, value: int | None, dialect: sa.Dialect) -> EntrantState | None:  # noqa: ARG002
        return None if value is None else EntrantState(value)


class Sex(StrEnum):
    """For categories of prizes only; private, and unknown (NULL) wherever nobody asked."""

    FEMALE = "female"
    MALE = "male"


class EntrantRow(Base):
    """Who is paired: one person, or a team. `number` is the lot drawn before round 1."""

    __tablename__ = "entrant"
    __table_args__ = (
        sa.UniqueConstraint("event_id", "number"),
        sa.UniqueConstraint("event_id", "id"),
        sa.CheckConstraint("state between 1 and 9", name="state"),
        sa.CheckConstraint("number is null or number between 1 and 99999", name="number"),
        sa.CheckConstraint("seed is null or seed between 0 and 4000", name="seed"),
        sa.CheckConstraint("length(name) between 1 and 200", name="name"),
        sa.CheckConstraint("birth_year is null or birth_year between 1900 and 2100", name="birth_year"),
    )

    id: Mapped[Id]
    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"))
    number: Mapped[int | None] = mapped_column(sa.Integer)
    name: Mapped[str]
    """As typed, NFC, any script."""
    sort_key: Mapped[str] = mapped_column(server_default="")
    """Pinyin, for sorting and search; never sorted in SQL by `name`."""
    club: Mapped[str] = mapped_column(server_default="")
    seed: Mapped[int | None] = mapped_column(sa.Integer)
    seed_source: Mapped[str] = mapped_column(server_default="")
    """Whose list the seed score is from."""
    seed_date: Mapped[date | None]
    """Of what day that list is."""
    sex: Mapped[Sex | None] = mapped_column(choice(Sex, "sex"))
    """Private."""
    birth_year: Mapped[int | None] = mapped_column(sa.SmallInteger)
    """Private."""
    state: Mapped[EntrantState] = mapped_column(EntrantStateType)
    entered_round: Mapped[int] = mapped_column(sa.Integer, server_default="1")
    """First round this entrant may be paired in; late entries have more than 1."""
    withdrawn_from: Mapped[int | None] = mapped_column(sa.Integer)
    """Not paired in this round or later."""
    fixed_board: Mapped[int | None] = mapped_column(sa.Integer)
    lot: Mapped[int | None] = mapped_column(sa.Integer)
    """Drawn tie-break lot, last resort in standings."""
    external_id: Mapped[str | None]
    """Number of the row in the club's spreadsheet, so that a corrected sheet updates instead of doubling."""
    version: Mapped[Version]
    created_at: Mapped[Created]


class ContactRow(Base):
    """How to reach an entrant, and the desk's notes. A table of its own, so that no other service can read it."""

    __tablename__ = "contact"

    entrant_id: Mapped[int] = mapped_column(sa.ForeignKey("entrant.id"), primary_key=True)
    phone: Mapped[str] = mapped_column(server_default="")
    email: Mapped[str] = mapped_column(server_default="")
    notes: Mapped[str] = mapped_column(server_default="")


class LinkRow(Base):
    """A link by which somebody who registered reads and cancels the own entry; only the hash of its secret is kept."""

    __tablename__ = "entrant_link"

    id: Mapped[Id]
    entrant_id: Mapped[int] = mapped_column(sa.ForeignKey("entrant.id"), index=True)
    secret_hash: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[Created]


class MemberRow(Base):
    """A person of a team, in order; substitutes stand behind those who play."""

    __tablename__ = "member"
    __table_args__ = (
        sa.UniqueConstraint("entrant_id", "position"),
        sa.CheckConstraint("birth_year is null or birth_year between 1900 and 2100", name="birth_year"),
    )

    id: Mapped[Id]
    entrant_id: Mapped[int] = mapped_column(sa.ForeignKey("entrant.id"))
    position: Mapped[int] = mapped_column(sa.SmallInteger)
    name: Mapped[str]
    is_substitute: Mapped[bool] = mapped_column(server_default=sa.false())
    birth_year: Mapped[int | None] = mapped_column(sa.SmallInteger)
    """Private."""
    external_id: Mapped[str | None]
    """The person's number with the association: tells people of one name apart. Private."""


class TransitionRow(Base):
    """One change of an entrant's state. Insert-only."""

    __tablename__ = "transition"
    __table_args__ = (
        sa.Index("ix_transition_entrant_id_at", "entrant_id", "at"),
        sa.Index("ix_transition_event_id_at", "event_id", "at"),
    )

    id: Mapped[Id]
    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"))
    entrant_id: Mapped[int] = mapped_column(sa.ForeignKey("entrant.id"))
    from_state: Mapped[EntrantState | None] = mapped_column(EntrantStateType)
    to_state: Mapped[EntrantState] = mapped_column(EntrantStateType)
    at: Mapped[datetime] = mapped_column(server_default=sa.func.clock_timestamp())
    """Not when the transaction began: it may have waited for the event."""
    actor_account_id: Mapped[int | None]
    actor_name: Mapped[str]
    reason: Mapped[str] = mapped_column(server_default="")
    request_id: Mapped[str] = mapped_column(server_default="-")
    device: Mapped[str] = mapped_column(server_default="")


class AbsenceRow(Base):
    """An announced absence for one round."""

    __tablename__ = "absence"

    entrant_id: Mapped[int] = mapped_column(sa.ForeignKey("entrant.id"), primary_key=True)
    round_no: Mapped[int] = mapped_column(sa.Integer, primary_key=True)


class RequestedByeRow(Base):
    """A bye asked for ahead: half, full or zero points."""

    __tablename__ = "requested_bye"
    __table_args__ = (sa.CheckConstraint("kind in ('half','full','zero')", name="requestable"),)

    entrant_id: Mapped[int] = mapped_column(sa.ForeignKey("entrant.id"), primary_key=True)
    round_no: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    kind: Mapped[ByeKind] = mapped_column(choice(ByeKind, "kind"))


class AttendanceRow(Base):
    """Check-in of a seated entrant for one round."""

    __tablename__ = "attendance"

    entrant_id: Mapped[int] = mapped_column(sa.ForeignKey("entrant.id"), primary_key=True)
    round_no: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    at: Mapped[Created]


class ForbiddenPairRow(Base):
    """Two entrants who must not meet in a range of rounds; the smaller id first."""

    __tablename__ = "forbidden_pair"
    __table_args__ = (
        sa.CheckConstraint("a_entrant_id < b_entrant_id", name="order"),
        sa.ForeignKeyConstraint(["event_id", "a_entrant_id"], ["entrant.event_id", "entrant.id"]),
        sa.ForeignKeyConstraint(["event_id", "b_entrant_id"], ["entrant.event_id", "entrant.id"]),
    )

    id: Mapped[Id]
    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"))
    a_entrant_id: Mapped[int]
    b_entrant_id: Mapped[int]
    from_round: Mapped[int] = mapped_column(sa.Integer, server_default="1")
    to_round: Mapped[int | None] = mapped_column(sa.Integer)
    of_club: Mapped[bool] = mapped_column(server_default=sa.false())
    """Made by keeping a club apart, not one by one: goes when clubs may meet again."""


class AttendanceDeadlineRow(Base):
    """Until when entrants check in for a round; after it, who has no attendance is absent from that round."""

    __tablename__ = "attendance_deadline"

    event_id: Mapped[int] = mapped_column(sa.ForeignKey("event.id"), primary_key=True)
    round_no: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    until: Mapped[datetime]
