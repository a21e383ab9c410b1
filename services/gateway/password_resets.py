"""A new password by link: an administrator makes and hands it over, whoever holds it sets the password, once."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.accounts import AccountRow, PasswordResetRow
from qisai.db.secrets import hash_secret, new_secret
from qisai.db.session import now
from qisai.ledger import audit
from qisai.ledger.actor import Actor
from qisai.web.shapes import moment
from services.gateway import accounts
from services.gateway.invitations import no_such_link, standing_of
from services.gateway.sessions import actor_of

HOURS: Final = 2
"""How long a link counts, in hours: it opens an account, so no longer than it takes to hand it over."""


def make(session: Session, actor: Actor, *, account_id: int) -> tuple[PasswordResetRow, str]:
    """A new link's row and secret, which is stored nowhere; earlier links end. Raises `NotFound`."""
    accounts.account(session, account_id)
    _end(session, account_id)
    secret, secret_hash = new_secret()
    expires_at = now(session) + timedelta(hours=HOURS)
    row = PasswordResetRow(
        account_id=account_id, secret_hash=secret_hash, made_by=actor.account_id, expires_at=expires_at
    )
    session.add(row)
    session.flush()
    new = {"expires_at": moment(expires_at)}
    audit.record(session, actor, action="password_reset.create", subject=f"account:{account_id}", new=new)
    return row, secret


def revoke(session: Session, actor: Actor, *, account_id: int) -> None:
    """Ends the account's links. Raises `NotFound`."""
    accounts.account(session, account_id)
    if _end(session, account_id):
        audit.record(session, actor, action="password_reset.revoke", subject=f"account:{account_id}")


def find(session: Session, secret: str, *, to_use: bool = False) -> AccountRow:
    """The account whose password a link sets; `to_use` marks the link used.

    Raises `NotFound` (`link-not-valid`), the same for a link that is none, was used, has ended, or whose maker no
    longer administers.
    """
    query = sa.select(PasswordResetRow).where(PasswordResetRow.secret_hash == hash_secret(secret))
    if to_use:  # the account before its links, as whatever ends them takes both
        owner = sa.select(PasswordResetRow.account_id).where(PasswordResetRow.secret_hash == hash_secret(secret))
        session.execute(sa.select(AccountRow.id).where(AccountRow.id.in_(owner)).with_for_update(key_share=True))
        query = query.with_for_update()
    row = session.scalars(query).one_or_none()
    if row is None or row.revoked_at is not None or row.used_at is not None or row.expires_at <= now(session):
        raise no_such_link()
    maker = standing_of(session, row.made_by)
    account = session.get(AccountRow, row.account_id)
    if maker is None or not accounts.is_admin(maker) or account is None or not account.is_active:
        raise no_such_link()
    if to_use:
        row.used_at = now(session)
        session.flush()
    return account


def use(session: Session, secret: str, *, password_hash: str, device: str) -> AccountRow:
    """Sets the password and ends every sign-in and every token of the account. Raises `NotFound`."""
    account = find(session, secret, to_use=True)
    actor = actor_of(account, device=device)
    audit.record(session, actor, action="password_reset.use", subject=f"account:{account.id}")
    # Who needs a link lost the account, perhaps to somebody else, who would keep it by a token of their own.
    accounts.end_tokens(session, actor, account_id=account.id)
    changes = accounts.AccountChanges(password_hash=password_hash)
    return accounts.change_account(session, actor, account_id=account.id, seen_version=account.version, changes=changes)


def _end(session: Session, account_id: int) -> bool:
    unused = (PasswordResetRow.revoked_at.is_(None), PasswordResetRow.used_at.is_(None))
    ended = session.execute(
        sa.update(PasswordResetRow)
        .where(PasswordResetRow.account_id == account_id, *unused)
        .values(revoked_at=now(session))
        .returning(PasswordResetRow.id)
    )
    return bool(ended.all())
