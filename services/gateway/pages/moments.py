"""Times as people type them on a page: of the event's own zone there, in UTC with an offset for the API."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

FORMAT: Final = "%Y-%m-%dT%H:%M"
"""As a browser's field for day and time has it."""


def as_typed(moment: str | None, zone: str) -> str:
    """A time of the API as the field has it, in this zone; "" for none, and for one that is beyond all years there."""
    if not moment:
        return ""
    try:
        return datetime.fromisoformat(moment).astimezone(zone_of(zone)).strftime(FORMAT)
    except OverflowError:
        return ""


def as_sent(typed: str, zone: str) -> str | None:
    """A time from the field as the API takes it, in this zone unless it says another; None for nothing. What is no time
    is given on as it was typed, so that the service says so."""
    typed = typed.strip()
    if not typed:
        return None
    try:
        at = datetime.fromisoformat(typed)
        return (at if at.tzinfo else at.replace(tzinfo=zone_of(zone))).isoformat()
    except (ValueError, OverflowError):
        return typed


def zone_of(name: str) -> ZoneInfo:
    """The zone of this name, UTC where there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
