"""Invitations: a role that is offered by a link, to be taken once by whoever holds the link.

A link counts until it is used, revoked or expired, and only as long as the account that made it may give the role.
Whatever is wrong with one, its holder is told the same: nobody learns which links there were.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai import telemetry
from qisai.db.accounts import AccountRow, GrantRow, InvitationRow, Role
from qisai.db.secrets import hash_secret, new_secret
from qisai.db.session import now
from qisai.errors import NotFound, Unauthenticated
from qisai.ledger import audit
from qisai.ledger.actor import Actor
from qisai.web import identity
from qisai.web.assertion import Assertion
from qisai.web.identity import Caller
from qisai.web.shapes import moment
from services.gateway import accounts
from services.gateway.event_facts import event_facts
from services.gateway.sessions import actor_of

DAYS: Final = 7
"""How long a link counts where nothing is said, in days."""
MOST_DAYS: Final = 30
"""The longest that may be said, in days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What an invitation gives, and whom it is meant for."""

    role: Role
    event_id: int | None = None
    boards: tuple[int, int] | None = None
    name: str = ""
    days: int = DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An invitation that counts, with what its holder is told of it. `event` None: a role in all events."""

    row: InvitationRow
    invited_by: str
    event: str | None
    time_zone: str


def invite(session: Session, caller: Caller, offer: Offer) -> tuple[InvitationRow, str]:
    """A new invitation and the secret of its link, which is stored nowhere.

    Raises `Forbidden` where the caller may not give the role, `Invalid` for one that does not fit its place,
    `NotFound` for an event that is not there.
    """
    accounts.require_may_give(session, caller, role=offer.role, event_id=offer.event_id)
    accounts.check_place(offer.role, event_id=offer.event_id, boards=offer.boards)
    if offer.event_id is not None and event_facts(session, offer.event_id) is None:
        raise NotFound("event-not-found", f"There is no event {offer.event_id}.")
    secret, secret_hash = new_secret()
    low, high = offer.boards or (None, None)
    row = InvitationRow(
        secret_hash=secret_hash,
        role=offer.role,
        event_id=offer.event_id,
        board_from=low,
        board_to=high,
        name=offer.name,
        invited_by=caller.actor.account_id,
        expires_at=now(session) + timedelta(days=offer.days),
    )
    session.add(row)
    session.flush()
    new = {"role": offer.role.value, "boards": offer.boards, "expires_at": moment(row.expires_at)}
    _log(session, caller.actor, row, "invitation.create", new=new)
    return row, secret


def revoke(session: Session, caller: Caller, *, invitation_id: int) -> None:
    """Ends an invitation at once; one that was used or revoked stays as it is. Raises `NotFound`, `Forbidden`."""
    row = session.get(InvitationRow, invitation_id, with_for_update=True)
    if row is None:
        raise NotFound("invitation-not-found", f"There is no invitation {invitation_id}.")
    accounts.require_may_give(session, caller, role=row.role, event_id=row.event_id)
    if row.revoked_at is None and row.accepted_at is None:
        row.revoked_at = now(session)
        session.flush()
        _log(session, caller.actor, row, "invitation.revoke", old={"role": row.role.value})


def find(session: Session, secret: str, *, to_use: bool = False) -> Found:
    """The invitation behind a link. `to_use` holds it, so that of two who use it at once one comes too late.

    Raises `NotFound` (`link-not-valid`), the same for every reason.
    """
    query = sa.select(InvitationRow).where(InvitationRow.secret_hash == hash_secret(secret))
    if to_use:  # as it is once it is held: a page may have read it before, in the same transaction
        query = query.with_for_update().execution_options(populate_existing=True)
    row = session.scalars(query).one_or_none()
    if row is None or row.revoked_at is not None or row.accepted_at is not None or row.expires_at <= now(session):
        raise no_such_link()
    inviter = standing_of(session, row.invited_by)
    if inviter is None or not accounts.may_give(session, inviter, role=row.role, event_id=row.event_id):
        raise no_such_link()
    return _described(session, row, invited_by=inviter.actor.name)


def taken(session: Session, secret: str) -> Found | None:
    """The invitation behind a link that was used, for whoever used it."""
    query = sa.select(InvitationRow).where(InvitationRow.secret_hash == hash_secret(secret))
    row = session.scalars(query.where(InvitationRow.accepted_at.is_not(None))).one_or_none()
    return None if row is None else _described(session, row, invited_by="")


def accept(session: Session, actor: Actor, secret: str) -> GrantRow:
    """Gives the role to the account that acts. Raises `NotFound` (`link-not-valid`)."""
    assert actor.account_id is not None
    return _take(session, actor, find(session, secret, to_use=True))


def sign_up(
    session: Session, secret: str, *, login: str, name: str, password_hash: str, device: str
) -> tuple[AccountRow, GrantRow]:
    """Makes the account of whoever holds the link, with the role. Raises `NotFound`, `Conflict` (`login-taken`)."""
    found = find(session, secret, to_use=True)
    account = accounts.add_account(session, login=login, name=name, password_hash=password_hash)
    actor = actor_of(account, device=device)
    new = {"login": login, "invitation": found.row.id}
    audit.record(session, actor, action="account.create", subject=f"account:{account.id}", new=new)
    return account, _take(session, actor, found)


def standing_of(session: Session, account_id: int) -> Caller | None:
    """An account with its roles as they are now; None where it is switched off."""
    said = Assertion(account_id=account_id, method="", path="", request_id=telemetry.request_id.get())
    try:
        return identity.load_caller(session, said)
    except Unauthenticated:
        return None


def no_such_link() -> NotFound:
    """What the holder of a link that does not count is told."""
    return NotFound(
        "link-not-valid", "This link was used already, has ended or was taken back; ask for a new one.",
    )  # fmt: skip


def _described(session: Session, row: InvitationRow, *, invited_by: str) -> Found:
    event = event_facts(session, row.event_id)
    name, zone = (None, "UTC") if event is None else (event.name, event.time_zone)
    return Found(row=row, invited_by=invited_by, event=name, time_zone=zone)


def _take(session: Session, actor: Actor, found: Found) -> GrantRow:
    assert actor.account_id is not None
    row = found.row
    row.accepted_at = now(session)
    row.accepted_by = actor.account_id
    grant = accounts.give_role(
        session,
        actor,
        account_id=actor.account_id,
        role=row.role,
        event_id=row.event_id,
        boards=None if row.board_from is None or row.board_to is None else (row.board_from, row.board_to),
        granted_by=found.invited_by,
    )
    _log(session, actor, row, "invitation.accept", new={"account_id": actor.account_id, "grant": grant.id})
    return grant


def _log(session: Session, actor: Actor, row: InvitationRow, action: str, **what: Any) -> None:
    audit.record(session, actor, action=action, subject=f"invitation:{row.id}", event_id=row.event_id, **what)
