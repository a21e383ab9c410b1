"""Statements that go with nearly every request, sent straight to the driver.

SQLAlchemy describes the columns of each result anew, which costs more than the statement itself where it answers one
row. These are made once, run on the connection and in the transaction that SQLAlchemy holds, and fail as its own do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import psycopg
import sqlalchemy as sa
from psycopg.rows import namedtuple_row
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

_DIALECT: Final[Any] = PGDialect_psycopg()  # type: ignore[no-untyped-call]


class Statement:
    """One statement with named places, for one row. Values are what the driver takes: JSON as `Jsonb`, no enums."""

    __slots__ = ("text",)

    def __init__(self, statement: sa.ClauseElement) -> None:
        self.text: str = str(statement.compile(dialect=_DIALECT))
        """What the database gets; the places are `%(name)s`."""

    def first(self, connection: sa.Connection, values: Mapping[str, Any]) -> Any | None:
        """The first row, its columns as attributes and as the driver reads them, or None.

        Raises what SQLAlchemy raises. A connection that broke is let go with all others of its pool.
        """
        driver: Any = connection.connection.driver_connection
        try:
            with driver.cursor(row_factory=namedtuple_row) as cursor:
                return cursor.execute(self.text, values).fetchone()
        except psycopg.Error as error:
            is_lost = driver.closed or driver.broken
            if is_lost:
                connection.invalidate(error)
                connection.engine.dispose()
            raise _as_sqlalchemy(error)(self.text, None, error, connection_invalidated=is_lost) from error


def _as_sqlalchemy(error: psycopg.Error) -> type[sa.exc.DBAPIError]:
    """SQLAlchemy's class for an error of the driver: both bear the names of the DB-API."""
    names = (kind.__name__ for kind in type(error).__mro__)
    found = (getattr(sa.exc, name, None) for name in names)
    return next(kind for kind in found if isinstance(kind, type) and issubclass(kind, sa.exc.DBAPIError))
