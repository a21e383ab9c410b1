"""All accounts, for administrators: find, hand over a link for a new password, switch off, roles in all events."""

from __future__ import annotations

from collections import defaultdict

import sqlalchemy as sa
from flask import Blueprint, redirect, request, url_for
from flask_babel import gettext as _
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from qisai.db.accounts import GrantRow, Role
from qisai.errors import Forbidden, Invalid, NotFound, QisaiError, Unauthenticated
from qisai.web.identity import Caller
from qisai.web.rights import Right, requires
from services.gateway import account_queries as queries
from services.gateway import accounts as operations
from services.gateway import guard, invitations, link_views, password_resets
from services.gateway.pages import inviting
from services.gateway.pages.inviting import NewLink
from services.gateway.pages.site import for_those_who, lines_of, telling
from services.gateway.parts import parts
from services.gateway.schemas import AccountQuery

pages = Blueprint("accounts", __name__)

_IN_ALL_EVENTS = (Role.ORGANISER, Role.ASSOCIATION_ADMIN, Role.OPS)
_A_PAGE = 50


@pages.get("/accounts")
@requires(Right.PUBLIC)
def accounts() -> Response:
    """Accounts by name or login, page by page."""
    for_those_who(Right.MANAGE_ACCOUNTS)
    return _page()


@pages.post("/accounts/invitations")
@requires(Right.PUBLIC)
def invite() -> Response:
    """Makes a link to a role in all events, which this answer alone shows."""
    try:
        with parts().database.transaction() as session:
            made = inviting.make_link(session, _administering(session), None)
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(fault=error)
    return _page(made=made)


@pages.post("/accounts/invitations/revoke")
@requires(Right.PUBLIC)
def revoke() -> Response:
    """Ends an invitation at once."""
    with telling(_("The invitation is revoked.")), parts().database.transaction() as session:
        wanted = request.form.get("invitation", type=int) or 0
        invitations.revoke(session, _administering(session), invitation_id=wanted)
    return _back()


@pages.post("/accounts/<int:account_id>/password-link")
@requires(Right.PUBLIC)
def password_link(account_id: int) -> Response:
    """Makes a link for a new password, which this answer alone shows."""
    with parts().database.transaction() as session:
        actor = _administering(session).actor
        row, secret = password_resets.make(session, actor, account_id=account_id)
        session.refresh(row)
        account = operations.account(session, account_id)
    whom = f"{account.name} · {account.login}"
    made = NewLink(link=link_views.password_link(secret), whom=whom, until=inviting.until(row.expires_at, None))
    return _page(made=made)


@pages.post("/accounts/<int:account_id>/active")
@requires(Right.PUBLIC)
def switch(account_id: int) -> Response:
    """Switches an account off, which signs it out everywhere, or on again."""
    is_active = request.form.get("active") == "1"
    done = _("The account is switched on.") if is_active else _("The account is switched off.")
    with telling(done), parts().database.transaction() as session:
        seen = request.form.get("version", type=int)
        actor = _administering(session).actor
        if seen is None or not 0 < seen < 1 << 31:
            raise Invalid("bad-version", "Load the page again.")
        changes = operations.AccountChanges(is_active=is_active)
        operations.change_account(session, actor, account_id=account_id, seen_version=seen, changes=changes)
    return _back()


@pages.post("/accounts/<int:account_id>/take-role")
@requires(Right.PUBLIC)
def take_role(account_id: int) -> Response:
    """Takes a role in all events away."""
    with telling(_("The role is taken away.")), parts().database.transaction() as session:
        actor = _administering(session).actor
        row = operations.grant(session, request.form.get("grant", type=int) or 0)
        if row.account_id != account_id or row.event_id is not None:
            raise NotFound("grant-not-found", "This account has no such role.")
        operations.take_role(session, actor, row)
    return _back()


def _administering(session: Session) -> Caller:
    caller = guard.acting(session)
    if not operations.is_admin(caller):
        raise Forbidden("no-right", "This page is for administrators.", right=Right.MANAGE_ACCOUNTS.value)
    return caller


def _page(*, made: NewLink | None = None, fault: QisaiError | None = None) -> Response:
    for_those_who(Right.MANAGE_ACCOUNTS)
    q = "".join(filter(str.isprintable, request.args.get("q", "")))[:100]
    with parts().database.transaction() as session:
        wanted = AccountQuery(q=q or None, cursor=request.args.get("cursor", "")[:400] or None, limit=_A_PAGE)
        rows, following = queries.accounts(session, wanted)
        held: dict[int, list[GrantRow]] = defaultdict(list)
        everywhere = sa.select(GrantRow).where(
            GrantRow.event_id.is_(None), GrantRow.account_id.in_([row.id for row in rows])
        )
        for grant in session.scalars(everywhere.order_by(GrantRow.id)):
            held[grant.account_id].append(grant)
        still_open = inviting.open_invitations(session, None)
    return inviting.shown_once(
        "accounts.html",
        status=200 if fault is None else 422,
        q=q,
        accounts=rows,
        following=following,
        roles_of=held,
        open=still_open,
        roles=[role.value for role in _IN_ALL_EVENTS],
        faults=[] if fault is None else lines_of(fault),
        typed=inviting.typed() if fault is not None else {},
        made=made,
    )


def _back() -> Response:
    return redirect(url_for("accounts.accounts"), code=303)
