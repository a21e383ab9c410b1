"""Operations on accounts, grants and tokens. They flush and never commit; each writes its audit row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from qisai.db.accounts import AccountRow, GrantRow, PasswordResetRow, Role, TokenRow, WebSessionRow
from qisai.db.records import AuditRow
from qisai.db.secrets import new_token
from qisai.db.session import compare_and_set, now
from qisai.errors import Conflict, Forbidden, Invalid, NotFound, Stale
from qisai.ledger import audit
from qisai.ledger.actor import Actor
from qisai.web.identity import Caller
from qisai.web.rights import Right
from qisai.web.shapes import moment
from services.gateway.event_facts import event_facts

GIVEN_BY_ORGANISERS = frozenset({Role.CHIEF_REFEREE, Role.REFEREE, Role.DESK})
"""Roles that an organiser may give in their own event."""
_LAST_ADMIN_LOCK = 0x61646D696E
"""Advisory lock under which administrators are counted: "admin" in ASCII."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountChanges:
    """What to change; None leaves a value alone."""

    name: str | None = None
    password_hash: str | None = None
    is_active: bool | None = None


def create_account(session: Session, actor: Actor, *, login: str, name: str, password_hash: str | None) -> AccountRow:
    """A new account. Raises `Conflict` (`login-taken`)."""
    row = add_account(session, login=login, name=name, password_hash=password_hash)
    audit.record(session, actor, action="account.create", subject=f"account:{row.id}", new={"login": login})
    return row


def add_account(session: Session, *, login: str, name: str, password_hash: str | None) -> AccountRow:
    """A new account, whose log row the caller writes. Raises `Conflict` (`login-taken`)."""
    row = AccountRow(login=login, name=name, password_hash=password_hash)
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError as error:
        raise Conflict("login-taken", f"There is already an account {login}.", login=login) from error
    return row


def account(session: Session, account_id: int) -> AccountRow:
    """Raises `NotFound`."""
    row = session.get(AccountRow, account_id)
    if row is None:
        raise NotFound("account-not-found", f"There is no account {account_id}.")
    return row


def change_account(
    session: Session, actor: Actor, *, account_id: int, seen_version: int, changes: AccountChanges
) -> AccountRow:
    """Changes the version seen. A new password or switching off ends every sign-in of the account.

    Raises `NotFound`, `Stale`, and `Conflict` (`last-admin`) for the last active administrator.
    """
    values: dict[str, Any] = {
        name: value
        for name, value in (
            ("name", changes.name), ("password_hash", changes.password_hash), ("is_active", changes.is_active)
        )
        if value is not None
    }  # fmt: skip
    old = _shown(account(session, account_id))
    is_this_version = [AccountRow.id == account_id, AccountRow.version == seen_version]
    if not compare_and_set(
        session, AccountRow, where=is_this_version, values={**values, "version": AccountRow.version + 1}
    ):
        session.expire_all()
        present = account(session, account_id)
        current = {**_shown(present), "version": present.version, **_last_change(session, account_id)}
        raise Stale("stale", "The account was changed meanwhile.", current=current)
    if changes.is_active is False:
        _keep_an_admin(session)
    if changes.password_hash is not None or changes.is_active is False:
        end_sign_ins(session, account_id=account_id)
    session.expire_all()
    row = account(session, account_id)
    new = _shown(row) | ({"password": "changed"} if changes.password_hash is not None else {})
    audit.record(session, actor, action="account.change", subject=f"account:{account_id}", old=old, new=new)
    return row


def _last_change(session: Session, account_id: int) -> dict[str, Any]:
    """Who changed the account last, and when; that it was made counts too."""
    a = AuditRow
    changes = (a.subject == f"account:{account_id}", a.action.in_(("account.create", "account.change")))
    last = audit.last(session, a.event_id.is_(None), *changes)
    return {"updated_by": last and last.actor_name, "updated_at": last and moment(last.at)}


def end_sign_ins(session: Session, *, account_id: int, but: int | None = None) -> None:
    """Ends every browser session of the account at once (`but` one), and its links for a new password."""
    open_ones = [WebSessionRow.account_id == account_id, WebSessionRow.revoked_at.is_(None)]
    if but is not None:
        open_ones.append(WebSessionRow.id != but)
    session.execute(sa.update(WebSessionRow).where(*open_ones).values(revoked_at=now(session)))
    links = (PasswordResetRow.account_id == account_id, PasswordResetRow.revoked_at.is_(None))
    unused = (*links, PasswordResetRow.used_at.is_(None))
    session.execute(sa.update(PasswordResetRow).where(*unused).values(revoked_at=now(session)))


def may_give(session: Session, caller: Caller, *, role: Role | None, event_id: int | None) -> bool:
    """Whether the caller may give and take this role (None: any at all) there: an administrator every role
    everywhere, an event's organiser those of `GIVEN_BY_ORGANISERS` in that event."""
    if is_admin(caller):
        return True
    if event_id is None or (role is not None and role not in GIVEN_BY_ORGANISERS):
        return False
    event = event_facts(session, event_id)
    return event is not None and Role.ORGANISER in caller.roles_in(event_id, owner_id=event.created_by)


def require_may_give(session: Session, caller: Caller, *, role: Role | None, event_id: int | None) -> None:
    """Raises `Forbidden` (`no-right`) unless `may_give`."""
    if not may_give(session, caller, role=role, event_id=event_id):
        detail = (
            "An organiser gives the roles chief_referee, referee and desk in their own events; name one in event_id."
            " Other roles are given by an administrator."
        )
        raise Forbidden("no-right", detail, right=Right.MANAGE_GRANTS.value)


def give_role(
    session: Session,
    actor: Actor,
    *,
    account_id: int,
    role: Role,
    event_id: int | None,
    boards: tuple[int, int] | None,
    granted_by: str,
) -> GrantRow:
    """Gives a role; the same one again is returned as it is.

    The right to give it is checked before (`require_may_give`). Raises `Invalid` for a role that does not fit its
    place, `NotFound` for an account or event that is not there.
    """
    check_place(role, event_id=event_id, boards=boards)
    account(session, account_id)
    # One at a time for each account: the same role twice would count on after one of them was taken away.
    session.execute(sa.select(AccountRow.id).where(AccountRow.id == account_id).with_for_update(key_share=True))
    low, high = boards or (None, None)
    values = {"account_id": account_id, "role": role, "event_id": event_id, "board_from": low, "board_to": high}
    same = session.scalars(
        sa.select(GrantRow).where(
            *(getattr(GrantRow, name).is_not_distinct_from(value) for name, value in values.items())
        )
    ).first()
    if same is not None:
        return same
    row = GrantRow(**values, granted_by=granted_by)
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError as error:
        raise NotFound("event-not-found", f"There is no event {event_id}.") from error
    new = {"account_id": account_id, "role": role.value, "boards": boards}
    audit.record(session, actor, action="grant.create", subject=f"grant:{row.id}", event_id=event_id, new=new)
    return row


def check_place(role: Role, *, event_id: int | None, boards: tuple[int, int] | None) -> None:
    """Raises `Invalid` for a role that does not fit its event or its range of boards."""
    if event_id is not None and role in (Role.ASSOCIATION_ADMIN, Role.OPS):
        raise Invalid("role-without-event", f"{role.value} is a role in all events; leave event_id out.")
    if boards is not None and (role is not Role.REFEREE or boards[0] > boards[1]):
        raise Invalid("bad-boards", "boards is a range such as [1, 20] and only for the role referee.")


def grant(session: Session, grant_id: int) -> GrantRow:
    """Raises `NotFound`."""
    row = session.get(GrantRow, grant_id)
    if row is None:
        raise NotFound("grant-not-found", f"There is no grant {grant_id}.")
    return row


def take_role(session: Session, actor: Actor, row: GrantRow) -> None:
    """Takes a role away; services look grants up at each call. Raises `Conflict` (`last-admin`)."""
    old = {"account_id": row.account_id, "role": row.role.value}
    session.delete(row)
    session.flush()
    if row.role is Role.ASSOCIATION_ADMIN:
        _keep_an_admin(session)
    audit.record(session, actor, action="grant.delete", subject=f"grant:{row.id}", event_id=row.event_id, old=old)


def create_token(
    session: Session, caller: Caller, *, account_id: int, name: str, scopes: list[str], days: int | None
) -> tuple[TokenRow, str]:
    """A new token and its secret, which is stored nowhere. Raises `NotFound`, `Forbidden`."""
    if account_id != caller.actor.account_id and not is_admin(caller):
        raise Forbidden("no-right", "Only an administrator makes tokens for others.")
    account(session, account_id)
    secret, secret_hash = new_token()
    expires_at = None if days is None else now(session) + timedelta(days=days)
    ordered = sorted(set(scopes))
    row = TokenRow(account_id=account_id, name=name, secret_hash=secret_hash, scopes=ordered, expires_at=expires_at)
    session.add(row)
    session.flush()
    new = {"account_id": account_id, "name": name, "scopes": ordered, "expires_at": moment(expires_at)}
    audit.record(session, caller.actor, action="token.create", subject=f"token:{row.id}", new=new)
    return row, secret


def revoke_token(session: Session, caller: Caller, *, token_id: int) -> None:
    """Ends a token at once. Raises `NotFound`, also for somebody else's where the caller is no administrator."""
    row = session.get(TokenRow, token_id, with_for_update=True)
    if row is None or (row.account_id != caller.actor.account_id and not is_admin(caller)):
        raise NotFound("token-not-found", f"There is no token {token_id}.")
    if row.revoked_at is None:
        _end_token(session, caller.actor, row)


def end_tokens(session: Session, actor: Actor, *, account_id: int) -> None:
    """Ends every token of the account at once."""
    query = sa.select(TokenRow).where(TokenRow.account_id == account_id, TokenRow.revoked_at.is_(None))
    for row in session.scalars(query.order_by(TokenRow.id).with_for_update()):
        _end_token(session, actor, row)


def _end_token(session: Session, actor: Actor, row: TokenRow) -> None:
    row.revoked_at = now(session)
    session.flush()
    old = {"account_id": row.account_id, "name": row.name}
    audit.record(session, actor, action="token.revoke", subject=f"token:{row.id}", old=old)


def is_admin(caller: Caller) -> bool:
    """Whether the caller administers the association."""
    return any(held.role is Role.ASSOCIATION_ADMIN for held in caller.grants)


def _keep_an_admin(session: Session) -> None:
    """Raises `Conflict` where this change would leave nobody who can administer."""
    session.execute(sa.select(sa.func.pg_advisory_xact_lock(_LAST_ADMIN_LOCK)))
    admins = session.execute(
        sa.select(sa.func.count())
        .select_from(GrantRow)
        .join(AccountRow, AccountRow.id == GrantRow.account_id)
        .where(GrantRow.role == Role.ASSOCIATION_ADMIN, AccountRow.is_active)
    ).scalar_one()
    if admins == 0:
        raise Conflict("last-admin", "This is the last administrator; make another one first.")


def _shown(row: AccountRow) -> dict[str, Any]:
    return {"login": row.login, "name": row.name, "is_active": row.is_active}
