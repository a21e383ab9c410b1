"""The page on which results are entered, and its way without scripts."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import BoardView, Event
from qisai.errors import QisaiError, Stale, Unauthenticated
from qisai.kernel.model import Result
from qisai.web.rights import Right, requires
from services.gateway.pages import wording
from services.gateway.pages.board_ranges import OwnBoards, not_yours, own_boards
from services.gateway.pages.site import client, for_those_who, lines_of

pages = Blueprint("referee", __name__)


@pages.get("/events/<int:event_id>/rounds/<int:round_no>/entry")
@requires(Right.PUBLIC)
def entry(event_id: int, round_no: int) -> str:
    """All boards of the round, each with its version."""
    return _page(event_id, round_no)


@pages.post("/events/<int:event_id>/rounds/<int:round_no>/entry")
@requires(Right.PUBLIC)
def send(event_id: int, round_no: int) -> str | Response | tuple[str, int]:
    """One board's result from a form, with the version that its page saw."""
    board_id = request.form.get("board", type=int) or 0
    version = request.form.get("version", type=int) or 0
    chosen = request.form.get("result", "")
    result = Result(chosen) if chosen in set(Result) else None
    try:
        board = client().rounds.put_result(board_id, result, version=version, reason=request.form.get("reason") or None)
    except Stale as error:
        asked = {"board": board_id, "result": result, "current": error.current}
        return _page(event_id, round_no, conflict=asked), 412
    except Unauthenticated:
        raise
    except QisaiError as error:
        for line in lines_of(error):
            flash(line, "error")
    else:
        flash(_("Board %(number)s is saved.", number=board.number), "done")
    return redirect(url_for("referee.entry", event_id=event_id, round_no=round_no) + f"#b{board_id}", code=303)


def _page(event_id: int, round_no: int, *, conflict: dict[str, Any] | None = None) -> str:
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.ENTER_RESULT, event)
    boards, own = asking.rounds.boards(event_id, round_no), own_boards(event)
    shows_all = own.ranges is None or "all" in request.args
    if conflict is not None:
        conflict["board"] = next((board for board in boards.items if board.id == conflict["board"]), None)
        current = conflict["current"].get("result")
        conflict["theirs"] = Result(current) if current else None
    return render_template(
        "entry.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        round=asking.rounds.get(event_id, round_no),
        boards=boards.items if shows_all else own.of(boards.items),
        own=own,
        shows_all=shows_all,
        conflict=conflict,
        keys=wording.RESULT_KEYS,
        results={board.id: _words(event, board) for board in boards.items},
        key_map={key: result.value for key, result in wording.RESULT_KEYS},
        texts=_texts(event, own),
    )


def _words(event: Event, board: BoardView) -> dict[str, str]:
    """What each result is called at this board."""
    return {result.value: wording.result(event, result, board) for _key, result in wording.RESULT_KEYS}


def _texts(event: Event, own: OwnBoards) -> dict[str, str]:
    """What the script says; names in braces are filled in there."""
    return {
        "none": _("no result"),
        "unknown": _("There is no such board in this round.") if own.ranges is None else not_yours(event, own),
        "digits": _("Type the number of a board."),
        "keys": _("No result has this key; the keys stand below."),
        "waiting": _("saving …"),
        "offline": _("kept here; sent when the network is back"),
        "unsent": _("Not sent yet: %(count)s", count="%"),
        "drop": _("Let go"),
        "open": _("To the board"),
        "undecided": _("Not decided: choose again."),
        "conflict": _(
            "Board %(board)s was changed by %(who)s at %(time)s to: %(theirs)s. Yours was: %(mine)s.",
            board="{board}",
            who="{who}",
            time="{time}",
            theirs="{theirs}",
            mine="{mine}",
        ),
    }
