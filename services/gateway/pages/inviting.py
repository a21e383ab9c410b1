"""Invitations on a page: those still open, and what the form for a new one says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from flask import make_response, render_template, request
from flask_babel import gettext as _
from markupsafe import Markup
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from qisai.client import Event
from qisai.db.accounts import AccountRow, InvitationRow, Role
from qisai.errors import FieldError, Forbidden, Invalid
from qisai.web.identity import Caller
from qisai.web.rights import Right
from services.gateway import invitations, link_views
from services.gateway.pages import wording
from services.gateway.pages.site import clock
from services.gateway.schemas import LAST_BOARD

TYPED: Final = ("name", "login", "role", "boards", "days")
"""Fields of the forms about people, which are shown again as they were sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenInvitation:
    """An invitation that nobody took yet. `until` as the page shows it."""

    id: int
    name: str
    role: str
    boards: tuple[int, int] | None
    invited_by: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLink:
    """A link that was just made, for whom, and until when it counts, as the page shows it."""

    link: str
    whom: str
    until: str


def open_invitations(session: Session, event: Event | None) -> list[OpenInvitation]:
    """Those into this event, or (None) those to roles in all events, the latest first."""
    row = InvitationRow
    counts = (row.revoked_at.is_(None), row.accepted_at.is_(None), row.expires_at > sa.func.now())
    here = row.event_id.is_(None) if event is None else row.event_id == event.id
    query = sa.select(row, AccountRow.name).join(AccountRow, AccountRow.id == row.invited_by).where(here, *counts)
    return [
        OpenInvitation(
            id=found.id,
            name=found.name,
            role=found.role.value,
            boards=boards_of(found.board_from, found.board_to),
            invited_by=inviter,
            until=until(found.expires_at, event),
        )
        for found, inviter in session.execute(query.order_by(row.id.desc()).limit(200))
    ]


def make_link(session: Session, caller: Caller, event: Event | None) -> NewLink:
    """A new invitation from the form that was sent. Raises `Forbidden`, `Invalid`."""
    form = request.form
    days = form.get("days", "").strip()
    if not (days.isdecimal() and len(days) < 4 and 1 <= int(days) <= invitations.MOST_DAYS):
        detail = _("Days: a number from 1 to %(most)s", most=invitations.MOST_DAYS)
        raise Invalid("invalid-request", detail, errors=[FieldError("/days", detail)])
    name = form.get("name", "").strip()
    if len(name) > 100 or not name.isprintable():
        detail = _("Name: 1 to 100 characters")
        raise Invalid("invalid-request", detail, errors=[FieldError("/name", detail)])
    offer = invitations.Offer(
        role=role_typed(),
        event_id=None if event is None else event.id,
        boards=boards_typed(form.get("boards", "")),
        name=name,
        days=int(days),
    )
    row, secret = invitations.invite(session, caller, offer)
    whom = " · ".join(filter(None, (name, str(wording.ROLES[offer.role.value]))))
    return NewLink(link=link_views.invitation_link(secret), whom=whom, until=until(row.expires_at, event))


def role_typed() -> Role:
    """The role that the form names. Raises `Forbidden` for none of ours."""
    text = request.form.get("role", "")
    if text not in set(Role):
        raise Forbidden("no-right", "You may not give or take this role.", right=Right.MANAGE_GRANTS.value)
    return Role(text)


def boards_typed(text: str) -> tuple[int, int] | None:
    """A range such as `1-20`, of the form that was sent. Raises `Invalid`."""
    if not text.strip():
        return None
    low, _dash, high = text.replace("–", "-").replace("—", "-").partition("-")
    if not (low.strip().isdecimal() and high.strip().isdecimal() and len(text) < 14):
        raise Invalid("bad-boards", _("Boards are a range such as 1-20."))
    first, last = int(low), int(high)
    if not 1 <= first <= last <= LAST_BOARD:
        detail = _("Boards: from a number to one that is not lower, between 1 and %(most)s.", most=LAST_BOARD)
        raise Invalid("bad-boards", detail)
    if request.form.get("role") != Role.REFEREE:
        raise Invalid("bad-boards", _("Only a referee has a range of boards: leave it empty for other roles."))
    return first, last


def boards_of(low: int | None, high: int | None) -> tuple[int, int] | None:
    """The range of a row, both ends counted."""
    return None if low is None or high is None else (low, high)


def until(moment: datetime, event: Event | None) -> str:
    """When a link ends, in the event's zone, else in the reader's, or where no script runs in UTC by name."""
    shown = clock(moment, event, form="yyyy-MM-dd HH:mm")
    if event is not None:
        return shown
    return Markup('<time datetime="{}" data-local="minute">{} UTC</time>').format(moment.isoformat(), shown)


def typed() -> dict[str, str]:
    """What was typed into the form that was sent."""
    return {name: request.form.get(name, "")[:200] for name in TYPED}


def shown_once(template: str, *, status: int = 200, **values: Any) -> Response:
    """A page that no cache keeps: it may show a secret."""
    response = make_response(render_template(template, **values), status)
    response.headers["Cache-Control"] = "no-store"
    return response
