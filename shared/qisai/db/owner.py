"""Connecting as the owner of the schema, as `qisai migrate` and `qisai token` do and no service ever does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import sqlalchemy as sa

from qisai.db import roles
from qisai.errors import Conflict, Invalid, QisaiError, Unavailable

SETTING: Final = "QISAI_DATABASE_URL"


@contextmanager
def owner_connection(url: str, **options: int) -> Iterator[sa.Connection]:
    """A connection as the owner; `options` are settings of PostgreSQL. The caller commits.

    Raises `Invalid` (bad URL, not the owner), `Unavailable` (does not answer, is full, a table is in use) and
    `Conflict` (not migrated, or the database refuses what is asked of it); what was not committed did not happen.
    """
    engine = roles.engine(roles.parse_url(url, setting=SETTING), application="owner", **options)
    try:
        connection = engine.connect()
    except sa.exc.OperationalError as error:
        raise Unavailable("database-away", f"cannot connect with {SETTING}: {roles.first_line(error)}") from error
    with connection:
        try:
            _check_owner(connection)
            yield connection
        except sa.exc.DBAPIError as error:
            raise _explained(error) from error


def _check_owner(connection: sa.Connection) -> None:
    query = """
        SELECT current_user, datname, pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()
    """
    role, database, owns = connection.execute(sa.text(query)).one()
    connection.rollback()
    if not owns:
        raise Invalid(
            "not-the-owner",
            f"{SETTING} logs in as {role}, who does not own the database {database}: "
            f"name its owner, or run as a superuser: ALTER DATABASE {database} OWNER TO {role}",
        )


def _explained(error: sa.exc.DBAPIError) -> QisaiError:
    state, said = roles.sqlstate(error), roles.first_line(error)
    if state == "55P03":
        return Unavailable("schema-busy", "a table is in use and was not free in time; nothing was changed. Try again")
    if state == "57014":
        return Unavailable("schema-slow", "a step took longer than allowed; nothing was changed")
    if state == "42P01":
        return Conflict("not-migrated", f"the database lacks a table ({said}): run `qisai migrate` first")
    if state.startswith("53"):
        return Unavailable("database-full", f"the database has no room; nothing was changed: {said}")
    if state == "42501":
        return Invalid("owner-rights", f"the owner in {SETTING} lacks a right; nothing was changed: {said}")
    if not state or state.startswith(("08", "57")):
        return Unavailable("database-away", f"the database went away; nothing was changed: {said}")
    return Conflict("database-refused", f"the database refused; nothing was changed: {said}")
