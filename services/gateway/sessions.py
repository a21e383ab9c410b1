"""Sign-in by password and the browser session it makes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import sqlalchemy as sa
import structlog
from flask import Response
from sqlalchemy.orm import Session

from qisai import telemetry
from qisai.db.accounts import AccountRow, WebSessionRow
from qisai.db.secrets import hash_secret
from qisai.db.session import now
from qisai.errors import Unauthenticated
from qisai.ledger import audit
from qisai.ledger.actor import Actor
from services.gateway.credentials import SESSION_COOKIE, SESSION_IDLE, SESSION_LONGEST
from services.gateway.parts import Parts

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A new browser session. `secret` goes into the cookie and nowhere else."""

    account: AccountRow
    secret: str
    csrf_token: str


def sign_in(parts: Parts, *, login: str, password: str, address: str, device: str) -> SignedIn:
    """Opens a session.

    Raises `Unauthenticated` (`wrong-password`), the same and as slowly for an unknown login; `TooMany` after too many
    attempts.
    """
    parts.sign_in_limits.count(login=login, address=address)
    if not login.isprintable():
        login = ""  # nobody's
    with parts.database.transaction() as session:
        found = session.scalars(
            sa.select(AccountRow).where(sa.func.lower(AccountRow.login) == login.strip().lower())
        ).one_or_none()
    known = found if found is not None and found.is_active else None
    is_right = parts.passwords.matches(None if known is None else known.password_hash, password)
    if known is None or not is_right:
        log.info("sign_in.refused")
        raise Unauthenticated("wrong-password", "Login or password is wrong.")
    with parts.database.transaction() as session:
        unchanged = (AccountRow.password_hash == known.password_hash, AccountRow.is_active)
        if session.scalar(sa.select(AccountRow.id).where(AccountRow.id == known.id, *unchanged)) is None:
            raise Unauthenticated("wrong-password", "Login or password is wrong.")  # changed while it was checked
        secret = _open_session(session, known, device=device)
    return SignedIn(account=known, secret=secret, csrf_token=parts.credentials.csrf_token(hash_secret(secret)))


def sign_out(session: Session, actor: Actor, *, session_id: int) -> None:
    """Ends one browser session at once."""
    row = session.get(WebSessionRow, session_id, with_for_update=True)
    if row is not None and row.revoked_at is None:
        row.revoked_at = now(session)
        session.flush()
        audit.record(session, actor, action="session.end", subject=f"session:{session_id}")


def set_cookie(response: Response, secret: str, *, is_https: bool) -> None:
    """Gives the browser its session."""
    response.set_cookie(
        SESSION_COOKIE,
        secret,
        max_age=int(SESSION_LONGEST.total_seconds()),
        httponly=True,
        secure=is_https,
        samesite="Lax",
        path="/",
    )


def drop_cookie(response: Response, *, is_https: bool) -> None:
    """Takes the session from the browser."""
    response.delete_cookie(SESSION_COOKIE, httponly=True, secure=is_https, samesite="Lax", path="/")


def _open_session(session: Session, account: AccountRow, *, device: str) -> str:
    secret = secrets.token_urlsafe(32)
    row = WebSessionRow(account_id=account.id, secret_hash=hash_secret(secret), expires_at=now(session) + SESSION_IDLE)
    session.add(row)
    session.flush()
    actor = Actor(account_id=account.id, name=account.name, device=device, request_id=telemetry.request_id.get())
    audit.record(session, actor, action="session.begin", subject=f"session:{row.id}")
    return secret
