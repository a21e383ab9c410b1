"""The desk's page: add, import, approve, check in, seat, draw lots, withdraw."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

from qisai.client import BulkChange, Entrant, ImportReport
from qisai.errors import NotFound, QisaiError, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway.pages import wording
from services.gateway.pages.site import client, for_those_who, lines_of, telling, whole_number

pages = Blueprint("desk", __name__)

_DESK = "/events/<int:event_id>/desk"
MOST_TEXT = 4 << 20
"""Longest pasted roster, in characters."""


@pages.get(_DESK)
@requires(Right.PUBLIC)
def desk(event_id: int) -> str:
    """All entrants with what can be done next."""
    return _page(event_id)


@pages.post(f"{_DESK}/add")
@requires(Right.PUBLIC)
def add(event_id: int) -> str | Response | tuple[str, int]:
    """Registers one entrant; what was typed stays in the form where it is refused."""
    form = request.form
    given: dict[str, Any] = {"name": form.get("name", "").strip()}
    if form.get("club", "").strip():
        given["club"] = form["club"].strip()
    if form.get("seed", "").strip():
        given["seed"] = whole_number(form["seed"])
    members = [line.strip() for line in form.get("members", "").splitlines() if line.strip()]
    if members:
        given["members"] = members
    try:
        added: Entrant = client().entrants.add(event_id, key=form.get("key") or None, **given)
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _page(event_id, typed=dict(form), faults=lines_of(error)), 422
    flash(_("%(name)s is registered.", name=added.name), "done")
    return _back(event_id)


@pages.post(f"{_DESK}/import")
@requires(Right.PUBLIC)
def import_roster(event_id: int) -> str | Response | tuple[str, int]:
    """A spreadsheet or pasted text: first the report, then, with the same content, the import."""
    content = _content()
    dry_run = "apply" not in request.form
    report: ImportReport | None = None
    faults: list[str] = []
    try:
        report = client().entrants.import_roster(
            event_id, content, dry_run=dry_run, plan=request.form.get("plan") or None if not dry_run else None
        )
    except Unauthenticated:
        raise
    except QisaiError as error:
        faults = list(lines_of(error))
    if report is not None and report.applied:
        flash(_("The roster is imported."), "done")
        return _back(event_id)
    return _page(event_id, report=report, roster=_text(content), faults=faults), 422 if faults else 200


@pages.post(f"{_DESK}/all/<step>")
@requires(Right.PUBLIC)
def all_of_them(event_id: int, step: str) -> Response:
    """One step for everybody it fits: approve, check in, seat."""
    asking = client().entrants
    steps = {
        "approve": lambda: asking.move_all(event_id, "approved", states=["registered"]),
        "check-in": lambda: asking.check_in(event_id),
        "seat": lambda: asking.seat(event_id),
    }
    if step not in steps:
        raise NotFound("not-found", "There is no such step.")
    with telling():
        _tell(steps[step]())
    return _back(event_id)


@pages.post(f"{_DESK}/move")
@requires(Right.PUBLIC)
def move(event_id: int) -> Response:
    """One step of one entrant, with the version that the page showed."""
    form = request.form
    entrant = Entrant(
        id=form.get("entrant", type=int) or 0,
        name="",
        state="",
        version=form.get("version", type=int) or 0,
    )
    with telling():
        moved = client().entrants.move(
            event_id,
            entrant,
            form.get("to", ""),
            reason=form.get("reason") or None,
            from_round=form.get("from_round", type=int),
        )
        flash(_("%(name)s: saved.", name=moved.name), "done")
    return _back(event_id)


@pages.post(f"{_DESK}/lots")
@requires(Right.PUBLIC)
def lots(event_id: int) -> Response:
    """Gives everybody a number."""
    with telling(_("The numbers are drawn.")):
        client().entrants.draw_lots(event_id, mode=request.form.get("mode", "machine"))
    return _back(event_id)


def _page(
    event_id: int,
    *,
    typed: dict[str, str] | None = None,
    report: ImportReport | None = None,
    roster: str = "",
    faults: Any = (),
) -> str:
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.MANAGE_ENTRANTS, event)
    entrants = asking.entrants.list(event_id, q=request.args.get("q") or None, state=request.args.get("state") or None)
    return render_template(
        "desk.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        entrants=entrants,
        lots=asking.entrants.lots(event_id),
        typed=typed or {},
        report=report,
        roster=roster,
        faults=faults,
        steps=_STEPS,
        outcome_words=wording.OUTCOMES,
    )


_STEPS = {
    "waiting": ("registered", "cancelled"),
    "registered": ("approved", "rejected", "cancelled"),
    "approved": ("checked_in", "cancelled"),
    "checked_in": ("seated", "approved", "cancelled"),
    "seated": ("withdrawn", "checked_in"),
    "withdrawn": ("seated",),
    "rejected": ("registered",),
    "cancelled": ("registered",),
}
"""Steps that a row offers; the service knows which of them are allowed now."""


def _content() -> bytes:
    """The roster as bytes: the file as it came, so that its encoding can be told, or the text that was pasted."""
    file = request.files.get("file")
    if file is not None and file.filename:
        content: bytes = file.read()
        return content
    return request.form.get("text", "")[:MOST_TEXT].encode()


def _text(content: bytes) -> str:
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return ""


def _tell(change: BulkChange) -> None:
    count = len(change.changed)
    flash(ngettext("%(num)d entrant changed.", "%(num)d entrants changed.", count), "done")
    for refused in change.refused[:20]:
        flash(f"{refused.get('name') or refused.get('id')}: {refused.get('reason')}", "error")


def _back(event_id: int) -> Response:
    return redirect(url_for("desk.desk", event_id=event_id), code=303)
