"""Why this pair: one entrant's place in a draw, for whoever may read the draft."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.errors import NotFound
from qisai.web.rights import Right, requires
from services.gateway.pages import why_words
from services.gateway.pages.site import client, for_those_who, whole_number

pages = Blueprint("why_page", __name__)


@pages.get("/events/<int:event_id>/rounds/<int:round_no>/draws/<int:draw_no>/why/<int:number>")
@requires(Right.PUBLIC)
def why(event_id: int, round_no: int, draw_no: int, number: int) -> str:
    """The opponent, who would have been better and what ruled each out, the float, the bye, the side."""
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.PAIR, event)
    found = asking.rounds.why(event_id, round_no, draw_no, number)
    return render_template(
        "why.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        round_no=round_no,
        draw_no=draw_no,
        found=found,
        saying=why_words,
    )


@pages.get("/events/<int:event_id>/rounds/<int:round_no>/why")
@requires(Right.PUBLIC)
def ask(event_id: int, round_no: int) -> Response:
    """To the page of a number as it was typed, in the draw that was published; else back. Raises `NotFound`."""
    asking = client()
    for_those_who(Right.PAIR, asking.events.get(event_id))
    number = whole_number(request.args.get("number", ""))
    if not isinstance(number, int):
        flash(_("“%(text)s” is no number of an entrant.", text=number[:20]), "error")
        return redirect(url_for("chief.draw", event_id=event_id, round_no=round_no), code=303)
    draws = asking.rounds.draws(event_id, round_no)
    draw_no = next((one.number for one in draws if one.state == "published"), None)
    if draw_no is None:
        raise NotFound("round-not-found", f"Round {round_no} is not published.")
    return redirect(url_for("why_page.why", event_id=event_id, round_no=round_no, draw_no=draw_no, number=number))
