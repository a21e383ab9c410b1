"""Sign-in by password and the browser session it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
import structlog
from flask import Response
from sqlalchemy.orm import Session

from qisai import telemetry
from qisai.db.accounts import AccountRow, WebSessionRow
from qisai.db.secrets import new_secret
from qisai.db.session import now
from qisai.errors import NotFound, Unauthenticated
from qisai.ledger import audit
from qisai.ledger.actor import Actor
from services.gateway.accounts import end_sign_ins
from services.gateway.credentials import SESSION_COOKIE, SESSION_IDLE, SESSION_LONGEST
from services.gateway.parts import Parts

log = structlog.get_logger()

_BROWSERS: Final = (
    ("MicroMessenger", "WeChat"), ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
)  # fmt: skip
"""Signs in a User-Agent and the browser's name; the first that fits, since most name others besides themselves."""
_SYSTEMS: Final = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A new browser session. `secret` goes into the cookie and nowhere else."""

    account: AccountRow
    secret: str
    csrf_token: str


def sign_in(parts: Parts, *, login: str, password: str, address: str, device: str, browser: str) -> SignedIn:
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
        return begin(parts, session, known, device=device, browser=browser)


def begin(parts: Parts, session: Session, account: AccountRow, *, device: str, browser: str) -> SignedIn:
    """A new session of an account that has proven who it is."""
    secret, secret_hash = new_secret()
    expires_at = now(session) + SESSION_IDLE
    row = WebSessionRow(account_id=account.id, secret_hash=secret_hash, browser=browser, expires_at=expires_at)
    session.add(row)
    session.flush()
    audit.record(session, actor_of(account, device=device), action="session.begin", subject=f"session:{row.id}")
    return SignedIn(account=account, secret=secret, csrf_token=parts.credentials.csrf_token(secret_hash))


def actor_of(account: AccountRow, *, device: str) -> Actor:
    """An account as the one who acts in the request under way."""
    return Actor(account_id=account.id, name=account.name, device=device, request_id=telemetry.request_id.get())


def end_own(session: Session, actor: Actor, *, session_id: int) -> None:
    """Ends one of the actor's own sessions. Raises `NotFound` (`session-not-found`), also for somebody else's."""
    row = session.get(WebSessionRow, session_id)
    if row is None or row.account_id != actor.account_id:
        raise NotFound("session-not-found", f"You have no session {session_id}.")
    sign_out(session, actor, session_id=session_id)


def end_others(session: Session, actor: Actor, *, but: int | None) -> None:
    """Ends the actor's sessions but this one."""
    assert actor.account_id is not None
    end_sign_ins(session, account_id=actor.account_id, but=but)
    audit.record(session, actor, action="session.end_others", subject=f"account:{actor.account_id}")


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


def browser_of(user_agent: str) -> str:
    """Kind of browser and system, such as `Firefox, Android`; as much as fits of what is neither known."""
    kind = next((name for sign, name in _BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in user_agent), "")
    return ", ".join(filter(None, (kind, system))) or "".join(filter(str.isprintable, user_agent))[:60]
