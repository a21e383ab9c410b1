"""What anybody may look at behind the standings: crosstable, one entrant's rounds, prizes by category."""

from __future__ import annotations

from flask import Blueprint, Response, render_template, request

from qisai.web.rights import Right, requires
from services.gateway.pages.shared_pages import shared_while_live
from services.gateway.pages.site import client, viewer

pages = Blueprint("tables", __name__)


@pages.get("/events/<int:event_id>/crosstable")
@shared_while_live
@requires(Right.PUBLIC)
def crosstable(event_id: int) -> str:
    """All rounds of all entrants, ranked."""
    asking = client()
    event = asking.events.get(event_id)
    table = asking.tables.crosstable(event_id, after=request.args.get("after", type=int))
    return render_template("crosstable.html", event=event, rounds=asking.rounds.list(event_id), table=table)


@pages.get("/events/<int:event_id>/entrants/<int:number>")
@shared_while_live
@requires(Right.PUBLIC)
def history(event_id: int, number: int) -> str:
    """One entrant's rounds, by number."""
    asking = client()
    event = asking.events.get(event_id)
    found = asking.tables.history(event_id, number, after=request.args.get("after", type=int))
    return render_template("history.html", event=event, rounds=asking.rounds.list(event_id), history=found)


@pages.get("/events/<int:event_id>/<any(standings, crosstable, pairings):what>.csv")
@requires(Right.PUBLIC)
def sheet(event_id: int, what: str) -> Response:
    """A table as a sheet, in the page's language: the API's own address knows only the browser's."""
    after = request.args.get("after", type=int)
    content = client().tables.csv(event_id, what, after=after)
    name = f"event-{event_id}-{what}" + ("" if after is None else f"-{after}")
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"', "Cache-Control": "no-store"}
    return Response(content, content_type="text/csv; charset=utf-8", headers=headers)


@pages.get("/events/<int:event_id>/prizes")
@requires(Right.PUBLIC)
def prizes(event_id: int) -> str:
    """The standings of a category; sex and age are offered to those who work at the event."""
    asking = client()
    event = asking.events.get(event_id)
    after = request.args.get("after", type=int)
    whole = asking.rounds.standings(event_id, after=after)
    asked = {name: request.args.get(name) or None for name in ("club", "sex", "age_group")}
    low, high = (request.args.get(name, type=int) for name in ("rating_from", "rating_to"))
    found = asking.tables.prizes(
        event_id,
        after=after,
        club=asked["club"],
        sex=asked["sex"],
        age_group=asked["age_group"],
        rating_from=low,
        rating_to=high,
    )
    return render_template(
        "prizes.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        clubs=sorted({row.player.club for row in whole.rows if row.player.club}),
        prizes=found,
        asked={**asked, "rating_from": low, "rating_to": high},
        is_staff=viewer().may(Right.READ_STAFF, event),
    )
