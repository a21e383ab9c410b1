"""Who works at an event: appoint by login, take roles away. An administrator makes missing accounts on the way."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from pydantic import ValidationError
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from qisai.client import Event
from qisai.db.accounts import AccountRow, GrantRow, Role
from qisai.db.secrets import new_password
from qisai.errors import FieldError, Forbidden, Invalid, NotFound
from qisai.web import identity
from qisai.web.identity import Caller
from qisai.web.rights import Right, requires
from services.gateway import accounts, guard
from services.gateway.pages.site import client, for_those_who, telling
from services.gateway.parts import credential, parts
from services.gateway.schemas import NewAccount

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
def staff(event_id: int) -> str:
    """Everybody with a role in this event."""
    asking = client()
    event = _event(event_id)
    with parts().database.transaction() as session:
        caller = guard.load_caller(session, credential())
        found = _appointments(session, event_id)
    return render_template(
        "staff.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        appointments=found,
        roles=[role.value for role in Role if role in _may_give(caller)],
        is_admin=accounts.is_admin(caller),
    )


@pages.post(_STAFF)
@requires(Right.PUBLIC)
def appoint(event_id: int) -> Response:
    """Gives a role to an account; for an administrator a login that nobody has becomes a new account."""
    _event(event_id)
    form = request.form
    login, name = form.get("login", "").strip(), form.get("name", "").strip()
    password = new_password()
    with telling(), parts().database.transaction() as session:
        caller = _appointing(session)
        role = _role(form.get("role", ""), caller)
        account = session.scalars(sa.select(AccountRow).where(sa.func.lower(AccountRow.login) == login.lower())).first()
        is_new = account is None
        if account is None:
            account = _new_account(session, caller, login=login, name=name or login, password=password)
        accounts.give_role(
            session,
            caller.actor,
            account_id=account.id,
            role=role,
            event_id=event_id,
            boards=_boards(form.get("boards", "")),
            granted_by=caller.actor.name,
        )
        flash(_("%(name)s is appointed.", name=account.name), "done")
        if is_new:
            flash(
                _("New account %(login)s, password: %(password)s (shown once)", login=login, password=password), "done"
            )
    return redirect(url_for("staff.staff", event_id=event_id), code=303)


@pages.post(f"{_STAFF}/remove")
@requires(Right.PUBLIC)
def remove(event_id: int) -> Response:
    """Takes a role in this event away."""
    _event(event_id)
    with telling(_("The role is taken away.")), parts().database.transaction() as session:
        caller = _appointing(session)
        row = accounts.grant(session, request.form.get("grant", type=int) or 0)
        if row.event_id != event_id:
            raise NotFound("grant-not-found", "There is no such role in this event.")
        _role(row.role.value, caller)
        accounts.take_role(session, caller.actor, row)
    return redirect(url_for("staff.staff", event_id=event_id), code=303)


def _event(event_id: int) -> Event:
    """The event, whose own organiser or an administrator looks at this page. Raises `Unauthenticated`, `Forbidden`."""
    event = client().events.get(event_id)
    for_those_who(Right.MANAGE_GRANTS, event)
    return event


def _appointing(session: Session) -> Caller:
    """The caller, whose credential may write."""
    caller = guard.load_caller(session, credential())
    identity.authorise(session, caller, right=Right.SIGNED_IN, method=request.method, event_id=None)
    return caller


def _may_give(caller: Caller) -> frozenset[Role]:
    return _BY_ADMINS if accounts.is_admin(caller) else accounts.GIVEN_BY_ORGANISERS


def _role(text: str, caller: Caller) -> Role:
    role = Role(text) if text in set(Role) else None
    if role is None or role not in _may_give(caller):
        raise Forbidden("no-right", "You may not give or take this role.", right=Right.MANAGE_GRANTS.value)
    return role


def _new_account(session: Session, caller: Caller, *, login: str, name: str, password: str) -> AccountRow:
    if not accounts.is_admin(caller):
        raise NotFound("account-not-found", f"There is no account {login}; an administrator can make one.")
    try:
        checked = NewAccount(login=login, name=name, password=password)
    except ValidationError as error:
        faults = [FieldError("/" + "/".join(map(str, e["loc"])), e["msg"]) for e in error.errors(include_url=False)]
        raise Invalid("invalid-request", f"{login[:40]!r} cannot be an account.", errors=faults) from error
    password_hash = parts().passwords.hash(password)
    return accounts.create_account(
        session, caller.actor, login=checked.login, name=checked.name, password_hash=password_hash
    )


def _boards(text: str) -> tuple[int, int] | None:
    """A range such as `1-20`. Raises `Invalid`."""
    if not text.strip():
        return None
    low, _dash, high = text.replace("–", "-").replace("—", "-").partition("-")
    if not (low.strip().isdecimal() and high.strip().isdecimal() and len(text) < 20):
        raise Invalid("bad-boards", "Boards are a range such as 1-20.")
    return int(low), int(high)


def _appointments(session: Session, event_id: int) -> list[Appointment]:
    query = (
        sa.select(GrantRow, AccountRow)
        .join(AccountRow, AccountRow.id == GrantRow.account_id)
        .where(GrantRow.event_id == event_id)
        .order_by(GrantRow.role, AccountRow.name)
    )
    return [
        Appointment(
            grant.id,
            account.login,
            account.name,
            grant.role.value,
            None if grant.board_from is None or grant.board_to is None else (grant.board_from, grant.board_to),
        )
        for grant, account in session.execute(query)
    ]
