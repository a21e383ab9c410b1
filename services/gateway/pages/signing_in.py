"""Signing in and out on a page."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Blueprint, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.errors import TooMany, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway import guard, sessions
from services.gateway.account_views import end_session
from services.gateway.pages.site import typed, viewer
from services.gateway.parts import credential, parts

pages = Blueprint("signing_in", __name__)


@pages.get("/sign-in")
@requires(Right.PUBLIC)
def sign_in() -> str | Response:
    """The form."""
    if viewer().is_signed_in:
        return redirect(_next())
    return _form()


@pages.post("/sign-in")
@requires(Right.PUBLIC)
def send() -> str | Response | tuple[str, int]:
    """Signs in and goes on to where the person wanted to go."""
    login = request.form.get("login", "")[:200]
    try:
        done = sessions.sign_in(
            parts(),
            login=login,
            password=typed("password"),
            address=request.remote_addr or "",
            device=credential().device,
            browser=sessions.browser_of(request.headers.get("User-Agent", "")),
        )
    except TooMany as error:
        wait = error.retry_after
        return _form(login=login, fault=_("Too many attempts; try again in %(count)s seconds.", count=wait)), 429
    except Unauthenticated:
        return _form(login=login, fault=_("Login or password is wrong.")), 401
    response = redirect(_next(), code=303)
    sessions.set_cookie(response, done.secret, is_https=parts().is_https)  # type: ignore[arg-type]
    return response


@pages.post("/sign-out")
@requires(Right.PUBLIC)
def sign_out() -> Response:
    """Ends the session at once."""
    who = credential()
    if who.session_id is not None:
        with parts().database.transaction() as session:
            caller = guard.load_caller(session, who)
        end_session(who, caller)
    response = redirect(url_for("public.events"), code=303)
    sessions.drop_cookie(response, is_https=parts().is_https)  # type: ignore[arg-type]
    return response


def _form(*, login: str = "", fault: str = "") -> str:
    return render_template("sign_in.html", login=login, fault=fault, next=_next())


def _next() -> str:
    """Where to go on: a path of ours, never another site's."""
    wanted = request.values.get("next", "")
    try:
        parsed = urlsplit(wanted)
    except ValueError:  # half of an address of the sixth version, such as //[
        return url_for("public.events")
    is_ours = (
        not parsed.scheme and not parsed.netloc and wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    )
    return wanted if is_ours and "\\" not in wanted and wanted.isprintable() else url_for("public.events")
