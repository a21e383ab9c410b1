"""What an event calls its boards and sides, from its own copy of the game profile."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.events import EventRow
from qisai.kernel.names import Language
from qisai.kernel.profiles import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Names in one language. `sides` None: a game that shows none (docs/rules.md section 2)."""

    board: str
    sides: tuple[str, str] | None


def words(session: Session, event_id: int, language: Language) -> Words:
    """The event's words: one query."""
    copy = session.execute(sa.select(EventRow.profile_copy).where(EventRow.id == event_id)).scalar_one()
    first, second = (side[language.value] for side in copy["sides"])
    shows_sides = copy["unit"] == Unit.INDIVIDUAL and copy["first_move"]
    return Words(board=copy["board"][language.value], sides=(first, second) if shows_sides else None)
