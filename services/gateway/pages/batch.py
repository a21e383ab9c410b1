"""Many results of a round at once, as slips are typed from a pile: each board stands or falls alone and says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import ngettext
from werkzeug.wrappers import Response

from qisai.client import BoardView, Event
from qisai.errors import QisaiError, Stale
from qisai.kernel.model import Result
from qisai.web.rights import Right, requires
from services.gateway.pages import wording
from services.gateway.pages.board_ranges import own_boards
from services.gateway.pages.site import client, for_those_who, lines_of

pages = Blueprint("batch", __name__)

_BATCH = "/events/<int:event_id>/rounds/<int:round_no>/batch"
_MOST_AT_ONCE: Final = 500
NONE: Final = "none"
"""Takes a result back; an empty choice leaves the board as it is."""
Page = str | Response | tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A board that was not written: why, what was typed, and, of a conflict, what stands there now."""

    why: str
    mine: str
    current: Mapping[str, Any] | None = None


@pages.get(_BATCH)
@requires(Right.PUBLIC)
def batch(event_id: int, round_no: int) -> str:
    """All boards of the round with a choice each."""
    return _page(event_id, round_no, {})


@pages.post(_BATCH)
@requires(Right.PUBLIC)
def send(event_id: int, round_no: int) -> Page:
    """Writes what was chosen, each board with the version that the page showed."""
    asking = client()
    chosen = _chosen(request.form.to_dict())
    refused: dict[int, Refused] = {}
    boards = list(chosen.items())
    for at in range(0, len(boards), _MOST_AT_ONCE):
        part = boards[at : at + _MOST_AT_ONCE]
        items = [{"board_id": board_id, "version": version, "result": result} for board_id, (version, result) in part]
        answers = asking.rounds.put_results(event_id, round_no, items)
        for (board_id, (_version, result)), answer in zip(part, answers, strict=True):
            if isinstance(answer, QisaiError):
                mine = NONE if result is None else result
                current = answer.current if isinstance(answer, Stale) else None
                refused[board_id] = Refused(why=" ".join(lines_of(answer)), mine=mine, current=current)
    saved = len(chosen) - len(refused)
    if saved:
        flash(ngettext("%(num)d board is saved.", "%(num)d boards are saved.", saved), "done")
    if refused:
        return _page(event_id, round_no, refused, saved=saved), 409
    return redirect(url_for("batch.batch", event_id=event_id, round_no=round_no), code=303)


def _chosen(form: Mapping[str, str]) -> dict[int, tuple[int, str | None]]:
    """Version seen and result by id of board, of the boards for which something was chosen."""
    chosen: dict[int, tuple[int, str | None]] = {}
    for name, value in form.items():
        key = name.removeprefix("result-")
        if key == name or not key.isdecimal() or len(key) > 18:
            continue
        version = form.get(f"version-{key}", "")
        if (value in set(Result) or value == NONE) and version.isdecimal() and len(version) < 10:
            chosen[int(key)] = (int(version), None if value == NONE else value)
    return chosen


def _page(event_id: int, round_no: int, refused: Mapping[int, Refused], *, saved: int = 0) -> str:
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.ENTER_RESULT, event)
    own = own_boards(event)
    everywhere = asking.rounds.boards(event_id, round_no).items
    boards = [board for board in everywhere if own.has(board.number) or board.id in refused]
    return render_template(
        "batch.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        round=asking.rounds.get(event_id, round_no),
        boards=boards,
        own=own,
        refused=refused,
        saved=saved,
        choices={board.id: _choices(event, board) for board in boards},
        theirs={key: _words(event, one) for key, one in refused.items()},
        none=NONE,
    )


def _choices(event: Event, board: BoardView) -> list[tuple[str, str]]:
    return [(result.value, f"{key}  {wording.result(event, result, board)}") for key, result in wording.RESULT_KEYS]


def _words(event: Event, refused: Refused) -> str:
    found = (refused.current or {}).get("result")
    return wording.result(event, Result(found)) if found in set(Result) else ""
