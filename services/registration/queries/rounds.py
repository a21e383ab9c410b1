"""How far an event is, from the rounds that the results service keeps.

What such an answer decides is asked after the feed was bumped: under the feed's lock no round is published meanwhile.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.rounds import RoundRow, RoundState


def next_round(session: Session, event_id: int) -> int:
    """Number of the next round that is to be paired: 1 until round 1 is published."""
    query = sa.select(sa.func.coalesce(sa.func.max(RoundRow.number), 0) + 1)
    where = (RoundRow.event_id == event_id, RoundRow.state != RoundState.PENDING)
    number: int = session.execute(query.where(*where)).scalar_one()
    return number
