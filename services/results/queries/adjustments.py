"""Adjustments of points, with whom they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow
from qisai.db.rounds import AdjustmentRow


def adjustments(session: Session, event_id: int, *, adjustment_id: int | None = None) -> Sequence[Any]:
    """All decisions of an event in their order, those taken back too; or the one of that id."""
    a, e = AdjustmentRow, EntrantRow
    decision = (a.id, a.half_points, a.after_round, a.reason, a.made_at, a.made_by, a.version)
    back = (a.taken_back_at, a.taken_back_by, a.taken_back_reason)
    query = sa.select(*decision, *back, a.entrant_id, e.number, e.name, e.club).join(e, e.id == a.entrant_id)
    query = query.where(a.event_id == event_id).order_by(a.id)
    if adjustment_id is not None:
        query = query.where(a.id == adjustment_id)
    return session.execute(query).all()
