"""The services' login roles. They belong to the whole server, so they are made only if missing and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from qisai.errors import Invalid, Unavailable
from qisai.settings import SERVICES

_CONNECT_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class Login:
    """How a service logs in: the role and password that its URL names."""

    service: str
    role: str
    password: str
    url: sa.URL

    @property
    def setting(self) -> str:
        """Name of the variable that gives the URL."""
        return f"QISAI_{self.service.upper()}_DATABASE_URL"


def parse_url(url: str, *, setting: str) -> sa.URL:
    """A PostgreSQL URL, with our driver. Raises `Invalid` naming the setting, never the URL, which has a password."""
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        raise Invalid(
            "bad-database-url", f"{setting} is no database URL: postgresql://ROLE:PASSWORD@HOST/NAME"
        ) from None
    if parsed.get_backend_name() not in ("postgresql", "postgres") or not parsed.username or not parsed.database:
        raise Invalid(
            "bad-database-url",
            f"{setting} must be of the form postgresql://ROLE:PASSWORD@HOST/NAME, with all its parts",
        )
    return parsed.set(drivername="postgresql+psycopg")


def engine(url: sa.URL, *, application: str, **options: int | str) -> sa.Engine:
    """An engine without a pool, for a few connections; `options` are settings of PostgreSQL."""
    settings = {"timezone": "UTC", "search_path": "public", **options}
    return sa.create_engine(
        url,
        poolclass=sa.NullPool,
        hide_parameters=True,
        connect_args={
            "application_name": f"qisai-{application}",
            "connect_timeout": _CONNECT_SECONDS,
            "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
        },
    )


def first_line(error: sa.exc.DBAPIError) -> str:
    """What the database said, in one line, without the statement and its values."""
    return str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__


def sqlstate(error: sa.exc.DBAPIError) -> str:
    """The five characters by which PostgreSQL names an error; empty where there was no connection."""
    return getattr(error.orig, "sqlstate", None) or ""


def logins(service_urls: Mapping[str, str]) -> dict[str, Login]:
    """The login of each service. Raises `Invalid` where one is missing, unknown, without password, or shared."""
    if set(service_urls) != set(SERVICES):
        wrong = sorted(set(service_urls) ^ set(SERVICES))
        raise Invalid("bad-services", f"a URL is needed for each of {', '.join(SERVICES)}; wrong: {', '.join(wrong)}")
    found: dict[str, Login] = {}
    for service in SERVICES:
        url = parse_url(service_urls[service], setting=f"QISAI_{service.upper()}_DATABASE_URL")
        login = Login(service, url.username or "", str(url.password or ""), url)
        if not login.password:
            raise Invalid("bad-database-url", f"{login.setting} has no password for the role {login.role}")
        for other in found.values():
            if other.role == login.role:
                raise Invalid(
                    "shared-role",
                    f"{other.setting} and {login.setting} name the same role {login.role}, "
                    "but each service needs a role of its own: its grants are all it may do",
                )
        found[service] = login
    return found


def make_missing(connection: sa.Connection, wanted: Mapping[str, Login]) -> tuple[str, ...]:
    """Makes the roles that do not exist and lets all of them connect. Commits; returns the names of those made.

    Raises `Invalid` where an existing role could do more than its grants say (superuser, owner of the database, may
    make roles, member of the owner), and where the owner may not make roles.
    """
    with connection.begin():
        made = tuple(login.role for login in wanted.values() if _make(connection, login))
        for login in wanted.values():
            _refuse_strong(connection, login)
            _let_connect(connection, login.role)
    return made


def _make(connection: sa.Connection, login: Login) -> bool:
    exists = sa.text("SELECT 1 FROM pg_roles WHERE rolname = :role")
    if connection.execute(exists, {"role": login.role}).first():
        return False
    raw: Any = connection.connection.driver_connection  # psycopg's own
    # The server gets the verifier, so that the password cannot end up in its log of statements.
    verifier = raw.pgconn.encrypt_password(login.password.encode(), login.role.encode(), b"scram-sha-256").decode()
    role = connection.dialect.identifier_preparer.quote_identifier(login.role)
    try:
        with connection.begin_nested():
            connection.exec_driver_sql(
                f"CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD '{verifier}'"
            )
    except sa.exc.DBAPIError as error:
        if sqlstate(error) in ("42710", "23505"):  # made meanwhile, for another database of this server
            return False
        if sqlstate(error) == "42501":
            raise Invalid(
                "cannot-make-role",
                f"the owner may not make the role {login.role}: give the owner CREATEROLE, or make the role by hand "
                f"with the password in {login.setting}",
            ) from error
        raise
    return True


def _refuse_strong(connection: sa.Connection, login: Login) -> None:
    found = connection.execute(
        sa.text(
            """
            SELECT rolname = current_user, rolsuper, rolcreaterole, rolbypassrls,
                   pg_has_role(pg_roles.oid, datdba, 'MEMBER')
            FROM pg_roles, pg_database WHERE rolname = :role AND datname = current_database()
            """
        ),
        {"role": login.role},
    ).one()
    names = ("the owner itself", "a superuser", "allowed to make roles", "beyond row security", "a member of the owner")
    reasons = [name for name, holds in zip(names, found, strict=True) if holds]
    if reasons:
        raise Invalid(
            "role-too-strong",
            f"the role {login.role} in {login.setting} is {reasons[0]}, so its grants would not bind it: "
            "name an ordinary role that serves this one service only",
        )


def _let_connect(connection: sa.Connection, role: str) -> None:
    """Before the matrix is applied, so that the login can be tried first; the matrix has the same right."""
    may = sa.text("SELECT has_database_privilege(:role, current_database(), 'CONNECT'), current_database()")
    allowed, database = connection.execute(may, {"role": role}).one()
    if not allowed:
        quote = connection.dialect.identifier_preparer.quote_identifier
        connection.exec_driver_sql(f"GRANT CONNECT ON DATABASE {quote(database)} TO {quote(role)}")


_SAME: Final = sa.text("SELECT current_database(), pg_postmaster_start_time()")


def try_logins(connection: sa.Connection, wanted: Mapping[str, Login], *, made: tuple[str, ...]) -> None:
    """Logs in as each service. Raises `Invalid` where the password is wrong or the URL leads to another database,
    naming the setting, and `Unavailable` where the login fails for another reason."""
    here = tuple(connection.execute(_SAME).one())
    connection.rollback()
    for login in wanted.values():
        trial = engine(login.url, application="migrate")
        try:
            with trial.connect() as opened:
                there = tuple(opened.execute(_SAME).one())
        except sa.exc.OperationalError as error:
            raise _refused(login, error, existed=login.role not in made) from error
        if there != here:
            raise Invalid(
                "other-database",
                f"{login.setting} leads to another database than QISAI_DATABASE_URL ({there[0]} and {here[0]}, or "
                "another server): all services work in the database that is migrated",
            )


def _refused(login: Login, error: sa.exc.DBAPIError, *, existed: bool) -> Invalid | Unavailable:
    said = first_line(error)
    if "authentication failed" in said and existed:
        return Invalid(
            "role-password",
            f"the role {login.role} exists on this server, and the password in {login.setting} is not its password. "
            "It was not changed. Give the right one, or change it as the owner with: "
            f"ALTER ROLE {login.role} PASSWORD '…'",
        )
    return Unavailable("login-failed", f"cannot log in with {login.setting}: {said}")
