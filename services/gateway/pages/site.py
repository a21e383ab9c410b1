"""What every page has: the one who looks, the client that asks for them, style sheets and scripts."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel.dates import format_datetime
from flask import Flask, Response, flash, g, request, send_from_directory, url_for
from flask_babel import get_locale, ngettext
from flask_babel import gettext as _
from jinja2 import FileSystemLoader
from markupsafe import Markup
from werkzeug.exceptions import NotFound as PageNotFound

from qisai.client import Client, Event
from qisai.client.reading import moment
from qisai.db.accounts import Role
from qisai.errors import Forbidden, QisaiError, Stale, Unauthenticated
from qisai.web.identity import Grant
from qisai.web.problems import STATUS
from qisai.web.rights import ROLES, Right, requires
from services.gateway import guard
from services.gateway.credentials import CSRF_FIELD, DEVICE_COOKIE, PUBLIC
from services.gateway.inner import client_of
from services.gateway.pages import fault_words, wording
from services.gateway.pages.language import NAMES, language
from services.gateway.parts import credential, parts

STATIC: Final = Path(__file__).parent / "static"
TEMPLATES: Final = Path(__file__).parent / "templates"
_YEAR: Final = 365 * 24 * 3600
_MOST_DIGITS: Final = 18
"""A number with more fits no field, and Python reads none with thousands of digits."""
_MOST_TYPED: Final = 1000
MOST_LINES: Final = 13
"""Lines of one fault that are said on the next page: they travel in a cookie, and browsers drop those above 4 kB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Who looks at the page. `name` None: the public."""

    name: str | None = None
    roles: frozenset[Role] = frozenset()
    grants: tuple[Grant, ...] = ()
    csrf_token: str = ""

    @property
    def is_signed_in(self) -> bool:
        """Whether this is an account."""
        return self.name is not None

    def may(self, right: Right, event: Event | None = None) -> bool:
        """Whether to offer this on a page; the service decides whether it is done."""
        held = self.roles if event is None else {Role(role) for role in event.your_roles}
        return bool(held & ROLES[right])


def viewer() -> Viewer:
    """Who looks at the page under way; a sign-in that has ended is the public."""
    if "viewer" not in g:
        g.viewer = _viewer()
    found: Viewer = g.viewer
    return found


def for_those_who(right: Right, event: Event | None = None) -> None:
    """Keeps a page from being shown to those it is of no use to. Raises `Unauthenticated`, `Forbidden`.

    What may be read and done is decided by the services in any case.
    """
    if viewer().may(right, event):
        g.staff_event = event or staff_event()
        return
    if not viewer().is_signed_in:
        raise Unauthenticated("sign-in-needed", "Sign in to see this page.")
    roles = (", " if language() == "en" else "、").join(
        str(word) for role, word in wording.ROLES.items() if Role(role) in ROLES[right]
    )
    raise Forbidden("page-of-others", f"This page is for: {roles}.", roles=roles, right=right.value)


def staff_event() -> Event | None:
    """The event whose workers the page under way is for; None on pages for others."""
    found: Event | None = g.get("staff_event")
    return found


def client() -> Client:
    """A client that speaks for the viewer, in the page's language."""
    viewer()  # lets go of a sign-in that has ended
    return client_of(parts(), credential(), language=language())


def _viewer() -> Viewer:
    if "credential" not in g:  # no route was found, so nobody asked yet
        try:
            g.credential = parts().credentials.of(request)
        except QisaiError:
            g.credential = PUBLIC
    who = credential()
    if who.account_id is None:
        return Viewer()
    try:
        with parts().database.transaction() as session:
            caller = guard.load_caller(session, who)
    except Unauthenticated:
        g.credential = replace(PUBLIC, is_dead=True)
        return Viewer()
    return Viewer(
        name=caller.actor.name,
        roles=frozenset(grant.role for grant in caller.grants),
        grants=caller.grants,
        csrf_token=parts().credentials.csrf_token(who.secret_hash) if who.by_cookie else "",
    )


@contextmanager
def telling(done: str = "") -> Iterator[None]:
    """Says `done` when all went well, else what went wrong, on the page that is shown next. Typed input is not at
    stake here: forms that hold some are shown again as they were sent."""
    try:
        yield
    except Unauthenticated:
        raise
    except QisaiError as error:
        for line in in_short(lines_of(error)):
            flash(line, "error")
    else:
        if done:
            flash(done, "done")


def lines_of(error: QisaiError, event: Event | None = None) -> Sequence[str]:
    """What went wrong, one line for each thing to do; times in the event's zone."""
    lines = fault_words.lines_of(error)
    if isinstance(error, Stale) and error.current.get("updated_by"):
        form = "MM-dd HH:mm 'UTC'" if event is None else ""
        at = clock(moment(error.current.get("updated_at")), event, form=form)
        return [*lines, _("Last changed by %(who)s, %(time)s.", who=error.current["updated_by"], time=at)]
    done_at = error.context.get("published_at") or error.context.get("closed_at")
    if done_at:
        form = "MM-dd HH:mm 'UTC'" if event is None else "MM-dd HH:mm"
        lines = [_with_time(lines[0], clock(moment(str(done_at)), event, form=form)), *lines[1:]]
    return lines


def _with_time(sentence: str, time: str) -> str:
    """A sentence about what somebody did, with the time before its full stop."""
    return str(_("%(said)s (%(time)s).", said=sentence.rstrip(".。"), time=time))


def in_short(lines: Sequence[str]) -> list[str]:
    """The first of many lines, and how many there are more."""
    left = len(lines) - MOST_LINES
    if left <= 0:
        return list(lines)
    more = ngettext("… and %(num)d more like these", "… and %(num)d more like these", left)
    return [*lines[:MOST_LINES], more]


def status_of(error: QisaiError) -> int:
    """The HTTP status of a page that says what went wrong, as the API's."""
    return next((int(status) for kind, status in STATUS.items() if isinstance(error, kind)), 400)


def whole_number(text: str) -> int | str:
    """A whole number, or the text as typed, so that the service's answer names what is wrong with it."""
    text = text.strip()
    return int(text) if text.removeprefix("-").isdecimal() and len(text) <= _MOST_DIGITS else text


def typed(name: str) -> str:
    """A login, a name or a password of the form that was sent: no longer than any may be, and text that can be kept."""
    return request.form.get(name, "")[:_MOST_TYPED].encode(errors="replace").decode()


def csrf_field() -> Markup:
    """The hidden field that each form needs."""
    return Markup('<input type="hidden" name="{}" value="{}">').format(CSRF_FIELD, viewer().csrf_token)


def clock(moment: datetime | None, event: Event | None = None, *, form: str = "") -> str:
    """A time in the event's zone; without a form of its own day and time, and the year where it is another one."""
    if moment is None:
        return ""
    try:
        zone = ZoneInfo(event.time_zone) if event is not None else ZoneInfo("UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    try:
        there = moment.astimezone(zone)
    except OverflowError:  # the first or last hours of all years: in the zone they lie beyond them
        there = moment
    if not form:
        form = "MM-dd HH:mm" if there.year == datetime.now(there.tzinfo).year else "yyyy-MM-dd HH:mm"
    return format_datetime(there, form, locale=get_locale())


@cache
def _fingerprint(name: str) -> str:
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:10]


def asset(name: str) -> str:
    """Address of a style sheet or script; it changes with the file, so browsers may keep it."""
    return f"{url_for('asset_file', name=name)}?v={_fingerprint(name)}"


@requires(Right.PUBLIC)
def asset_file(name: str) -> Response:
    """A style sheet or script; browsers keep it for a year where its address holds its print."""
    if name not in _asset_names():
        raise PageNotFound
    return send_from_directory(STATIC, name, max_age=_YEAR if "v" in request.args else 0)


def languages() -> list[tuple[str, str, str]]:
    """Tag, own name and address of this page in each language."""
    here = {name: value for name, value in request.args.items() if name != "lang"}
    return [(tag, name, _with_query({**here, "lang": tag})) for tag, name in NAMES.items()]


def _with_query(query: dict[str, str]) -> str:
    return f"{request.path}?{urlencode(query)}"


def install(app: Flask) -> None:
    """Adds the files and what templates call."""
    app.jinja_loader = _loader()
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True

    app.add_url_rule("/assets/<name>", view_func=asset_file)

    @app.context_processor
    def known_to_templates() -> dict[str, Any]:
        return {
            "asset": asset,
            "csrf": csrf_field,
            "new_key": lambda: secrets.token_hex(16),
            "clock": clock,
            "language": language(),
            "languages": languages,
            "Right": Right,
            "viewer": viewer(),
            "words": wording,
        }

    @app.after_request
    def name_device(response: Response) -> Response:
        """A browser gets a name, so that an answer that was lost can be told from somebody else's change."""
        if response.mimetype == "text/html" and DEVICE_COOKIE not in request.cookies and viewer().is_signed_in:
            response.set_cookie(
                DEVICE_COOKIE,
                secrets.token_hex(8),
                max_age=_YEAR,
                httponly=True,
                samesite="Lax",
                secure=parts().is_https,
                path="/",
            )
        return response


def _loader() -> Any:
    return FileSystemLoader(TEMPLATES)


@cache
def _asset_names() -> frozenset[str]:
    return frozenset(path.name for path in STATIC.iterdir())
