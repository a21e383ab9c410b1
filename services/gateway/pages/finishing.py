"""Finishing an event before its planned rounds are played: said beforehand, and done only where it is confirmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask_babel import gettext as _

from qisai.client import Client, Event, RoundView
from qisai.errors import Invalid, QisaiError
from services.gateway.pages.language import sentences


def unplayed(asking: Client, event: Event, rounds: Sequence[RoundView]) -> str:
    """Which planned rounds are not played, and whether a draft waits; nothing where all of them are."""
    planned, last = event.regulations.get("rounds") or 0, rounds[-1].number if rounds else 0
    if last >= planned:
        return ""
    left = str(last + 1) if last + 1 == planned else f"{last + 1}–{planned}"
    said = _("Not played yet: round %(rounds)s of %(count)s.", rounds=left, count=planned)
    if _has_draft(asking, event, last + 1):
        said = sentences(said, _("A draft of round %(number)s is waiting.", number=last + 1))
    return str(said)


def _has_draft(asking: Client, event: Event, round_no: int) -> bool:
    try:
        return any(one.state == "draft" for one in asking.rounds.draws(event.id, round_no))
    except QisaiError:  # an organiser reads no drafts
        return False


def require_sure(form: Mapping[str, str], asking: Client, event_id: int) -> None:
    """Raises `Invalid` where planned rounds are not played and nobody said that it is meant so."""
    if "sure" in form:
        return
    left = unplayed(asking, asking.events.get(event_id), asking.rounds.list(event_id))
    if left:
        how = _("Tick that you want to finish all the same.")
        raise Invalid("invalid-request", sentences(left, how))
