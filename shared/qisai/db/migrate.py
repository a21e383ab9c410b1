"""Brings a database to what this release needs: login roles, schema, grants, game profiles. Nothing else does."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from qisai.db import roles
from qisai.db.owner import owner_connection
from qisai.db.privileges import Changes, apply_matrix
from qisai.db.profile_seed import SeededProfiles, seed_profiles
from qisai.db.session import unavailable
from qisai.db.tables import Base
from qisai.errors import Conflict, Invalid, Unavailable

_MIGRATIONS: Final = Path(__file__).parent / "migrations"
_REVISION_FORM: Final = re.compile(r"\d{4}")
_LOCK: Final = 0x7169736169
"""Advisory lock that one migration at a time holds in a database: "qisai" in ASCII."""
_ALEMBIC: Final = threading.Lock()
"""Alembic keeps the connection it works on in a module: one migration at a time in a process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport:
    """What `migrate` did. Revisions are four digits; `before` is None for an empty database."""

    before: str | None
    after: str
    is_newer: bool = False
    """The database belongs to a later release, so nothing was touched."""
    roles_made: tuple[str, ...] = ()
    grants: Changes = field(default_factory=Changes)
    profiles: SeededProfiles = field(default_factory=SeededProfiles)


@cache
def _revisions() -> tuple[str, ...]:
    return tuple(sorted(path.name[:4] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py")))


def needed_revision() -> str:
    """The revision that this code needs: the latest one it brings."""
    return _revisions()[-1]


def schema_is_current(engine: sa.Engine) -> bool:
    """Whether the schema is at least as new as this code needs; any service's role may ask.

    False also where nothing was migrated yet or the role has no grants. Raises `Unavailable` where the database does
    not answer.
    """
    try:
        with engine.connect() as connection:
            revision = _revision(connection)
    except sa.exc.ProgrammingError as error:
        if roles.sqlstate(error) != "42501":
            raise
        return False
    except (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError) as error:
        raise unavailable(error) from error
    return revision is not None and revision >= needed_revision()


def migrate(
    owner_url: str,
    *,
    service_urls: Mapping[str, str],
    wait_seconds: float = 60.0,
    lock_timeout_ms: int = 5_000,
    statement_timeout_ms: int = 600_000,
) -> MigrationReport:
    """Migrates the database of `owner_url`; running it again changes nothing.

    `service_urls` gives each service its URL: role and password come from it. Roles are made only if missing; schema,
    grants and profiles change in one transaction. Waits up to `wait_seconds` for another migration that is running,
    and `lock_timeout_ms` for a table that somebody uses.

    Raises `Invalid` (settings, rights of the owner, an existing role with another password), `Conflict` (the database
    is not ours), `Unavailable` (does not answer, is full, another migration is running, tables are in use).
    """
    logins = roles.logins(service_urls)
    timeouts = {"lock_timeout": lock_timeout_ms, "statement_timeout": statement_timeout_ms}
    with owner_connection(owner_url, **timeouts) as connection:
        _lock_out_others(connection, wait_seconds)
        before = _checked_revision(connection)
        if before is not None and before > needed_revision():
            return MigrationReport(before=before, after=before, is_newer=True)
        made = roles.make_missing(connection, logins)
        roles.try_logins(connection, logins, made=made)
        with connection.begin():
            _run_alembic(connection, "upgrade", needed_revision())
            grants = apply_matrix(connection, {name: login.role for name, login in logins.items()})
            profiles = seed_profiles(connection)
        return MigrationReport(
            before=before, after=needed_revision(), roles_made=made, grants=grants, profiles=profiles
        )


def downgrade(owner_url: str, revision: str, *, wait_seconds: float = 60.0, lock_timeout_ms: int = 5_000) -> None:
    """Takes the schema back to `revision`, or to nothing with `base`: data that only later revisions hold is lost.

    Raises as `migrate`; `Invalid` for a revision that is none before the database's own; `Conflict` where the database
    belongs to a later release, which alone knows the way back.
    """
    with owner_connection(owner_url, lock_timeout=lock_timeout_ms) as connection:
        _lock_out_others(connection, wait_seconds)
        present = _checked_revision(connection) or "base"
        if present != "base" and present > needed_revision():
            raise Conflict("schema-newer", f"the database is at {present}, and this release knows {needed_revision()}")
        steps = ["base", *_revisions()]
        if revision not in steps[: steps.index(present) + 1]:
            raise Invalid("no-such-revision", f"the database is at {present}; {revision!r} is no revision before it")
        with connection.begin():
            _run_alembic(connection, "downgrade", revision)


def _lock_out_others(connection: sa.Connection, wait_seconds: float) -> None:
    """Takes the advisory lock, which lasts as long as the connection: a killed migration leaves none behind."""
    try:
        connection.execute(sa.text(f"SET LOCAL lock_timeout = {min(max(1, int(wait_seconds * 1000)), 86_400_000)}"))
        connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
        connection.execute(sa.text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK})
    except sa.exc.OperationalError as error:
        if roles.sqlstate(error) != "55P03":
            raise
        raise Unavailable(
            "migration-running",
            f"another migration of this database was still running after {wait_seconds:g} seconds; "
            "nothing was changed. Wait for it and run this again",
        ) from error
    connection.commit()


def _revision(connection: sa.Connection) -> str | None:
    """What the database says it is at. None: nothing was migrated yet."""
    if connection.execute(sa.text("SELECT to_regclass('public.alembic_version')")).scalar_one() is None:
        return None
    found = connection.execute(sa.text("SELECT version_num FROM public.alembic_version")).scalars().all()
    return max(found, default=None)


def _checked_revision(connection: sa.Connection) -> str | None:
    """As `_revision`. Raises `Conflict` where another program has tables here that get in our way."""
    revision = _revision(connection)
    names = connection.execute(sa.text("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"))
    taken = sorted(set(names.scalars()) & set(Base.metadata.tables))
    connection.rollback()
    if taken if revision is None else not _REVISION_FORM.fullmatch(revision):
        raise Conflict(
            "foreign-database",
            "the database holds tables of another program or of an unfinished copy "
            f"({', '.join(taken) or 'alembic_version'}): give qisai an empty database of its own",
        )
    return revision


def _run_alembic(connection: sa.Connection, command: str, revision: str) -> None:
    """In the caller's transaction, which alone commits."""
    # Here, because every service imports this module for `schema_is_current` and none of them migrates.
    import alembic.command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    with _ALEMBIC:
        getattr(alembic.command, command)(config, revision)
