"""`qisai migrate`: login roles, schema, grants, game profiles; the first administrator where there is no account."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from qisai import settings
from qisai.cli.files import print_json

if TYPE_CHECKING:
    from qisai.db.migrate import MigrationReport

FIRST_LOGIN: Final = "admin"


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "migrate",
        help="bring the database up to date",
        description="Bring the database of QISAI_DATABASE_URL (its owner) to what this release needs. Login roles of "
        "the services are made from QISAI_<SERVICE>_DATABASE_URL where missing. Running it again changes nothing. "
        "Where there is no account yet, the first administrator is made and the password printed once.",
    )
    parser.add_argument("--wait", type=int, default=60, metavar="SECONDS", help="wait for a running migration")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Migrate, then say what was done."""
    from qisai.db.migrate import migrate

    owner_url = settings.database_url()
    service_urls = {service: settings.database_url(service) for service in settings.SERVICES}
    report = migrate(owner_url, service_urls=service_urls, wait_seconds=args.wait)
    password = None if report.is_newer else make_first_administrator(owner_url)
    if args.json:
        print_json({**asdict(report), "administrator": password and {"login": FIRST_LOGIN, "password": password}})
        return 0
    for line in _lines(report):
        print(line)
    if password is not None:
        print(f"first administrator: login {FIRST_LOGIN}, password {password} (shown this once only)")
    return 0


def make_first_administrator(owner_url: str) -> str | None:
    """Makes the account `admin` with the role `association_admin` where no account exists, and returns its password.

    None: somebody can sign in already. Raises as `qisai.db.owner.owner_connection`.
    """
    import sqlalchemy as sa
    from sqlalchemy.orm import Session

    from qisai.db.accounts import AccountRow, GrantRow, Role
    from qisai.db.owner import owner_connection
    from qisai.db.secrets import hash_password, new_password
    from qisai.ledger import audit
    from qisai.ledger.actor import system_actor

    with owner_connection(owner_url, lock_timeout=5_000) as connection, Session(connection) as session, session.begin():
        # Two that run at once must not both find the table empty.
        session.execute(sa.text("LOCK TABLE account IN SHARE ROW EXCLUSIVE MODE"))
        if session.scalar(sa.select(sa.exists().select_from(AccountRow))):
            return None
        password = new_password()
        account = AccountRow(login=FIRST_LOGIN, name="Administrator", password_hash=hash_password(password))
        session.add(account)
        session.flush()
        session.add(GrantRow(account_id=account.id, role=Role.ASSOCIATION_ADMIN, granted_by="qisai migrate"))
        audit.record(
            session,
            system_actor("qisai migrate"),
            action="account.create",
            subject=f"account:{account.id}",
            new={"login": FIRST_LOGIN, "role": Role.ASSOCIATION_ADMIN.value},
        )
    return password


def _lines(report: MigrationReport) -> list[str]:
    if report.is_newer:
        return [f"the database is at {report.after}, of a later release than this one: left as it is"]
    lines = []
    if report.before != report.after:
        lines.append(f"schema: {report.before or 'nothing'} → {report.after}")
    if report.roles_made:
        lines.append(f"login roles made: {', '.join(report.roles_made)}")
    granted, revoked = report.grants.granted, report.grants.revoked
    if report.before is None:
        lines.append(f"rights: {len(granted)} granted, {len(revoked)} revoked")
    else:
        lines += [f"granted: {text}" for text in granted] + [f"revoked: {text}" for text in revoked]
    profiles = report.profiles
    for verb, codes in (("added", profiles.added), ("updated", profiles.updated), ("kept as edited", profiles.kept)):
        if codes:
            lines.append(f"game profiles {verb}: {', '.join(codes)}")
    return lines or [f"the database is at {report.after}: nothing to do"]
