"""Days of an event that lie behind us: nothing forbids them, so a page says what they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

from flask_babel import gettext as _

from services.gateway.pages.moments import zone_of


def warnings(*, until: str | None, starts_on: str | None, zone: str) -> Sequence[str]:
    """A line for a deadline of registration and a first day (as the API has both) that are over; unreadable ones are
    refused elsewhere."""
    lines: list[str] = []
    if until and is_over(until):
        lines.append(
            _("The deadline of registration is over: nobody can enter themselves, only the desk enters people.")
        )
    try:
        first = date.fromisoformat(starts_on or "")
    except ValueError:
        return lines
    if first < datetime.now(zone_of(zone)).date():
        lines.append(_("The first day is over already."))
    return lines


def is_over(moment: str) -> bool:
    """Whether a time of the API lies behind us; one that cannot be read does not."""
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        return False
    return (at if at.tzinfo else at.replace(tzinfo=UTC)) <= datetime.now(UTC)
