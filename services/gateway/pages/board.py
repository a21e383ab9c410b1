"""The page of one board: everything that happened to it, and its result, also of a round that is over.

A correction shows what it moves before it is made. A closed round stays closed, and a correction in it has a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import BoardView, Client, RoundView
from qisai.client.reading import Json
from qisai.errors import Invalid, NotFound, QisaiError, Stale, Unauthenticated
from qisai.kernel.model import Result
from qisai.web.rights import Right, requires
from services.gateway.pages import draft_words, log_words, wording
from services.gateway.pages.board_ranges import not_yours, own_boards
from services.gateway.pages.site import client, for_those_who, lines_of, status_of, viewer

pages = Blueprint("board", __name__)

_BOARD = "/events/<int:event_id>/rounds/<int:round_no>/boards/<int:number>"
Page = str | Response | tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was typed: the result, whether the two sat the other way round, a note, why, and the version seen."""

    result: Result | None
    swapped: bool
    note: str
    reason: str
    version: int


@pages.get(_BOARD)
@requires(Right.PUBLIC)
def board(event_id: int, round_no: int, number: int) -> str:
    """The board with its history, and the form of its result for those who may write it."""
    return _page(event_id, round_no, number)


@pages.post(_BOARD)
@requires(Right.PUBLIC)
def write(event_id: int, round_no: int, number: int) -> Page:
    """Writes the result at the version that the page showed; with `look` only what it would move."""
    asking = client()
    found = _board(asking, event_id, round_no, number)
    wanted = _wanted(request.form.to_dict())
    try:
        if "look" in request.form:
            moved = asking.rounds.preview_correction(found.id, wanted.result, swapped=wanted.swapped)
            return _page(event_id, round_no, number, typed=wanted, moved=moved)
        saved = save(asking, asking.rounds.get(event_id, round_no), found, wanted)
    except Unauthenticated:
        raise
    except Stale as error:
        return _page(event_id, round_no, number, typed=wanted, conflict=error.current), 412
    except QisaiError as error:
        event = asking.events.get(event_id)
        return _page(event_id, round_no, number, typed=wanted, faults=lines_of(error, event)), status_of(error)
    flash(_("Board %(number)s is saved.", number=saved.number), "done")
    return redirect(url_for("board.board", event_id=event_id, round_no=round_no, number=number), code=303)


def save(asking: Client, round_: RoundView, found: BoardView, wanted: Wanted) -> BoardView:
    """The board as written; in a closed round it is a correction, and the round stays closed.

    Raises as `put_result` and `correct`; `Invalid` `reason-needed` for a closed round without a reason.
    """
    said: dict[str, Any] = {"version": wanted.version, "swapped": wanted.swapped, "note": wanted.note}
    if round_.state != "closed":
        return asking.rounds.put_result(found.id, wanted.result, reason=wanted.reason or None, **said)
    if not wanted.reason:
        raise Invalid("reason-needed", _("This round is closed: a correction needs a reason."))
    return asking.rounds.correct(found.id, wanted.result, reason=wanted.reason, **said)


def _wanted(form: Mapping[str, str]) -> Wanted:
    chosen, version = form.get("result", ""), form.get("version", "")
    return Wanted(
        result=Result(chosen) if chosen in set(Result) else None,
        swapped="swapped" in form,
        note=form.get("note", "").strip(),
        reason=form.get("reason", "").strip(),
        version=int(version) if version.isdecimal() and len(version) < 10 else 0,
    )


def _board(asking: Client, event_id: int, round_no: int, number: int) -> BoardView:
    boards = asking.rounds.boards(event_id, round_no).items
    found = next((one for one in boards if one.number == number), None)
    if found is None:
        raise NotFound("board-not-found", _("There is no such board in this round."))
    return found


def _page(
    event_id: int,
    round_no: int,
    number: int,
    *,
    typed: Wanted | None = None,
    moved: Json | None = None,
    conflict: Mapping[str, Any] | None = None,
    faults: Sequence[str] = (),
) -> str:
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.READ_STAFF, event)
    found, rounds = _board(asking, event_id, round_no, number), asking.rounds.list(event_id)
    round_ = next(one for one in rounds if one.number == round_no)
    is_chief = viewer().may(Right.CONTROL_ROUND, event)
    is_referee, own = viewer().may(Right.ENTER_RESULT, event), own_boards(event)
    is_over = round_.state == "closed" or rounds[-1].number > round_no
    return render_template(
        "board.html",
        event=event,
        rounds=rounds,
        round=round_,
        board=found,
        typed=typed or Wanted(result=found.result, swapped=found.swapped, note=found.note, reason="", version=0),
        moved=moved,
        conflict=conflict,
        faults=faults,
        is_chief=is_chief,
        is_over=is_over,
        may_write=event.state == "running" and (is_chief or (not is_over and is_referee and own.has(number))),
        not_yours=not_yours(event, own) if is_referee and not own.has(number) else "",
        results=[result for _key, result in wording.RESULT_KEYS],
        history=log_words.board_history(asking.rounds.board_log(found.id), event, found),
        saying=draft_words,
    )
