"""Where what stands in the way of a draw is mended: a link for each, for those who may go there."""

from __future__ import annotations

from flask import url_for
from flask_babel import gettext as _

from qisai.client import Event
from qisai.errors import Conflict, QisaiError
from qisai.web.rights import Right
from services.gateway.pages.site import viewer

Way = tuple[str, str]


def ways_out(error: QisaiError, event: Event, round_no: int) -> list[Way]:
    """Words and addresses, each once, in the order of the blockers."""
    if not isinstance(error, Conflict):
        return []
    slugs = [error.slug, *(blocker.slug for blocker in error.blockers)]
    return list(dict.fromkeys(way for slug in slugs if (way := _way(slug, event, round_no)) is not None))


def _way(slug: str, event: Event, round_no: int) -> Way | None:
    of_event = {"event_id": event.id}
    pages = {
        "event-not-running": (Right.RUN_EVENT, _("To the steps of the event"), "organiser.set_up", of_event),
        "numbers-not-drawn": (Right.DRAW_LOTS, _("To the drawing of numbers"), "lots_page.show", of_event),
        "empty-pool": (Right.MOVE_ENTRANT, _("To the desk"), "desk.desk", of_event),
        "attendance-open": (
            Right.MANAGE_ENTRANTS,
            _("To the check-in of the round"),
            "attendance_page.attendance",
            {**of_event, "round_no": round_no},
        ),
        "earlier-round-missing": (
            Right.PAIR,
            _("To the round before"),
            "chief.draw",
            {**of_event, "round_no": max(1, round_no - 1)},
        ),
    }
    if slug not in pages:
        return None
    right, words, endpoint, values = pages[slug]
    return (words, url_for(endpoint, **values)) if viewer().may(right, event) else None  # type: ignore[arg-type]
