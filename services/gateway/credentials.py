"""How a caller proves who they are: the cookie of a sign-in, or an API token; and what else a write must bring.

The token wins where both are sent. A secret that was found is remembered for some seconds: that spares the look-up
only, since whether it still counts is asked of the database by whoever does the work, at each call.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

import sqlalchemy as sa
from flask import Request
from sqlalchemy.orm import Session

from qisai.db.accounts import AccountRow, TokenRow, WebSessionRow
from qisai.db.secrets import TOKEN_PREFIX, hash_secret
from qisai.db.session import Database
from qisai.errors import Forbidden, Invalid, Unauthenticated

SESSION_COOKIE: Final = "qisai_session"
CSRF_HEADER: Final = "X-CSRF-Token"
CSRF_FIELD: Final = "csrf_token"
DEVICE_HEADER: Final = "Qisai-Device"
DEVICE_COOKIE: Final = "qisai_device"
FORMS: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
"""What a browser sends a page's form as."""
SESSION_IDLE: Final = timedelta(hours=12)
SESSION_LONGEST: Final = timedelta(days=7)
_SLIDE_AFTER: Final = timedelta(hours=1)
_REMEMBER_SECONDS: Final = 20.0
_REMEMBER_MOST: Final = 5_000
_LONGEST_DEVICE: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """Who calls, as proven. `account_id` None: the public. `is_dead`: a cookie came that no longer counts."""

    account_id: int | None = None
    session_id: int | None = None
    token_id: int | None = None
    scopes: tuple[str, ...] = ()
    secret_hash: str = ""
    device: str = ""
    is_dead: bool = False

    @property
    def by_cookie(self) -> bool:
        """Whether a browser's cookie proved it, so that writes need the CSRF token."""
        return self.session_id is not None


PUBLIC: Final = Credential()


class Credentials:
    """Finds the credential of a request."""

    def __init__(self, database: Database, *, secret_key: str, public_url: str) -> None:
        self._database = database
        self._secret_key = secret_key.encode()
        self._own_hosts = frozenset({urlsplit(public_url).netloc})
        self._known: OrderedDict[str, tuple[float, Credential]] = OrderedDict()

    def of(self, request: Request) -> Credential:
        """The credential. Raises `Unauthenticated` for a token that is none or no longer counts, `Invalid` for a bad
        device name."""
        device = _device(request)
        header = request.headers.get("Authorization")
        if header is not None:
            found = self._found(_bearer(header), _token)
            if found is None:
                raise Unauthenticated("bad-token", "This token is unknown, expired or revoked.")
            return replace(found, device=device)
        secret = request.cookies.get(SESSION_COOKIE)
        if not secret:
            return replace(PUBLIC, device=device)
        return replace(self._found(secret, _web_session) or Credential(is_dead=True), device=device)

    def forget(self, credential: Credential) -> None:
        """Asks the database anew next time."""
        self._known.pop(credential.secret_hash, None)

    def csrf_token(self, secret_hash: str) -> str:
        """The token that a page of this session must send along with each write."""
        return hmac.new(self._secret_key, b"csrf:" + secret_hash.encode(), hashlib.sha256).hexdigest()

    def check_write(self, request: Request, credential: Credential) -> None:
        """Refuses a write by cookie that the page of this session did not send.

        Raises `Forbidden` for a missing or wrong CSRF token, and `Unauthenticated` for a cookie that no longer counts.
        """
        if credential.is_dead:
            raise Unauthenticated("signed-out", "Your sign-in has ended; sign in again.")
        if credential.by_cookie:
            sent = request.headers.get(CSRF_HEADER) or (request.form.get(CSRF_FIELD) if _is_form(request) else None)
            if not sent or not hmac.compare_digest(sent.encode(), self.csrf_token(credential.secret_hash).encode()):
                raise Forbidden(
                    "csrf", f"A write by cookie needs the page's token ({CSRF_HEADER}); load the page again."
                )

    def check_origin(self, request: Request) -> None:
        """Refuses a write that another site's page sends. Raises `Forbidden`."""
        origin = request.headers.get("Origin")
        if origin is not None and _host_of(origin) not in {*self._own_hosts, request.host}:
            raise Forbidden("foreign-origin", "This came from a page of another site.")
        if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            raise Forbidden("foreign-origin", "This came from a page of another site.")

    def _found(self, secret: str, look_up: Callable[[Session, str], Credential | None]) -> Credential | None:
        secret_hash = hash_secret(secret)
        remembered = self._known.get(secret_hash)
        if remembered is not None and time.monotonic() < remembered[0]:
            is_token = look_up is _token
            return remembered[1] if (remembered[1].token_id is not None) == is_token else None
        with self._database.transaction() as session:
            found = look_up(session, secret_hash)
        if found is None:
            self._known.pop(secret_hash, None)
            return None
        self._known[secret_hash] = (time.monotonic() + _REMEMBER_SECONDS, found)
        while len(self._known) > _REMEMBER_MOST:
            self._known.popitem(last=False)
        return found


def _bearer(header: str) -> str:
    scheme, _, token = header.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token.startswith(TOKEN_PREFIX) or len(token) > 200:
        raise Unauthenticated("bad-token", "Authorization must be: Bearer qisai_…")
    return token


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # such as http://[
        return ""


def _device(request: Request) -> str:
    device = request.headers.get(DEVICE_HEADER) or request.cookies.get(DEVICE_COOKIE) or ""
    if len(device) > _LONGEST_DEVICE or not device.isprintable() or not device.isascii():
        raise Invalid("bad-device", f"{DEVICE_HEADER} must have at most {_LONGEST_DEVICE} printable ASCII characters.")
    return device


def _is_form(request: Request) -> bool:
    return request.mimetype in FORMS


def _token(session: Session, secret_hash: str) -> Credential | None:
    now = sa.func.clock_timestamp()
    query = (
        sa.select(TokenRow.id, TokenRow.account_id, TokenRow.scopes)
        .join(AccountRow, AccountRow.id == TokenRow.account_id)
        .where(
            TokenRow.secret_hash == secret_hash,
            TokenRow.revoked_at.is_(None),
            sa.or_(TokenRow.expires_at.is_(None), TokenRow.expires_at > now),
            AccountRow.is_active,
        )
    )
    row = session.execute(query).one_or_none()
    if row is None:
        return None
    session.execute(sa.update(TokenRow).where(TokenRow.id == row.id).values(last_used_at=now))
    return Credential(account_id=row.account_id, token_id=row.id, scopes=tuple(row.scopes), secret_hash=secret_hash)


def _web_session(session: Session, secret_hash: str) -> Credential | None:
    query = (
        sa.select(WebSessionRow, sa.func.clock_timestamp())
        .join(AccountRow, AccountRow.id == WebSessionRow.account_id)
        .where(WebSessionRow.secret_hash == secret_hash, WebSessionRow.revoked_at.is_(None), AccountRow.is_active)
    )
    found = session.execute(query).one_or_none()
    if found is None:
        return None
    row: WebSessionRow
    now: datetime
    row, now = found
    if row.expires_at <= now:
        return None
    until = min(now + SESSION_IDLE, row.created_at + SESSION_LONGEST)
    if until - row.expires_at > _SLIDE_AFTER:
        row.expires_at = until
    return Credential(account_id=row.account_id, session_id=row.id, scopes=("read", "write"), secret_hash=secret_hash)
