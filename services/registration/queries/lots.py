"""How an event's numbers were given, and whether doing it again gives the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow
from qisai.db.records import AuditRow
from qisai.ledger.actor import Actor
from services.registration.queries.rounds import next_round

DRAWN: Final = "lots.draw"
"""Action of the audit row that keeps mode, seed and order: the record of a draw of lots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lots:
    """Mode and seed of the last draw of lots (None: there was none), and everybody's number by entrant id."""

    mode: str | None
    seed: int | None
    numbers: Mapping[int, int]
    order: Sequence[int] = ()
    """Entrant ids as they were drawn: the first got number 1. Who left the field since is still here."""
    appended: Sequence[int] = ()
    """Entrant ids who got their number afterwards, in its order."""
    drawn_at: datetime | None = None
    replayed: bool | None = None
    """Whether the seed gives this order again, tried just now; None where there is no seed."""
    frozen: bool = False
    """Round 1 is published: numbers do not change any more."""
    version: int = 0
    """How often lots were drawn: what a draw says it saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedDraw:
    """A draw of lots as the audit log keeps it."""

    new: Mapping[str, Any]
    at: datetime
    actor_account_id: int | None
    actor_name: str
    device: str

    def by(self, actor: Actor) -> bool:
        """Whether this person drew it, on this device."""
        return (self.actor_account_id, self.device) == (actor.account_id, actor.device)


def machine_order(entrant_ids: Sequence[int], *, seed: int) -> list[int]:
    """The ids in the order that this seed gives them."""
    return sorted(entrant_ids, key=lambda one: (hashlib.sha256(f"{seed}:{one}".encode()).digest(), one))


def last_draw(session: Session, event_id: int) -> LoggedDraw | None:
    """The latest draw of lots."""
    a = AuditRow
    query = sa.select(a.new, a.at, a.actor_account_id, a.actor_name, a.device).where(
        a.event_id == event_id, a.action == DRAWN
    )
    row = session.execute(query.order_by(a.at.desc(), a.id.desc()).limit(1)).one_or_none()
    return None if row is None else LoggedDraw(**row._mapping)


def lots_version(session: Session, event_id: int) -> int:
    """How often lots were drawn in this event."""
    drawn = sa.select(sa.func.count()).where(AuditRow.event_id == event_id, AuditRow.action == DRAWN)
    return int(session.execute(drawn).scalar_one())


def lots(session: Session, event_id: int) -> Lots:
    """The numbers as they are now, and the draw they come from."""
    row = last_draw(session, event_id)
    drawn = {} if row is None else row.new
    numbered = sa.select(EntrantRow.id, EntrantRow.number).where(
        EntrantRow.event_id == event_id, EntrantRow.number.is_not(None)
    )
    numbers = {one.id: one.number for one in session.execute(numbered.order_by(EntrantRow.number))}
    given = {int(one): number for one, number in (drawn.get("numbers") or {}).items()}
    order = sorted(given, key=lambda one: given[one])
    seed = drawn.get("seed")
    return Lots(
        mode=drawn.get("mode"),
        seed=seed,
        numbers=numbers,
        order=order,
        appended=[one for one in numbers if one not in given] if given else [],
        drawn_at=None if row is None else row.at,
        replayed=None if seed is None else machine_order(sorted(given), seed=seed) == order,
        frozen=next_round(session, event_id) > 1,
        version=0 if row is None else lots_version(session, event_id),
    )
