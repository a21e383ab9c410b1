"""Open alerts over each page, for those whom they concern: at most one call, and none for the public.

Pages for those who work at an event show the event's own. Whoever operates the platform sees on every page what is
critical anywhere; the page of operations has the whole list itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import Flask, request, url_for
from flask_babel import gettext as _

from qisai.client import Alert
from qisai.errors import QisaiError
from qisai.web.rights import Right
from services.gateway.pages import operation_words, wording
from services.gateway.pages.site import client, staff_event, viewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One alert as the banner says it. `event_name`: of another event than the page's; `way`: words and address."""

    text: str
    is_critical: bool
    event_name: str = ""
    round_no: int | None = None
    seen_by: str = ""
    way: tuple[str, str] | None = None


def install(app: Flask) -> None:
    """Lets the frame of all pages ask for the lines."""
    app.context_processor(lambda: {"open_alerts": open_alerts})


def open_alerts() -> Sequence[Line]:
    """The lines of the page under way. The page is shown also where alerts cannot be read, and says so."""
    event = staff_event()
    try:
        if event is not None:
            found = client().events.alerts(event.id)
        elif viewer().may(Right.OPERATE):
            found = client().operations.alerts(severity="critical")
        else:
            return ()
    except QisaiError:
        return (Line(text=_("Whether there are alerts cannot be read just now."), is_critical=True),)
    return [_line(alert) for alert in found]


def _line(alert: Alert) -> Line:
    event = staff_event()
    is_of_page = event is not None and alert.event_id == event.id
    severity = wording.SEVERITIES.get(alert.severity, alert.severity)
    return Line(
        text=f"{severity}: {operation_words.alert_title(alert)}",
        is_critical=alert.severity == "critical",
        event_name="" if is_of_page else alert.event_name,
        round_no=alert.detail.get("round"),
        seen_by=alert.acknowledged_by or "",
        way=_way(alert, is_of_page=is_of_page),
    )


def _way(alert: Alert, *, is_of_page: bool) -> tuple[str, str] | None:
    """Where something can be done about it, unless that is here."""
    event, round_no = staff_event(), alert.detail.get("round")
    if is_of_page and round_no is not None and viewer().may(Right.PAIR, event):
        address = url_for("chief.draw", event_id=alert.event_id, round_no=round_no)
        return None if request.path == address else (_("To the round"), address)
    if viewer().may(Right.OPERATE):
        return _("Operations"), url_for("operations_pages.queue")
    return None
