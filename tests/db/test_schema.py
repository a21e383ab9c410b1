"""The migrations and the models say the same, and migrations go down as well as up."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

import qisai.db.migrations
from qisai.db.migrate import downgrade, needed_revision, schema_is_current
from qisai.db.tables import Base
from tests.db.conftest import Ground

_CATALOG = sa.text(
    """
    SELECT 'column', attrelid::regclass::text, attname::text,
           concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attidentity, pg_get_expr(adbin, adrelid))
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid) || ' ' || convalidated
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL
    SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL
    SELECT 'relation', relname, relkind::text, ''
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S', 'v', 'm')
    """
)


def catalog(connection: sa.Connection) -> set[tuple[str, ...]]:
    """Every column, constraint, index and relation of the schema in PostgreSQL's own words, without Alembic's table."""
    return {tuple(row) for row in connection.execute(_CATALOG) if "alembic_version" not in (row[1], row[2])}


def test_migrations_make_what_the_models_say_for_alembic(engine_for: Callable[[str], Engine]) -> None:
    with engine_for("owner").connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata) == []


def test_migrations_make_what_the_models_say_to_the_last_constraint(
    engine_for: Callable[[str], Engine], ground: Ground
) -> None:
    with engine_for("owner").connect() as connection:
        migrated = catalog(connection)
    fresh = sa.create_engine(ground.owner_url)
    with fresh.begin() as connection:
        Base.metadata.create_all(connection)
        assert migrated == catalog(connection)
    fresh.dispose()
    assert len([row for row in migrated if row[0] == "constraint"]) > 100


def test_up_down_and_up_again_gives_the_same_schema(ground: Ground) -> None:
    ground.migrate()
    engine = sa.create_engine(ground.owner_url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        first = catalog(connection)
    downgrade(ground.owner_url, "base")
    with engine.connect() as connection:
        assert catalog(connection) == set()
    assert not schema_is_current(engine)
    again = ground.migrate()
    assert (again.before, again.after) == (None, needed_revision())
    with engine.connect() as connection:
        assert catalog(connection) == first


def test_revisions_are_numbered_in_one_line() -> None:
    """`schema_is_current` compares revisions as text, so their order must be that of their numbers."""
    directory = ScriptDirectory(next(iter(qisai.db.migrations.__path__)))
    revisions = [script.revision for script in directory.walk_revisions()][::-1]
    assert revisions == [f"{number:04}" for number in range(1, len(revisions) + 1)]
    assert directory.get_heads() == [needed_revision()]
