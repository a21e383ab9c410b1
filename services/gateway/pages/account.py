"""One's own account: password, browsers that are signed in, API tokens."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, flash, redirect, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.errors import Forbidden, Invalid, QisaiError, TooMany, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway import account_queries as queries
from services.gateway import account_views, accounts, guard, passwords, sessions
from services.gateway.pages import inviting
from services.gateway.pages.fault_words import lines_of
from services.gateway.pages.site import telling, typed
from services.gateway.parts import credential, parts

pages = Blueprint("account", __name__)

_MOST_DAYS = 3660


@pages.get("/account")
@requires(Right.PUBLIC)
def account() -> Response:
    """What one's account is, and where it is used."""
    return _page()


@pages.post("/account/password")
@requires(Right.PUBLIC)
def change_password() -> Response:
    """Changes it, and signs this browser in anew; all others are signed out."""
    with parts().database.transaction() as session:
        caller = guard.acting(session)
    try:
        row = account_views.set_own_password(caller, old=typed("old"), new=typed("new"))
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(about="password", fault=error)
    browser = sessions.browser_of(request.headers.get("User-Agent", ""))
    with parts().database.transaction() as session:
        done = sessions.begin(parts(), session, row, device=credential().device, browser=browser)
    flash(_("The password is changed."), "done")
    response = _back()
    sessions.set_cookie(response, done.secret, is_https=parts().is_https)  # type: ignore[arg-type]
    return response


@pages.post("/account/sessions/end")
@requires(Right.PUBLIC)
def end_session() -> Response:
    """Signs one other browser out, or all others."""
    with telling(_("Signed out there.")), parts().database.transaction() as session:
        actor = guard.acting(session).actor
        if request.form.get("session") == "others":
            sessions.end_others(session, actor, but=credential().session_id)
        else:
            sessions.end_own(session, actor, session_id=request.form.get("session", type=int) or 0)
    return _back()


@pages.post("/account/tokens")
@requires(Right.PUBLIC)
def make_token() -> Response:
    """Makes a token, which this answer alone shows."""
    try:
        with parts().database.transaction() as session:
            caller = guard.acting(session)
            name, days = _token_name(), _token_days()
            scopes = ["read", "write"] if request.form.get("scope") == "write" else ["read"]
            own = caller.actor.account_id or 0
            _row, secret = accounts.create_token(session, caller, account_id=own, name=name, scopes=scopes, days=days)
    except Invalid as error:
        return _page(about="token", fault=error)
    return _page(token=secret)


@pages.post("/account/tokens/revoke")
@requires(Right.PUBLIC)
def revoke_token() -> Response:
    """Ends a token at once."""
    with telling(_("The token is revoked.")), parts().database.transaction() as session:
        accounts.revoke_token(session, guard.acting(session), token_id=request.form.get("token", type=int) or 0)
    return _back()


def _page(*, about: str = "", fault: QisaiError | None = None, token: str | None = None) -> Response:
    with parts().database.transaction() as session:
        caller = guard.load_caller(session, credential())
        if caller.actor.account_id is None:
            raise Unauthenticated("sign-in-needed", "Sign in to see this page.")
        own = caller.actor.account_id
        shown: dict[str, Any] = {
            "account": accounts.account(session, own),
            "sessions": queries.open_sessions(session, account_id=own),
            "tokens": queries.open_tokens(session, account_id=own),
        }
    return inviting.shown_once(
        "account.html",
        status=200 if fault is None else 429 if isinstance(fault, TooMany) else 422,
        here=credential().session_id,
        about=about,
        fault=in_words(fault),
        token=token,
        typed={name: request.form.get(name, "")[:200] for name in ("name", "scope", "days")} if fault else {},
        **shown,
    )


def in_words(fault: QisaiError | None) -> str:
    """What was wrong with a password or a form about an account; nothing where nothing was."""
    if fault is None:
        return ""
    if isinstance(fault, TooMany):
        return str(_("Too many attempts; try again in %(count)s seconds.", count=fault.retry_after))
    if isinstance(fault, Forbidden) and fault.slug == "wrong-password":
        return str(_("The old password is wrong."))
    if fault.slug == "weak-password" and fault.context.get("variant") == "easy":
        return str(_("Password: this one is among the first that somebody would try; take no row of keys or digits."))
    if fault.slug == "weak-password":
        return passwords_rule()
    return " ".join(lines_of(fault))


def passwords_rule() -> str:
    """What a password must be, in the page's language."""
    shortest, longest = passwords.SHORTEST, passwords.LONGEST
    return str(_("Password: %(shortest)s to %(longest)s characters", shortest=shortest, longest=longest))


def _token_name() -> str:
    name = request.form.get("name", "").strip()
    if not 1 <= len(name) <= 100 or not name.isprintable():
        raise Invalid("invalid-request", _("Name: 1 to 100 characters"))
    return name


def _token_days() -> int:
    days = request.form.get("days", "").strip()
    if not (days.isdecimal() and len(days) < 5 and 1 <= int(days) <= _MOST_DAYS):
        raise Invalid("invalid-request", _("Days: a number from 1 to %(most)s", most=_MOST_DAYS))
    return int(days)


def _back() -> Response:
    return redirect(url_for("account.account"), code=303)
