"""Reads of accounts, grants, tokens, sessions and invitations, page by page in order of their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.accounts import AccountRow, GrantRow, InvitationRow, TokenRow, WebSessionRow
from qisai.errors import Invalid
from qisai.web.requests import decode_cursor, encode_cursor
from qisai.web.shapes import PageQuery
from services.gateway.schemas import AccountQuery, GrantQuery, InvitationQuery

Page = tuple[Sequence[Any], str | None]
"""Rows and the cursor of the next page."""


def accounts(session: Session, query: AccountQuery) -> Page:
    """Accounts whose login or name contains `q`."""
    where = []
    if query.q:
        columns = (AccountRow.login, AccountRow.name)
        where = [sa.or_(*(column.icontains(query.q, autoescape=True) for column in columns))]
    return _page(session, AccountRow, where, query)


def grants(session: Session, query: GrantQuery) -> Page:
    """Grants of an event, of an account, or all."""
    where = []
    if query.event_id is not None:
        where.append(GrantRow.event_id == query.event_id)
    if query.account_id is not None:
        where.append(GrantRow.account_id == query.account_id)
    return _page(session, GrantRow, where, query)


def tokens(session: Session, query: PageQuery, *, account_id: int) -> Page:
    """Tokens of one account, revoked ones included."""
    return _page(session, TokenRow, [TokenRow.account_id == account_id], query)


def open_sessions(session: Session, *, account_id: int) -> Sequence[WebSessionRow]:
    """Browser sessions of an account that count now, the latest first."""
    counts = (WebSessionRow.revoked_at.is_(None), WebSessionRow.expires_at > sa.func.now())
    query = sa.select(WebSessionRow).where(WebSessionRow.account_id == account_id, *counts)
    return session.scalars(query.order_by(WebSessionRow.id.desc()).limit(200)).all()


def open_tokens(session: Session, *, account_id: int) -> Sequence[TokenRow]:
    """Tokens of an account that count now, the latest first."""
    counts = (TokenRow.revoked_at.is_(None), TokenRow.expires_at.is_(None) | (TokenRow.expires_at > sa.func.now()))
    query = sa.select(TokenRow).where(TokenRow.account_id == account_id, *counts)
    return session.scalars(query.order_by(TokenRow.id.desc()).limit(200)).all()


def invitations(session: Session, query: InvitationQuery) -> Page:
    """Invitations into an event, or all; used, revoked and expired ones included."""
    where = [] if query.event_id is None else [InvitationRow.event_id == query.event_id]
    return _page(session, InvitationRow, where, query)


def _page(session: Session, table: Any, where: Sequence[Any], paging: PageQuery) -> Page:
    after = decode_cursor(paging.cursor, length=1)
    if after is not None:
        if not isinstance(after[0], int) or not 0 < after[0] < 1 << 63:
            raise Invalid("bad-cursor", "The cursor is not one of ours; start again without it.")
        where = [*where, table.id > after[0]]
    rows = session.scalars(sa.select(table).where(*where).order_by(table.id).limit(paging.limit + 1)).all()
    more = len(rows) > paging.limit
    shown = rows[: paging.limit]
    return shown, encode_cursor([shown[-1].id]) if more else None
