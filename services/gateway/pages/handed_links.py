"""Where links that were handed over lead: an invitation to a role, a new password.

Opening one changes nothing, since messengers open links to preview them; only its form does.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, flash, make_response, redirect, render_template, request, url_for
from flask_babel import gettext as _
from pydantic import ValidationError
from werkzeug.wrappers import Response

from qisai.errors import Conflict, FieldError, Invalid, NotFound, QisaiError, TooMany, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway import guard, invitations, link_views, password_resets, sessions
from services.gateway.credentials import SESSION_COOKIE
from services.gateway.invitations import Found
from services.gateway.pages import wording
from services.gateway.pages.account import in_words, passwords_rule
from services.gateway.pages.site import typed, viewer
from services.gateway.parts import credential, parts
from services.gateway.schemas import SignUp
from services.gateway.sessions import SignedIn

pages = Blueprint("handed_links", __name__)

_INVITATION = "/invitations/<token>"
_PASSWORD = "/new-password/<token>"  # noqa: S105 - a path, no password


@pages.get(_INVITATION)
@requires(Right.PUBLIC)
def invitation(token: str) -> Response:
    """What is offered, and the ways to take it."""
    with parts().database.transaction() as session:
        found = invitations.find(session, token)
    return _page("invitation.html", found=found)


@pages.post(_INVITATION)
@requires(Right.PUBLIC)
def take(token: str) -> Response:
    """Takes the role: with the account that is signed in, with one that one has, or with a new one."""
    try:
        link_views.count_attempt()
        if viewer().is_signed_in:
            return _gone_on(_with_this_account(token))
        if request.form.get("how") == "new":
            return _with_a_new_account(token)
        return _with_an_account(token)
    except (Conflict, Invalid, TooMany, Unauthenticated) as error:
        with parts().database.transaction() as session:
            found = invitations.find(session, token)
        return _page("invitation.html", fault=error, status=_status(error), found=found)


@pages.get(_PASSWORD)
@requires(Right.PUBLIC)
def new_password(token: str) -> Response:
    """The form for a new password."""
    with parts().database.transaction() as session:
        account = password_resets.find(session, token)
    return _page("new_password.html", login=account.login)


@pages.post(_PASSWORD)
@requires(Right.PUBLIC)
def set_password(token: str) -> Response:
    """Sets it; one signs in with it afterwards."""
    try:
        link_views.count_attempt()
        link_views.set_password(token, typed("password"))
    except (Invalid, TooMany) as error:
        with parts().database.transaction() as session:
            account = password_resets.find(session, token)
        return _page("new_password.html", fault=error, status=_status(error), login=account.login)
    flash(_("The new password is set. Sign in with it."), "done")
    return _without_old_cookie(redirect(url_for("signing_in.sign_in"), code=303))


def _with_this_account(token: str) -> Found:
    with parts().database.transaction() as session:
        caller = guard.acting(session)
        found = invitations.find(session, token)
        invitations.accept(session, caller.actor, token)
    return found


def _with_an_account(token: str) -> Response:
    with parts().database.transaction() as session:
        found = invitations.find(session, token)
    done = _signed_in()
    with parts().database.transaction() as session:
        invitations.accept(session, sessions.actor_of(done.account, device=credential().device), token)
    return _gone_on(found, done)


def _with_a_new_account(token: str) -> Response:
    """Makes the account. Sent twice by an impatient finger, the second finds the account that the first made."""
    body = _sign_up(token)
    try:
        password_hash = link_views.password_of_new_account(body)
        with parts().database.transaction() as session:
            found = invitations.find(session, token)
            account, _grant = invitations.sign_up(
                session, token, login=body.login, name=body.name, password_hash=password_hash,
                device=credential().device,
            )  # fmt: skip
            done = sessions.begin(parts(), session, account, device=credential().device, browser=_browser())
    except NotFound as gone:
        with parts().database.transaction() as session:
            taken = invitations.taken(session, token)
        if taken is None:
            raise
        done = _signed_in()
        if done.account.id != taken.row.accepted_by:
            raise gone from None
        found = taken
    return _gone_on(found, done)


def _sign_up(token: str) -> SignUp:
    """What was typed. Raises `Invalid`."""
    try:
        return SignUp(token=token, login=typed("login"), name=typed("name"), password=typed("password"))
    except ValidationError as error:
        said = {"login": _("Login: 2 to 64 letters, digits or . @ + - _"), "name": _("Name: 1 to 100 characters")}
        bad = [str(fault["loc"][0]) for fault in error.errors(include_url=False)]
        faults = [FieldError(f"/{name}", str(said.get(name, passwords_rule()))) for name in bad]
        raise Invalid("invalid-request", faults[0].detail, errors=faults) from error


def _signed_in() -> SignedIn:
    return sessions.sign_in(
        parts(),
        login=typed("login"),
        password=typed("password"),
        address=request.remote_addr or "",
        device=credential().device,
        browser=_browser(),
    )


def _gone_on(found: Found, done: SignedIn | None = None) -> Response:
    """To where the new role is used."""
    role = wording.ROLES[found.row.role.value]
    if found.event is None:
        flash(_("You are now: %(role)s.", role=role), "done")
    else:
        flash(_("You are now %(role)s of %(event)s.", role=role, event=found.event), "done")
    place = (
        url_for("public.events") if found.row.event_id is None else url_for("public.event", event_id=found.row.event_id)
    )
    response = redirect(place, code=303)
    if done is not None:
        sessions.set_cookie(response, done.secret, is_https=parts().is_https)  # type: ignore[arg-type]
    return response


def _page(template: str, *, fault: QisaiError | None = None, status: int = 200, **values: Any) -> Response:
    shown = {"login": request.form.get("login", "")[:200], "name": request.form.get("name", "")[:200], **values}
    body = render_template(template, fault=_in_words(fault), how=request.form.get("how", ""), **shown)
    response = make_response(body, status)
    response.headers["Cache-Control"] = "no-store"
    # Other sites and the files of this page learn the host only. Not `no-referrer`: the form would say `Origin: null`.
    response.headers["Referrer-Policy"] = "strict-origin"
    return _without_old_cookie(response)


def _without_old_cookie(response: Any) -> Response:
    """Lets go of a sign-in that has ended: with its cookie, no form would be taken."""
    if SESSION_COOKIE in request.cookies and not viewer().is_signed_in:
        sessions.drop_cookie(response, is_https=parts().is_https)
    answer: Response = response
    return answer


def _in_words(fault: QisaiError | None) -> str:
    if isinstance(fault, Unauthenticated):
        return str(_("Login or password is wrong."))
    if fault is not None and fault.slug == "login-taken":
        return str(_("This login is taken. If it is yours, sign in with it below; else choose another one."))
    return in_words(fault)


def _status(fault: QisaiError) -> int:
    if isinstance(fault, TooMany):
        return 429
    return 401 if isinstance(fault, Unauthenticated) else 409 if isinstance(fault, Conflict) else 422


def _browser() -> str:
    return sessions.browser_of(request.headers.get("User-Agent", ""))
