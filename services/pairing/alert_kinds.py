"""The kinds of alerts that pairing raises, each with the key that tells one open alert of a kind from another."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.orm import Session

from qisai.db.records import AlertRow, Severity
from qisai.ledger import alerts, feed

log = structlog.get_logger()


class AlertKind(StrEnum):
    """What an alert is about."""

    DRAW_DEGRADED = "draw-degraded"
    """Key: event and round. A draw that must be accepted first; ends with the next good draw or with publishing."""
    DRAW_FAILED = "draw-failed"
    """Key: event and round. No draw; ends as the one before."""
    BREAKER_OPEN = "breaker-open"
    """Key: event. Draws come from the quick search until a trial succeeds or ops reset it; `state` in its detail is
    `half_open` while a trial is under way."""
    OTHER_RELEASE = "worker-of-other-release"
    """Key: event. A draw waits for an algorithm that no live worker has."""
    QUEUE_STUCK = "queue-stuck"
    """Key: queue. Its oldest due job is old, and none of that queue begins or ends."""
    NO_LIVE_WORKER = "no-live-worker"
    BROKER_AWAY = "broker-away"
    """The broker does not answer the keeper: draws wait, and start by themselves when it is back."""
    KEEPER_LATE = "keeper-late"
    """No keeper leads: raised by the workers, cleared by the next keeper."""
    CANARY_LATE = "canary-late"
    """The keeper's own job did not come back as a draw in time."""


EVERYWHERE: Final = "all"
"""Key of an alert that concerns the whole installation."""


def switch(
    session: Session,
    kind: AlertKind,
    *,
    on: bool,
    key: str = EVERYWHERE,
    severity: Severity = Severity.WARNING,
    event_id: int | None = None,
    detail: Mapping[str, Any] | None = None,
) -> bool:
    """Raises or clears an alert and, where that changed something and it belongs to an event, tells the event's feed.

    Takes the row of the event's feed: call it behind everything else that the transaction locks.
    """
    if on:
        changed = alerts.raise_alert(session, kind.value, key=key, severity=severity, event_id=event_id, detail=detail)
    else:
        changed = alerts.clear_alert(session, kind.value, key=key)
    if changed and event_id is not None:
        data = {"alert": kind.value, "key": key, "severity": severity.value}
        feed.publish(session, event_id, "alert.raised" if on else "alert.cleared", data=data)
    return changed


def note(session: Session, kind: AlertKind, *, key: str, event_id: int, detail: Mapping[str, Any]) -> None:
    """An open alert of an event says something new, and the event's feed tells it: `alert.changed`, with the detail.

    Nothing where none is open. Takes the row of the event's feed, as `switch` does.
    """
    a = AlertRow
    of_it = (a.kind == kind.value, a.key == key, a.cleared_at.is_(None))
    values = {"detail": dict(detail), "seen_at": sa.func.now()}
    if session.execute(sa.update(a).where(*of_it).values(values).returning(a.id)).all():
        log.info("alert.changed", kind=kind.value, key=key, **detail)
        feed.publish(session, event_id, "alert.changed", data={"alert": kind.value, "key": key, **detail})
