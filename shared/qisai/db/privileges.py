"""Brings privileges in the database to what the matrix of grants says: grants what is missing, revokes the rest.

Only the services' roles and PUBLIC are looked after. Roles that an administrator made for other ends (a backup, a
report) keep what they were given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from qisai.db.grants import rights
from qisai.errors import Conflict

PUBLIC: Final = "PUBLIC"


@dataclass(frozen=True, slots=True, order=True)
class Privilege:
    """One right on one object. `kind` as SQL names it; `column` is "" for the whole object; `right` in capitals."""

    kind: str
    name: str
    column: str
    grantee: str
    right: str
    passes_on: bool = False
    """Whether the holder may give it to others; the matrix never says so."""

    def __str__(self) -> str:
        column = f" ({self.column})" if self.column else ""
        return f"{self.right}{column} on {self.kind.lower()} {self.name} for {self.grantee}"


@dataclass(frozen=True, slots=True)
class Changes:
    """What was granted and revoked, in words."""

    granted: tuple[str, ...] = ()
    revoked: tuple[str, ...] = ()


_PRESENT: Final = sa.text(
    """
    WITH found AS (
      SELECT 'DATABASE' AS kind, datname::text AS name, '' AS "column", acl.*
      FROM pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba))) acl WHERE datname = current_database()
      UNION ALL
      SELECT 'SCHEMA', nspname::text, '', acl.*
      FROM pg_namespace, aclexplode(coalesce(nspacl, acldefault('n', nspowner))) acl WHERE nspname = 'public'
      UNION ALL
      SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, relname::text, '', acl.*
      FROM pg_class, aclexplode(relacl) acl WHERE relnamespace = 'public'::regnamespace
      UNION ALL
      SELECT 'TABLE', relname::text, attname::text, acl.*
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid, aclexplode(attacl) acl
      WHERE relnamespace = 'public'::regnamespace AND NOT attisdropped
    )
    SELECT kind, name, "column",
           CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee)::text END, privilege_type,
           is_grantable
    FROM found
    """
)


def present(connection: sa.Connection, grantees: Collection[str]) -> set[Privilege]:
    """What these roles (and `PUBLIC`) hold on the database, the schema `public` and all in it."""
    return {found for row in connection.execute(_PRESENT) if (found := Privilege(*row)).grantee in grantees}


def wanted(database: str, roles: Mapping[str, str]) -> set[Privilege]:
    """What the matrix says for the services' roles (service → role). PUBLIC has nothing."""
    privileges = set()
    for service, role in roles.items():
        privileges.add(Privilege("DATABASE", database, "", role, "CONNECT"))
        privileges.add(Privilege("SCHEMA", "public", "", role, "USAGE"))
        for table, right, column in rights(service):
            privileges.add(Privilege("TABLE", table, column or "", role, right.value.upper()))
    return privileges


def apply_matrix(connection: sa.Connection, roles: Mapping[str, str]) -> Changes:
    """Grants and revokes until the database says what the matrix says; changes nothing where it does.

    Raises `Conflict` where somebody other than the owner gave rights that the owner cannot take away.
    """
    database = connection.execute(sa.text("SELECT current_database()")).scalar_one()
    grantees = {PUBLIC, *roles.values()}
    target = wanted(database, roles)
    surplus = present(connection, grantees) - target
    _execute(connection, "REVOKE", surplus)
    # Read again: revoking a right on a table takes the same right on its columns away too.
    missing = target - present(connection, grantees)
    _execute(connection, "GRANT", missing)
    left = present(connection, grantees) ^ target
    if left:
        raise Conflict(
            "grants-differ",
            "some rights are not as the matrix of grants says, and the owner cannot change them (given by somebody "
            f"else?): {'; '.join(str(privilege) for privilege in sorted(left)[:5])}. Revoke them as whoever gave them.",
        )
    return Changes(
        granted=tuple(str(privilege) for privilege in sorted(missing)),
        revoked=tuple(str(privilege) for privilege in sorted(surplus)),
    )


def _execute(connection: sa.Connection, verb: str, privileges: Iterable[Privilege]) -> None:
    """One statement for each object and grantee."""
    quote = connection.dialect.identifier_preparer.quote_identifier
    groups: dict[tuple[str, str, str], list[str]] = {}
    for privilege in sorted(privileges):
        column = f" ({quote(privilege.column)})" if privilege.column else ""
        key = (privilege.kind, privilege.name, privilege.grantee)
        groups.setdefault(key, []).append(privilege.right + column)
    joint, end = ("TO", "") if verb == "GRANT" else ("FROM", " CASCADE")
    for (kind, name, grantee), words in groups.items():
        role = PUBLIC if grantee == PUBLIC else quote(grantee)
        connection.exec_driver_sql(f"{verb} {', '.join(words)} ON {kind} {quote(name)} {joint} {role}{end}")
