"""Importing a roster: the report of a dry run first, then, with the same content and plan, the import; and the export.

Without scripts the file comes back inside the report's form, since a browser chooses no file by itself.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, Response, render_template, request
from flask_babel import gettext as _

from qisai.client import Client, Event, ImportReport
from qisai.errors import Conflict, Invalid, NotFound, QisaiError, Unauthenticated
from qisai.web.rights import Right, requires
from services.gateway.pages import wording
from services.gateway.pages.desk import DESK
from services.gateway.pages.entrant_values import is_team
from services.gateway.pages.fault_words import field_name, lines_of
from services.gateway.pages.language import language
from services.gateway.pages.site import client, for_those_who

pages = Blueprint("import_pages", __name__)

_IMPORT: Final = f"{DESK}/import"
MOST_TEXT: Final = 4 << 20
"""Longest pasted roster, in characters."""
MOST_KEPT: Final = 3 << 20
"""Largest file, packed, that comes back in the page; a larger one is chosen once more."""
MOST_UNPACKED: Final = 6 << 20
MOST_ROWS: Final = 500
"""Rows of a report that a page shows: those to look at in front."""
_ORDER: Final = {"refused": 0, "changed": 1, "new": 2, "same": 3}
KINDS: Final = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Files that the list can be taken away as."""
_CODE: Final = 5
"""Characters by which a page remembers what a row would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    """A row of the report. `more`: club and rating as they were read; `before`: what it would have done at the last
    look, where that was something else."""

    row: int
    name: str
    more: str
    outcome: str
    changes: Sequence[str]
    reasons: Sequence[str]
    before: str | None


@pages.get(_IMPORT)
@requires(Right.PUBLIC)
def show(event_id: int) -> str:
    """The form, and the way back out: the same list as a file."""
    asking = client()
    return _page(asking, _event(asking, event_id))


@pages.post(_IMPORT)
@requires(Right.PUBLIC)
def send(event_id: int) -> str | tuple[str, int]:
    """Checks a roster, or carries out what was looked at; what changed meanwhile is shown and asked again."""
    asking = client()
    event = _event(asking, event_id)
    plan = request.form.get("plan") or None
    try:
        content = _content()
        if plan is not None and "apply" in request.form:
            done = asking.entrants.import_roster(
                event_id, content, dry_run=False, plan=plan, key=request.form.get("key") or None
            )
            return _page(asking, _event(asking, event_id), report=done)
        return _page(
            asking, event, report=asking.entrants.import_roster(event_id, content, dry_run=True), content=content
        )
    except Unauthenticated:
        raise
    except Conflict as error:
        if error.slug != "import-changed":
            return _page(asking, event, faults=lines_of(error)), 409
        again = asking.entrants.import_roster(event_id, content, dry_run=True)
        return _page(asking, event, report=again, content=content, seen=request.form.get("seen", "")), 409
    except QisaiError as error:
        return _page(asking, event, faults=_lines(error)), 422


@pages.get(f"{DESK}/entrants.<form>")
@requires(Right.PUBLIC)
def export(event_id: int, form: str) -> Response:
    """The list as a file that can be imported again, headed in the page's language."""
    if form not in KINDS:
        raise NotFound("not-found", "There is no such file.")
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.READ_STAFF, event)
    name = f'attachment; filename="entrants-{event_id}.{form}"'
    content = asking.entrants.export(event_id, form=form, language=language())
    return Response(content, content_type=KINDS[form], headers={"Content-Disposition": name})


def _page(
    asking: Client,
    event: Event,
    *,
    report: ImportReport | None = None,
    content: bytes = b"",
    seen: str | None = None,
    faults: Sequence[str] = (),
) -> str:
    """`seen`: what the rows would have done at the last look, where somebody changed the field since."""
    is_file = "file" in request.files or "kept" in request.form
    rows = [] if report is None else _rows(report, seen)
    return render_template(
        "import.html",
        event=event,
        rounds=asking.rounds.list(event.id),
        report=report,
        rows=rows[:MOST_ROWS],
        left=max(0, len(rows) - MOST_ROWS),
        differ=sum(row.before is not None for row in rows),
        is_again=seen is not None,
        seen="" if report is None else "".join(_code(row) for row in report.rows),
        text=request.form.get("text", ""),
        kept=_packed(content) if is_file and "nokeep" not in request.form else "",
        outcome_words=wording.OUTCOMES,
        taken=[] if report is None else _columns(report, "team" if is_team(event) else ""),
        waiting=0 if report is None else _waiting(event, report),
        faults=faults,
    )


def _columns(report: ImportReport, form: str) -> list[tuple[str, str]]:
    """Columns that are taken: as the sheet heads them, as pages call them."""
    return [(heading, field_name(column, form)) for column, heading in report.columns.items()]


def _waiting(event: Event, report: ImportReport) -> int:
    """How many of the new ones will find no place."""
    free = event.registration.get("free")
    return 0 if free is None or report.applied else max(0, report.counts.get("new", 0) - max(0, int(free)))


def _rows(report: ImportReport, seen: str | None) -> list[ShownRow]:
    """The report's rows, those to look at in front."""
    shown = []
    for place, row in enumerate(report.rows):
        before = None if seen is None else seen[place * _CODE : (place + 1) * _CODE]
        shown.append(
            ShownRow(
                row=row["row"],
                name=str(row.get("name") or ""),
                more=" · ".join(str(row[key]) for key in ("club", "seed") if row.get(key) not in (None, "")),
                outcome=row["outcome"],
                changes=[field_name(f"/{name}") or str(name) for name in row.get("changes") or ()],
                reasons=[_reason(reason) for reason in row.get("reasons") or ()],
                before=_outcome(before) if before and before != _code(row) else None,
            )
        )
    return sorted(shown, key=lambda row: (row.before is None, _ORDER.get(row.outcome, 9), not row.reasons, row.row))


def _reason(reason: Any) -> str:
    column = f"{reason['column']}: " if reason.get("column") else ""
    return column + str(reason["detail"])


def _code(row: Any) -> str:
    """What a row would do, in few characters: the outcome's first, and a sum over the rest."""
    rest = repr((row.get("entrant"), row.get("changes"), row.get("reasons"))).encode()
    return f"{row['outcome'][0]}{zlib.crc32(rest) & 0xFFFF:04x}"


def _outcome(code: str) -> str:
    return next((str(word) for outcome, word in wording.OUTCOMES.items() if outcome[0] == code[0]), "")


def _lines(error: QisaiError) -> Sequence[str]:
    """A refusal by rows and columns."""
    if isinstance(error, Invalid) and error.errors:
        return [error.detail, *(f"{_place(fault.pointer)}: {fault.detail}" for fault in error.errors[:20])]
    return lines_of(error)


def _place(pointer: str) -> str:
    """`/rows/3/姓名` in words."""
    _root, kind, row, *column = [*pointer.split("/", 3), "", ""][:4]
    if kind != "rows":
        return field_name(pointer) or pointer
    if not column[0]:
        return str(_("row %(row)s", row=row))
    return str(_("row %(row)s, %(column)s", row=row, column=column[0]))


def _content() -> bytes:
    """The roster as bytes: the file as it came, so that its encoding can be told, else what was pasted, else the file
    of the last look. Raises `Invalid`."""
    file = request.files.get("file")
    if file is not None and file.filename:
        content: bytes = file.read()
        return content
    pasted = request.form.get("text", "")[:MOST_TEXT].encode()
    if pasted.strip():
        return pasted
    if request.form.get("kept"):
        return _unpacked(request.form["kept"])
    raise Invalid("no-roster", _("Choose a file, or paste the roster."))


def _packed(content: bytes) -> str:
    packed = base64.b64encode(zlib.compress(content, 6)).decode()
    return packed if len(packed) <= MOST_KEPT else ""


def _unpacked(text: str) -> bytes:
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(base64.b64decode(text, validate=True), MOST_UNPACKED)
    except (binascii.Error, ValueError, zlib.error):
        raise Invalid("no-roster", _("Choose the file once more.")) from None
    if unpacking.unconsumed_tail or not unpacking.eof:
        raise Invalid("no-roster", _("Choose the file once more."))
    return content


def _event(asking: Client, event_id: int) -> Event:
    event = asking.events.get(event_id)
    for_those_who(Right.MANAGE_ENTRANTS, event)
    return event
