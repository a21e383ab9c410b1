"""What ops may do: reset a circuit breaker, acknowledge an alert."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.jobs import BreakerRow, BreakerState
from qisai.db.records import AlertRow
from qisai.errors import NotFound
from qisai.ledger import alerts, audit
from qisai.ledger.actor import Actor


def reset_breaker(session: Session, actor: Actor, *, event_id: int) -> BreakerRow:
    """Closes an event's breaker: its next job tries the optimal stage again. Raises `NotFound`."""
    breaker = session.get(BreakerRow, event_id, with_for_update=True)
    if breaker is None:
        raise NotFound("breaker-not-found", f"Event {event_id} has no breaker: no job of it ran into its deadline yet.")
    old = {"state": breaker.state.value, "timeouts": breaker.timeouts}
    values = {"state": BreakerState.CLOSED, "timeouts": 0, "opened_at": None, "trial_job_id": None}
    changed = sa.update(BreakerRow).where(BreakerRow.event_id == event_id)
    session.execute(
        changed.values(**values, version=BreakerRow.version + 1, updated_at=sa.func.now()).execution_options(
            synchronize_session=False
        )
    )
    audit.record(session, actor, action="breaker.reset", subject=f"breaker:{event_id}", event_id=event_id, old=old)
    session.refresh(breaker)
    return breaker


def acknowledge(session: Session, actor: Actor, *, alert_id: int) -> AlertRow:
    """Notes who has seen an alert. Raises `NotFound`."""
    alert = alerts.acknowledge_alert(session, actor, alert_id=alert_id)
    audit.record(session, actor, action="alert.acknowledge", subject=f"alert:{alert_id}", event_id=alert.event_id)
    return alert
