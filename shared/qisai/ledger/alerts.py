"""Alerts: one open row per kind and key, raised again without doubling, cleared when the cause is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from qisai.db.records import AlertRow, Severity
from qisai.errors import NotFound
from qisai.ledger.actor import Actor

log = structlog.get_logger()


def raise_alert(
    session: Session,
    kind: str,
    *,
    key: str,
    severity: Severity,
    event_id: int | None = None,
    detail: Mapping[str, Any] | None = None,
) -> bool:
    """Opens an alert, or counts one more time on the open one of this kind and key. Says whether it is new."""
    row = {"kind": kind, "key": key, "severity": severity, "event_id": event_id, "detail": dict(detail or {})}
    statement = (
        insert(AlertRow)
        .values(**row)
        .on_conflict_do_update(
            index_elements=["kind", "key"],
            index_where=AlertRow.cleared_at.is_(None),
            set_={"times": AlertRow.times + 1, "seen_at": sa.func.now(), "detail": row["detail"], "severity": severity},
        )
        .returning(AlertRow.times)
    )
    is_new = session.execute(statement).scalar_one() == 1
    if is_new:
        log.warning("alert.raised", kind=kind, key=key, severity=severity.value, event_id=event_id)
    return is_new


def clear_alert(session: Session, kind: str, *, key: str) -> bool:
    """Clears the open alert of this kind and key, if there is one, and says whether there was."""
    where = (AlertRow.kind == kind, AlertRow.key == key, AlertRow.cleared_at.is_(None))
    cleared = session.execute(
        sa.update(AlertRow).where(*where).values(cleared_at=sa.func.now()).returning(AlertRow.id)
    ).all()
    if cleared:
        log.info("alert.cleared", kind=kind, key=key)
    return bool(cleared)


def acknowledge_alert(session: Session, actor: Actor, *, alert_id: int) -> AlertRow:
    """Notes that a person has seen the alert; who was first stays. Raises `NotFound`."""
    alert = session.get(AlertRow, alert_id, with_for_update=True)
    if alert is None:
        raise NotFound("alert-not-found", f"There is no alert {alert_id}.")
    if alert.acknowledged_at is None:
        alert.acknowledged_at = sa.func.now()
        alert.acknowledged_by = actor.name
    session.flush()
    session.refresh(alert)
    return alert
