"""The log of an event: everything that was done, by whom, narrowed down, page by page, and as a sheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import Blueprint, Response, render_template, request, stream_with_context
from flask_babel import gettext as _
from flask_babel import lazy_gettext as __

from qisai.client import Client, Event
from qisai.client.reading import Json
from qisai.errors import QisaiError, Unauthenticated
from qisai.formats.sheet_csv import BOM, Cell, csv_lines
from qisai.web.rights import Right, requires
from services.gateway.pages import log_words
from services.gateway.pages.site import client, clock, for_those_who, lines_of, status_of

pages = Blueprint("event_log", __name__)

_A_PART: Final = 1000
"""Lines of a sheet that are asked for and sent at once."""
_HEAD: Final = (
    __("Time"), __("Kind"), __("Who"), __("Device"), __("Round"), __("Board"), __("Entrant"), __("What"),
    __("Before"), __("After"), __("Reason"),
)  # fmt: skip
_FIELDS: Final = ("kind", "actor", "round", "entrant", "since", "until")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The event, what was typed to narrow its log down, entrants by id, what the API is asked for, and what of the form
    cannot be read."""

    event: Event
    typed: Mapping[str, str]
    names: Mapping[int, tuple[int | None, str]]
    narrowed: Mapping[str, Any]
    faults: Sequence[str]


@pages.get("/events/<int:event_id>/log")
@requires(Right.PUBLIC)
def log(event_id: int) -> tuple[str, int]:
    """A page of the log, latest first."""
    asking = client()
    return _page(asking, _asked(asking, event_id))


def _page(asking: Client, asked: _Asked) -> tuple[str, int]:
    event = asked.event
    by_number, people = _names(asked.names)
    lines: tuple[Any, ...] = ()
    faults, following, status = asked.faults, None, 422 if asked.faults else 200
    if not faults:
        cursor = request.args.get("cursor")
        try:
            lines, following = asking.rounds.event_log_page(event.id, cursor=cursor, **asked.narrowed)
        except Unauthenticated:
            raise
        except QisaiError as error:
            faults, status = lines_of(error), status_of(error)
    page = render_template(
        "log.html",
        event=event,
        rounds=asking.rounds.list(event.id),
        lines=[log_words.line(one, event, by_number, people=people) for one in lines],
        names=asked.names,
        kinds=log_words.KINDS,
        typed=asked.typed,
        given={name: value for name, value in asked.typed.items() if value},
        following=following,
        faults=faults,
    )
    return page, status


@pages.get("/events/<int:event_id>/log.csv")
@requires(Right.PUBLIC)
def sheet(event_id: int) -> Response | tuple[str, int]:
    """The same as a sheet, whole, in the page's language and words; made and sent page by page."""
    asking = client()
    asked = _asked(asking, event_id)
    if asked.faults:
        return _page(asking, asked)
    event = asked.event
    by_number, people = _names(asked.names)

    def page(cursor: str | None) -> tuple[bytes, str | None]:
        entries, following = asking.rounds.event_log_page(event_id, cursor=cursor, limit=_A_PART, **asked.narrowed)
        lines = [(one, log_words.line(one, event, by_number, people=people, whole=True)) for one in entries]
        return csv_lines(_cells(one, line, event, people) for one, line in lines), following

    first, following = page(None)  # before the answer begins, so that a refusal is one

    def content() -> Iterator[bytes]:
        yield BOM + csv_lines([[str(word) for word in _HEAD]]) + first
        cursor = following
        while cursor is not None:
            lines, cursor = page(cursor)
            yield lines

    headers = {"Content-Disposition": f'attachment; filename="event-{event_id}-log.csv"', "Cache-Control": "no-store"}
    return Response(stream_with_context(content()), content_type="text/csv; charset=utf-8", headers=headers)


def _cells(entry: Json, line: log_words.Line, event: Event, people: Mapping[int, str]) -> list[Cell]:
    """One line of the sheet, as `_HEAD`."""
    return [
        clock(line.at, event, form="yyyy-MM-dd HH:mm:ss"), str(log_words.KINDS.get(entry["kind"], entry["kind"])),
        line.who, line.device, line.round, line.board,
        "" if line.entrant_id is None else people.get(line.entrant_id, f"#{line.entrant_id}"),
        line.what, line.before, line.after, line.reason,
    ]  # fmt: skip


def _names(entrants: Mapping[int, tuple[int | None, str]]) -> tuple[dict[int, str], dict[int, str]]:
    """Names by number and by id."""
    by_number = {number: name for number, name in entrants.values() if number is not None}
    return by_number, {one: name for one, (_number, name) in entrants.items()}


def _asked(asking: Client, event_id: int) -> _Asked:
    event = asking.events.get(event_id)
    for_those_who(Right.READ_STAFF, event)
    typed = {name: request.args.get(name, "").strip() for name in _FIELDS}
    names = {one.id: (one.number, one.name) for one in asking.entrants.list(event_id)}
    narrowed, faults = _narrowed(typed, event, names)
    return _Asked(event=event, typed=typed, names=names, narrowed=narrowed, faults=faults)


def _narrowed(
    typed: Mapping[str, str], event: Event, names: Mapping[int, tuple[int | None, str]]
) -> tuple[dict[str, Any], list[str]]:
    """What the API is asked for, and what of the form cannot be read. An entrant is a number, or part of a name."""
    faults: list[str] = []
    narrowed: dict[str, Any] = {"actor": typed["actor"] or None}
    if typed["kind"] in log_words.KINDS:
        narrowed["kind"] = typed["kind"]
    if typed["round"]:
        if typed["round"].isdecimal() and 1 <= int(typed["round"][:4]) <= 100:
            narrowed["round"] = int(typed["round"])
        else:
            faults.append(_("“%(text)s” is no round.", text=typed["round"]))
    if typed["entrant"]:
        found = [key for key, one in names.items() if typed["entrant"] in (str(one[0]), one[1])]
        found = found or [key for key, one in names.items() if typed["entrant"] in one[1]]
        if len(found) == 1:
            narrowed["entrant_id"] = found[0]
        else:
            words = (
                _("Nobody is called “%(text)s”.") if not found else _("Several are called “%(text)s”: type a number.")
            )
            faults.append(words % {"text": typed["entrant"]})
    for name in ("since", "until"):
        if typed[name]:
            try:
                at = datetime.fromisoformat(typed[name])
            except ValueError:
                faults.append(_("“%(text)s” is no time.", text=typed[name]))
                continue
            narrowed[name] = (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(event.time_zone))).isoformat()
    return narrowed, faults
