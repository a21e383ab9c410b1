"""What anybody may look at: events, pairings by board and by name, standings."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from qisai.client import Event, RoundView
from qisai.db.name_keys import name_order
from qisai.errors import NotFound
from qisai.web.rights import Right, requires
from services.gateway.pages import standings_words, wording
from services.gateway.pages.shared_pages import shared_while_live
from services.gateway.pages.site import client, viewer

pages = Blueprint("public", __name__)

_ORDER = ("running", "open", "closed", "finished", "draft", "archived")


@pages.get("/")
@requires(Right.PUBLIC)
def events() -> str:
    """All events the viewer may know of, running ones first."""
    asking = client()
    found = asking.events.list(q=request.args.get("q") or None)
    games = {profile.code: wording.named(profile.names, profile.code) for profile in asking.events.profiles()}
    groups = [(state, [event for event in found if event.state == state]) for state in _ORDER]
    return render_template("events.html", groups=[(state, group) for state, group in groups if group], games=games)


@pages.get("/events/<int:event_id>")
@shared_while_live
@requires(Right.PUBLIC)
def event(event_id: int) -> str | Response:
    """The latest round, or who has entered while nothing is drawn."""
    asking = client()
    shown = asking.events.get(event_id)
    rounds = asking.rounds.list(event_id)
    if rounds:
        return _round(shown, rounds, number=rounds[-1].number)
    return render_template("event.html", event=shown, rounds=rounds, entrants=asking.entrants.list(event_id))


@pages.get("/events/<int:event_id>/rounds/<int:round_no>")
@shared_while_live
@requires(Right.PUBLIC)
def round_(event_id: int, round_no: int) -> str:
    """Pairings of a round by board or by name, with results."""
    asking = client()
    return _round(asking.events.get(event_id), asking.rounds.list(event_id), number=round_no)


@pages.get("/events/<int:event_id>/standings")
@shared_while_live
@requires(Right.PUBLIC)
def standings(event_id: int) -> str:
    """The table after a round with every criterion."""
    asking = client()
    shown = asking.events.get(event_id)  # first: the page is of no older moment than the feed number it names
    table = asking.rounds.standings(event_id, after=request.args.get("after", type=int))
    return render_template("standings.html", event=shown, rounds=asking.rounds.list(event_id), table=table)


@pages.get("/events/<int:event_id>/standings/<int:number>")
@requires(Right.PUBLIC)
def arithmetic(event_id: int, number: int) -> str:
    """How one entrant's values were added up."""
    asking = client()
    after = request.args.get("after", type=int)
    table = asking.rounds.standings(event_id, after=after)
    row = next((row for row in table.rows if row.player.number == number), None)
    if row is None:
        raise NotFound("entrant-not-found", f"Number {number} is not in the standings.")
    sums = asking.rounds.arithmetic(event_id, number, after=after)
    names = {row.player.number: row.player.name for row in table.rows}
    return render_template(
        "arithmetic.html",
        event=asking.events.get(event_id),
        rounds=asking.rounds.list(event_id),
        table=table,
        row=row,
        sums=sums["criteria"],
        term_in_words=standings_words.term,
        names=names,
    )


@pages.get("/events/<int:event_id>/entrants")
@requires(Right.PUBLIC)
def entrants(event_id: int) -> str:
    """Who has entered."""
    asking = client()
    return render_template(
        "event.html",
        event=asking.events.get(event_id),
        rounds=asking.rounds.list(event_id),
        entrants=asking.entrants.list(event_id),
    )


@pages.get("/me")
@requires(Right.PUBLIC)
def me() -> Response:
    """After signing in without another place to go to."""
    return redirect(url_for("public.events") if viewer().is_signed_in else url_for("signing_in.sign_in"))


def _round(event: Event, rounds: tuple[RoundView, ...], *, number: int) -> str:
    boards = client().rounds.boards(event.id, number)
    shown = next((round_ for round_ in rounds if round_.number == number), None)
    if shown is None:
        raise NotFound("round-not-found", f"Round {number} is not published.")
    places = [
        (player, other, board)
        for board in boards.items
        for player, other in ((board.first, board.second), (board.second, board.first))
    ]
    places.sort(key=lambda place: (name_order(place[0].name), place[0].number))
    return render_template(
        "round.html",
        event=event,
        rounds=rounds,
        round=shown,
        boards=boards.items,
        byes=boards.byes,
        places=places,
        by_name=request.args.get("by") == "name",
    )
