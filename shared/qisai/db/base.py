"""Base of all tables: the naming convention that makes constraints addressable, and the shared column shapes."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, mapped_column

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """Every table of the platform hangs on this metadata; migrations are compared with it."""

    metadata = sa.MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it as a class attribute
        datetime: sa.DateTime(timezone=True),
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
        int: sa.BigInteger,
        str: sa.Text,
    }


Id = Annotated[int, mapped_column(sa.BigInteger, sa.Identity(always=False), primary_key=True)]
"""Surrogate key: never used again, so a board of an unpublished draw stays addressable as gone."""

Version = Annotated[int, mapped_column(sa.Integer, server_default="1")]
"""Optimistic lock: every change adds one, by a compare-and-set update that checks the row count."""

Created = Annotated[datetime, mapped_column(server_default=sa.func.now())]
Small = Annotated[int, mapped_column(sa.SmallInteger)]


def choice(enum: type[StrEnum], name: str) -> sa.Enum:
    """A text column limited to the enum's values by a check constraint `ck_<table>_<name>`."""
    return sa.Enum(
        enum,
        name=name,
        native_enum=False,
        create_constraint=True,
        length=32,
        values_callable=lambda members: [member.value for member in members],
    )
