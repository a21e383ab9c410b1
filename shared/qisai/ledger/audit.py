"""The audit log: who did what to what, with before and after. Insert-only for every service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.records import AuditRow
from qisai.ledger.actor import Actor


def record(
    session: Session,
    actor: Actor,
    *,
    action: str,
    subject: str,
    event_id: int | None = None,
    old: Mapping[str, Any] | None = None,
    new: Mapping[str, Any] | None = None,
    reason: str = "",
) -> int:
    """Writes one row in the transaction of the change; its id. `action` is a static name such as `draw.publish`."""
    written: int = session.execute(
        sa.insert(AuditRow)
        .values(
            at=sa.func.clock_timestamp(),  # not when the transaction began: it may have waited for what it changes
            event_id=event_id,
            action=action,
            subject=subject,
            old=None if old is None else dict(old),
            new=None if new is None else dict(new),
            reason=reason,
            actor_account_id=actor.account_id,
            actor_name=actor.name,
            device=actor.device,
            request_id=actor.request_id,
        )
        .returning(AuditRow.id)
    ).scalar_one()
    return written


def last(session: Session, *of: sa.ColumnElement[bool]) -> Any:
    """Who wrote the latest of these rows, and when: row of actor_name and at; None where there is none."""
    a = AuditRow
    query = sa.select(a.actor_name, a.at).where(*of).order_by(a.at.desc(), a.id.desc()).limit(1)
    return session.execute(query).one_or_none()
