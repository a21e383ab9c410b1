"""The matrix of grants, tried for real: as each service's role, against a migrated database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.grants import MATRIX, Right, rights
from qisai.db.grants_page import as_markdown
from qisai.db.tables import Base
from qisai.settings import SERVICES

LOGS = ("audit_log", "feed_entry", "result_conflict", "result_log", "transition")
SECRETS = (
    ("account", "password_hash"), ("web_session", "secret_hash"), ("api_token", "secret_hash"),
    ("invitation", "secret_hash"), ("password_reset", "secret_hash"),
)  # fmt: skip
TABLES = {table.name: {column.name for column in table.columns} for table in Base.metadata.sorted_tables}
TABLES["alembic_version"] = {"version_num"}

FORBIDDEN = {
    "registration": [
        "UPDATE transition SET reason = ''",
        "UPDATE board SET result = 'draw'",
        "INSERT INTO round (event_id, number) VALUES (1, 1)",
        "DELETE FROM seat",
        "DELETE FROM entrant",
        "DELETE FROM event",
        "UPDATE profile SET shipped = data",
        "INSERT INTO result_log SELECT * FROM result_log",
        "SELECT document FROM draw",
        "UPDATE account SET is_active = true",
        "UPDATE access_grant SET role = 'ops'",
        "INSERT INTO access_grant (account_id, role, granted_by) VALUES (1, 'ops', 'x')",
        "SELECT * FROM account",
    ],
    "results": [
        "UPDATE event SET name = 'x'",
        "UPDATE event SET regulations = '{}'",
        "DELETE FROM event",
        "UPDATE entrant SET name = 'x'",
        "UPDATE entrant SET state = 5",
        "DELETE FROM entrant",
        "DELETE FROM board",
        "DELETE FROM round",
        "UPDATE seat SET place = 'first'",
        "UPDATE worker SET pid = 1",
        "INSERT INTO attendance (entrant_id, round_no) VALUES (1, 1)",
        "SELECT * FROM web_session",
    ],
    "pairing": [
        "UPDATE board SET result = 'draw'",
        "UPDATE round SET state = 'published'",
        "INSERT INTO round (event_id, number) VALUES (1, 1)",
        "INSERT INTO seat (round_id, entrant_id, place) VALUES (1, 1, 'half')",
        "UPDATE draw SET document = '{}'",
        "UPDATE draw SET accepted_by = 'x'",
        "DELETE FROM draw",
        "UPDATE event SET state = 'running'",
        "UPDATE entrant SET number = 1",
        "INSERT INTO pairing_job SELECT * FROM pairing_job",
        "INSERT INTO pairing_job (event_id, round_no) VALUES (1, 1)",
        "SELECT secret_hash FROM web_session",
        "SELECT body FROM idempotency_key",
        "SELECT login FROM account",
    ],
    "gateway": [
        "SELECT id FROM board",
        "SELECT state FROM event",
        "SELECT name FROM entrant",
        "SELECT id FROM round",
        "SELECT document FROM draw",
        "SELECT id FROM pairing_job",
        "SELECT data FROM feed_entry",
        "UPDATE board SET result = 'draw'",
        "SELECT new FROM audit_log",
        "DELETE FROM account",
        "DELETE FROM api_token",
    ],
}
FORBIDDEN_TO_ALL = [
    *(f"UPDATE {table} SET {'data' if table == 'feed_entry' else 'request_id'} = null" for table in LOGS),
    *(f"DELETE FROM {table}" for table in LOGS),
    *(f"TRUNCATE {table}" for table in LOGS),
    "CREATE TABLE mine (id int)",
    "CREATE VIEW mine AS SELECT 1",
    "CREATE SCHEMA mine",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE INDEX mine ON event (name)",
    "ALTER TABLE event ADD COLUMN mine int",
    "ALTER TABLE seat DROP CONSTRAINT pk_seat",
    "ALTER TABLE result_log DISABLE TRIGGER ALL",
    "DROP TABLE seat",
    "UPDATE alembic_version SET version_num = '9999'",
    "CREATE ROLE mine",
]

SessionFor = Callable[[str], Session]


@pytest.mark.parametrize("service", SERVICES)
def test_database_allows_each_service_exactly_what_the_matrix_says(service: str, session_for: SessionFor) -> None:
    granted = rights(service)
    session = session_for(service)
    ask = sa.text("SELECT has_table_privilege(:table, :right)")
    ask_column = sa.text("SELECT has_column_privilege(:table, :column, :right)")
    for table, columns in TABLES.items():
        for right in Right:
            whole = (table, right, None) in granted
            assert session.scalar(ask, {"table": table, "right": right.value}) is whole, (table, right)
            if right is Right.DELETE:
                continue
            for column in columns:
                expected = whole or (table, right, column) in granted
                found = session.scalar(ask_column, {"table": table, "column": column, "right": right.value})
                assert found is expected, (table, column, right)
        for other in ("truncate", "references", "trigger", "maintain"):
            assert session.scalar(ask, {"table": table, "right": other}) is False, (table, other)


@pytest.mark.parametrize("service", SERVICES)
def test_forbidden_statements_are_refused_by_the_database(service: str, session_for: SessionFor) -> None:
    session = session_for(service)
    secrets = [] if service == "gateway" else [f"SELECT {column} FROM {table}" for table, column in SECRETS]
    statements = [*FORBIDDEN[service], *FORBIDDEN_TO_ALL, *secrets]
    assert [statement for statement in statements if not is_refused(session, statement)] == []


def is_refused(session: Session, statement: str) -> bool:
    """Whether the database refuses for want of a right. Any other error is none of its doing and fails the test."""
    try:
        with session.begin_nested():
            session.execute(sa.text(statement))
    except sa.exc.ProgrammingError as error:
        if not isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
            raise
        return True
    return False


def test_public_holds_nothing(session_for: SessionFor) -> None:
    found = session_for("owner").execute(
        sa.text(
            """
            SELECT relname, privilege_type FROM pg_class, aclexplode(relacl) acl
            WHERE relnamespace = 'public'::regnamespace AND acl.grantee = 0
            UNION ALL
            SELECT nspname, privilege_type FROM pg_namespace, aclexplode(nspacl) acl
            WHERE nspname = 'public' AND acl.grantee = 0
            """
        )
    )
    assert found.all() == []


def test_logs_can_only_be_added_to_by_anyone() -> None:
    for service in SERVICES:
        for table, right, _ in rights(service):
            assert table not in LOGS or right in (Right.SELECT, Right.INSERT), (service, table, right)


def test_matrix_names_every_table_and_only_columns_that_exist() -> None:
    assert {grant.table for grant in MATRIX} == set(TABLES)
    named = {(table, column) for service in SERVICES for table, _, column in rights(service) if column}
    assert [(table, column) for table, column in named if column not in TABLES[table]] == []
    assert all(grant.why for grant in MATRIX)


def test_page_of_grants_equals_the_matrix() -> None:
    page = Path(__file__).parents[2] / "docs" / "grants.md"
    assert page.read_text(encoding="utf-8") == as_markdown(), "python -m qisai.db.grants_page > docs/grants.md"
