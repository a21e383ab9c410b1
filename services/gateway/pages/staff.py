"""Who works at an event: invite by link, appoint by login, take roles and invitations away."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from flask import Blueprint, flash, redirect, request, url_for
from flask_babel import gettext as _
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from qisai.client import Event
from qisai.db.accounts import AccountRow, GrantRow, Role
from qisai.errors import Forbidden, NotFound, QisaiError, Unauthenticated
from qisai.web.identity import Caller
from qisai.web.rights import Right, requires
from services.gateway import accounts, guard, invitations
from services.gateway.pages import inviting
from services.gateway.pages.inviting import NewLink
from services.gateway.pages.site import client, for_those_who, lines_of, telling
from services.gateway.parts import credential, parts

pages = Blueprint("staff", __name__)

_STAFF = "/events/<int:event_id>/staff"
_BY_ADMINS = frozenset({Role.ORGANISER, *accounts.GIVEN_BY_ORGANISERS})


@dataclass(frozen=True, slots=True)
class Appointment:
    """A role of somebody in this event. `boards`: a referee's range, both ends counted."""

    grant_id: int
    login: str
    name: str
    role: str
    boards: tuple[int, int] | None


@pages.get(_STAFF)
@requires(Right.PUBLIC)
def staff(event_id: int) -> Response:
    """Everybody with a role in this event, and the invitations still open."""
    return _page(_event(event_id))


@pages.post(_STAFF)
@requires(Right.PUBLIC)
def appoint(event_id: int) -> Response:
    """Gives a role to an account; whoever has none yet is invited."""
    event = _event(event_id)
    login = request.form.get("login", "").strip()
    try:
        with parts().database.transaction() as session:
            caller = guard.acting(session)
            role = inviting.role_typed()
            _require(session, caller, role, event)
            account = _account(session, login)
            boards = inviting.boards_typed(request.form.get("boards", ""))
            accounts.give_role(
                session, caller.actor, account_id=account.id, role=role, event_id=event_id, boards=boards,
                granted_by=caller.actor.name,
            )  # fmt: skip
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(event, fault=error)
    flash(_("%(name)s is appointed.", name=account.name), "done")
    return _back(event_id)


@pages.post(f"{_STAFF}/remove")
@requires(Right.PUBLIC)
def remove(event_id: int) -> Response:
    """Takes a role in this event away; it counts no more from the next call on."""
    event = _event(event_id)
    with telling(_("The role is taken away.")), parts().database.transaction() as session:
        caller = guard.acting(session)
        row = accounts.grant(session, request.form.get("grant", type=int) or 0)
        if row.event_id != event_id:
            raise NotFound("grant-not-found", "There is no such role in this event.")
        _require(session, caller, row.role, event)
        accounts.take_role(session, caller.actor, row)
    return _back(event_id)


@pages.post(f"{_STAFF}/invitations")
@requires(Right.PUBLIC)
def invite(event_id: int) -> Response:
    """Makes a link, which this answer alone shows."""
    event = _event(event_id)
    try:
        with parts().database.transaction() as session:
            made = inviting.make_link(session, guard.acting(session), event)
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(event, fault=error)
    return _page(event, made=made)


@pages.post(f"{_STAFF}/invitations/revoke")
@requires(Right.PUBLIC)
def revoke(event_id: int) -> Response:
    """Ends an invitation at once."""
    _event(event_id)
    with telling(_("The invitation is revoked.")), parts().database.transaction() as session:
        wanted = request.form.get("invitation", type=int) or 0
        invitations.revoke(session, guard.acting(session), invitation_id=wanted)
    return _back(event_id)


def _page(event: Event, *, made: NewLink | None = None, fault: QisaiError | None = None) -> Response:
    rounds = client().rounds.list(event.id)
    with parts().database.transaction() as session:
        caller = guard.load_caller(session, credential())
        found, still_open = _appointments(session, event.id), inviting.open_invitations(session, event)
    return inviting.shown_once(
        "staff.html",
        status=200 if fault is None else 422,
        event=event,
        rounds=rounds,
        appointments=found,
        open=still_open,
        roles=[role.value for role in Role if role in _may_give(caller)],
        faults=[] if fault is None else lines_of(fault),
        typed=inviting.typed() if fault is not None else {},
        made=made,
    )


def _back(event_id: int) -> Response:
    return redirect(url_for("staff.staff", event_id=event_id), code=303)


def _event(event_id: int) -> Event:
    """The event, whose own organiser or an administrator looks at this page. Raises `Unauthenticated`, `Forbidden`."""
    event = client().events.get(event_id)
    for_those_who(Right.MANAGE_GRANTS, event)
    return event


def _may_give(caller: Caller) -> frozenset[Role]:
    return _BY_ADMINS if accounts.is_admin(caller) else accounts.GIVEN_BY_ORGANISERS


def _require(session: Session, caller: Caller, role: Role, event: Event) -> None:
    accounts.require_may_give(session, caller, role=role, event_id=event.id)
    if role not in _BY_ADMINS:
        raise Forbidden("no-right", "You may not give or take this role.", right=Right.MANAGE_GRANTS.value)


def _account(session: Session, login: str) -> AccountRow:
    found = session.scalars(sa.select(AccountRow).where(sa.func.lower(AccountRow.login) == login.lower())).first()
    if found is None or not login.isprintable():
        raise NotFound("account-not-found", _("There is no account %(login)s; invite by link.", login=login[:64]))
    return found


def _appointments(session: Session, event_id: int) -> list[Appointment]:
    query = (
        sa.select(GrantRow, AccountRow)
        .join(AccountRow, AccountRow.id == GrantRow.account_id)
        .where(GrantRow.event_id == event_id)
        .order_by(GrantRow.role, AccountRow.name)
    )
    return [
        Appointment(
            grant.id, account.login, account.name, grant.role.value,
            inviting.boards_of(grant.board_from, grant.board_to),
        )
        for grant, account in session.execute(query)
    ]  # fmt: skip
