"""An error of the database that is logged names the statement, never the values: among them are passwords' hashes and
birth years."""

from __future__ import annotations

import io
import logging
import sys

import pytest
import sqlalchemy as sa

from qisai import telemetry
from qisai.db.roles import engine, parse_url
from qisai.db.session import Database
from qisai.db.statements import Statement
from tests import servers

SECRET = "argon2id-hash-of-somebody"
STATEMENT = sa.text("SELECT CAST(:secret AS text), CAST(CAST(:number AS bigint) AS smallint)")
VALUES = {"secret": SECRET, "number": 1998_1998}


def test_no_value_stands_in_an_error_of_a_service(database: servers.Database) -> None:
    pooled = Database(database.url("results"), application="values")
    with pytest.raises(sa.exc.DataError) as refused, pooled.transaction() as session:
        session.execute(STATEMENT, VALUES)
    with pytest.raises(sa.exc.DataError) as driver, pooled.transaction() as session:
        Statement(STATEMENT).first(session.connection(), VALUES)
    pooled.close()
    for error in (refused.value, driver.value):
        assert "smallint out of range" in str(error)
        assert SECRET not in str(error)
        assert "19981998" not in str(error)


def test_no_value_stands_in_an_error_of_the_owner(database: servers.Database) -> None:
    made = engine(parse_url(database.owner_url, setting="QISAI_DATABASE_URL"), application="values")
    with pytest.raises(sa.exc.DataError) as refused, made.connect() as connection:
        connection.execute(STATEMENT, VALUES)
    assert "smallint out of range" in str(refused.value)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_log_shows_the_row_that_the_database_refused(
    database: servers.Database, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """PostgreSQL itself shows the whole row in the detail of its message, past what SQLAlchemy hides."""
    monkeypatch.setenv("QISAI_LOG_FORMAT", form)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(sys, "stderr", written := io.StringIO())
    telemetry.set_up_logging("values")
    pooled = Database(database.url("gateway"), application="values")
    insert = sa.text("INSERT INTO account (login, name, password_hash) VALUES ('x', NULL, :secret)")
    with pytest.raises(sa.exc.IntegrityError) as refused, pooled.transaction() as session:
        session.execute(insert, {"secret": SECRET})
    pooled.close()
    assert SECRET in str(refused.value)
    logging.getLogger("other").error("failed", exc_info=refused.value)
    assert "not-null constraint" in written.getvalue()
    assert SECRET not in written.getvalue()
