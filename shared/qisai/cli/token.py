"""`qisai token`: makes an API token for an account, for whoever holds the schema's owner; the token is shown once."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from qisai import settings
from qisai.cli.files import print_json
from qisai.errors import Conflict, Invalid, NotFound

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from qisai.db.accounts import AccountRow

SCOPES: Final = {"read": ["read"], "write": ["read", "write"]}
MAX_DAYS: Final = 3650
MAX_NAME: Final = 100
_SHOWN_LOGINS: Final = 10


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "token",
        help="make an API token",
        description="Make an API token for an account and print it; it cannot be shown again. Needs the owner of the "
        "schema: QISAI_DATABASE_URL, or the data folder of a running `qisai up`.",
    )
    parser.add_argument("--login", required=True, metavar="NAME", help="whose token; upper and lower case are the same")
    parser.add_argument("--name", required=True, metavar="TEXT", help="what it is for, as shown in the list of tokens")
    parser.add_argument("--days", type=int, metavar="N", help="valid for N days (default: until it is revoked)")
    parser.add_argument("--scope", choices=sorted(SCOPES), default="write", help="read only, or also write (default)")
    parser.add_argument("--var", metavar="DIR", help="data folder of `qisai up` (QISAI_VAR; default ./var)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Make the token: itself on standard output, what it is on standard error."""
    from sqlalchemy.orm import Session

    from qisai.db.owner import owner_connection

    with owner_connection(_owner_url(args.var), lock_timeout=5_000) as connection, Session(connection) as session:
        made = make_token(session, login=args.login, name=args.name, scope=args.scope, days=args.days)
        session.commit()
    until = "until it is revoked" if made.expires_at is None else f"until {made.expires_at:%Y-%m-%d %H:%M} UTC"
    if args.json:
        print_json(
            {
                "id": made.id,
                "login": made.login,
                "scopes": SCOPES[args.scope],
                "expires_at": None if made.expires_at is None else made.expires_at.isoformat(),
                "token": made.plain,
            }
        )
        return 0
    print(made.plain, flush=True)
    print(f"Token of {made.login}, {' and '.join(SCOPES[args.scope])}, {until}. Shown this once only.", file=sys.stderr)
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeToken:
    """A new token with the plain text that nothing keeps. `expires_at` None: valid until revoked."""

    id: int
    login: str
    plain: str
    expires_at: datetime | None


def make_token(session: Session, *, login: str, name: str, scope: str, days: int | None) -> MadeToken:
    """Makes a token for an account and logs it; the caller commits. `scope` is a key of `SCOPES`.

    Raises `Invalid` for a bad name or number of days, `NotFound` for an unknown login, `Conflict` for an account that
    is switched off.
    """
    import sqlalchemy as sa

    from qisai.db.accounts import TokenRow
    from qisai.db.secrets import new_token
    from qisai.ledger import audit
    from qisai.ledger.actor import system_actor

    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable():
        raise Invalid("bad-token-name", f"--name must have 1 to {MAX_NAME} printable characters")
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise Invalid("bad-days", f"--days is {days}, but must be between 1 and {MAX_DAYS}")
    account = _account(session, login)
    plain, secret_hash = new_token()
    row = TokenRow(account_id=account.id, name=name, secret_hash=secret_hash, scopes=SCOPES[scope])
    row.expires_at = None if days is None else sa.func.now() + sa.func.make_interval(0, 0, 0, days)
    session.add(row)
    session.flush()
    session.refresh(row)
    audit.record(
        session,
        system_actor("qisai token"),
        action="token.create",
        subject=f"token:{row.id}",
        new={"account": account.id, "name": name, "scopes": SCOPES[scope]},
    )
    return MadeToken(id=row.id, login=account.login, plain=plain, expires_at=row.expires_at)


def _account(session: Session, login: str) -> AccountRow:
    import sqlalchemy as sa

    from qisai.db.accounts import AccountRow

    wanted = sa.func.lower(AccountRow.login) == sa.func.lower(login)
    account = session.scalars(sa.select(AccountRow).where(wanted)).one_or_none()
    if account is None:
        some = session.scalars(sa.select(AccountRow.login).order_by(AccountRow.id).limit(_SHOWN_LOGINS)).all()
        raise NotFound(
            "account-not-found",
            f"there is no account {login!r} (there are: {', '.join(some) or 'none'}). `qisai migrate` makes the first "
            "administrator where there is none; an administrator makes further accounts (POST /api/v1/accounts)",
        )
    if not account.is_active:
        raise Conflict("account-off", f"the account {account.login} is switched off: switch it on first")
    return account


def _owner_url(var_option: str | None) -> str:
    """The owner as set, or of the PostgreSQL that `qisai up` runs in the data folder."""
    from qisai.local import postgres, run_state

    if settings.read("QISAI_DATABASE_URL") is not None:
        return settings.database_url()
    var = Path(var_option or settings.read("QISAI_VAR") or "var").resolve()
    state = run_state.read(var)
    hint = "set QISAI_DATABASE_URL to the owner of the schema, or name the data folder of a running `qisai up` by --var"
    if state is None or run_state.identify("up", state.supervisor.pid) != state.supervisor:
        raise Invalid("no-database", f"nothing runs in {var}: {hint}")
    if "postgres" not in state.ports:
        raise Invalid("no-database", f"what runs in {var} uses a PostgreSQL of somebody else: {hint}")
    secret = var / "secrets" / "postgres-owner"
    try:
        password = secret.read_text(encoding="ascii").strip()
    except OSError as error:
        raise Invalid("no-database", f"{secret} cannot be read ({error.strerror}): run this as its owner") from error
    from urllib.parse import quote

    port = state.ports["postgres"]
    return f"postgresql+psycopg://{postgres.OWNER}:{quote(password, safe='')}@127.0.0.1:{port}/{postgres.DATABASE}"
