"""How an event's numbers were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow
from qisai.db.records import AuditRow

DRAWN: Final = "lots.draw"
"""Action of the audit row that keeps mode and seed: the record of a draw of lots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lots:
    """Mode and seed of the last draw of lots (None: there was none), and everybody's number by entrant id."""

    mode: str | None
    seed: int | None
    numbers: Mapping[int, int]


def lots(session: Session, event_id: int) -> Lots:
    """The numbers as they are now."""
    query = sa.select(AuditRow.new).where(AuditRow.event_id == event_id, AuditRow.action == DRAWN)
    drawn = session.execute(query.order_by(AuditRow.at.desc(), AuditRow.id.desc()).limit(1)).scalar_one_or_none() or {}
    numbered = sa.select(EntrantRow.id, EntrantRow.number).where(
        EntrantRow.event_id == event_id, EntrantRow.number.is_not(None)
    )
    numbers = {row.id: row.number for row in session.execute(numbered.order_by(EntrantRow.number))}
    return Lots(mode=drawn.get("mode"), seed=drawn.get("seed"), numbers=numbers)
