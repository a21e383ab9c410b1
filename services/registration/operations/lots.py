"""The draw of lots: numbers 1 … n for the seated entrants, until round 1 is published (docs/rules.md section 5)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.events import EventRow
from qisai.db.records import AuditRow
from qisai.errors import Conflict, FieldError, Invalid, Stale
from qisai.kernel.model import System, WithinGroup
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from qisai.web.shapes import moment
from services.registration.operations.held import hold_for_entries, require_before_round_1
from services.registration.operations.numbers import set_numbers
from services.registration.queries.lots import DRAWN, last_draw, lots_version, machine_order

_SEED_BITS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draw:
    """One draw of lots: entrant ids in the order of their numbers, and how it came."""

    mode: str
    order: Sequence[int]
    seed: int | None = None

    def logged(self) -> dict[str, Any]:
        """As the audit log keeps it."""
        numbers = {str(one): number for number, one in enumerate(self.order, start=1)}
        return {"mode": self.mode, "seed": self.seed, "numbers": numbers}


def draw_by_machine(
    session: Session, actor: Actor, *, event_id: int, seen_version: int, seed: int | None = None
) -> None:
    """Numbers in the order of SHA-256 of `"{seed}:{entrant_id}"`: whoever knows the seed can replay it.

    Without a seed one is drawn; it is kept and shown. Raises as `_give`.
    """
    chosen = secrets.randbits(_SEED_BITS) if seed is None else seed
    event = hold_for_entries(session, event_id)
    rows = _seated(session, event_id)
    order = machine_order([row.id for row in rows], seed=chosen)
    _give(session, actor, event, _Draw(mode="machine", order=order, seed=chosen), seen_version=seen_version)


def draw_by_seeding(session: Session, actor: Actor, *, event_id: int, seen_version: int) -> None:
    """Numbers by rating, the highest first, those without one last; equal ones in the order they registered."""
    event = hold_for_entries(session, event_id)
    rows = sorted(_seated(session, event_id), key=lambda row: (row.seed is None, -(row.seed or 0), row.id))
    _give(session, actor, event, _Draw(mode="seeding", order=[row.id for row in rows]), seen_version=seen_version)


def draw_by_hand(
    session: Session, actor: Actor, *, event_id: int, seen_version: int, numbers: Mapping[int, int]
) -> None:
    """Numbers that were drawn at the table and typed in: each of 1 … n once, by entrant id.

    Raises `Invalid` naming every entrant without one, and numbers that stand twice or out of range; else as `_give`.
    """
    event = hold_for_entries(session, event_id)
    rows = _seated(session, event_id)
    errors = _complaints(rows, numbers)
    if errors:
        raise Invalid("lots", f"The numbers cannot be taken: {errors[0].detail}.", errors=errors)
    order = sorted(numbers, key=lambda one: numbers[one])
    _give(session, actor, event, _Draw(mode="hand", order=order), seen_version=seen_version)


def _complaints(rows: Sequence[Any], numbers: Mapping[int, int]) -> list[FieldError]:
    seated = {row.id: row.name for row in rows}
    errors = [
        FieldError(
            f"/numbers/{one}", f"{name} is seated and has no number", "missing", {"variant": "number", "name": name}
        )
        for one, name in seated.items()
        if one not in numbers
    ]
    holders: dict[int, int] = {}
    for one, number in numbers.items():
        at = f"/numbers/{one}"
        if one not in seated:
            errors.append(FieldError(at, f"entrant {one} is not seated in this event", "not-seated"))
        elif number > len(seated):
            detail = f"number {number} is above {len(seated)}, the number of entrants"
            said = {"variant": "number", "value": number, "entrants": len(seated)}
            errors.append(FieldError(at, detail, "range", said))
        elif number in holders:
            said = {"variant": "number", "value": number}
            errors.append(FieldError(at, f"number {number} stands twice", "duplicate", said))
        holders[number] = one
    return errors


def _seated(session: Session, event_id: int) -> Sequence[Any]:
    e = EntrantRow
    query = sa.select(e.id, e.name, e.seed).where(e.event_id == event_id, e.state == EntrantState.SEATED)
    return session.execute(query.order_by(e.id)).all()


def _give(session: Session, actor: Actor, event: EventRow, draw: _Draw, *, seen_version: int) -> None:
    """Raises `Conflict`: `nobody-seated`, `frozen` once round 1 is published; `Stale` where lots were drawn since the
    version seen: of two who draw at once the second would else throw away numbers that were read out already."""
    order = draw.order
    if not order:
        raise Conflict("nobody-seated", "Nobody is seated yet: lots are drawn for the seated entrants.")
    if _is_done(session, actor, event.id, draw, seen_version=seen_version):
        return
    e = EntrantRow
    numbered = sa.update(e).where(e.event_id == event.id, e.number.is_not(None) | e.id.in_(order))
    session.execute(numbered.values(number=None, version=e.version + 1).execution_options(synchronize_session=False))
    set_numbers(session, {entrant: number for number, entrant in enumerate(order, start=1)})
    _order_inside_groups(session, event, mode=draw.mode)
    audit.record(session, actor, action=DRAWN, subject=f"event:{event.id}", event_id=event.id, new=draw.logged())
    feed.publish(session, event.id, "lots.drawn", data={"mode": draw.mode, "seed": draw.seed}, pairing=True)
    require_before_round_1(session, event.id, what="numbers do not change any more")


def _is_done(session: Session, actor: Actor, event_id: int, draw: _Draw, *, seen_version: int) -> bool:
    """Whether this very draw was made already by the same person and device, whose answer got lost.

    Raises `Stale` for any other draw since the version seen. The event is held, so nobody draws meanwhile.
    """
    version = lots_version(session, event_id)
    if version == seen_version:
        return False
    last = last_draw(session, event_id)
    if last is None:
        raise _stale_without_draw()
    if version == seen_version + 1 and last.new == draw.logged() and last.by(actor):
        return True
    raise Stale(
        "stale",
        f"Lots were drawn meanwhile by {last.actor_name}; look at the numbers before drawing them anew.",
        current={
            "version": version, "mode": last.new["mode"], "seed": last.new["seed"], "numbers": last.new["numbers"],
            "updated_by": last.actor_name, "updated_at": moment(last.at),
        },
    )  # fmt: skip


def _stale_without_draw() -> Stale:
    """For who says they saw a draw of an event that has none."""
    never: dict[str, Any] = {"mode": None, "seed": None, "numbers": {}, "updated_by": None, "updated_at": None}
    return Stale("stale", "No lots were drawn in this event so far; look at it again.", current={"version": 0, **never})


def _order_inside_groups(session: Session, event: EventRow, *, mode: str) -> None:
    """Numbering by seeding sets `fold` where the organiser set nothing (docs/rules.md section 4)."""
    regulations = event.regulations
    if regulations["system"] != System.SCORE_GROUP or _organiser_said(session, event.id):
        return
    usual = event.profile_copy["regulations"].get("within_group", WithinGroup.ADJACENT.value)
    wanted = WithinGroup.FOLD.value if mode == "seeding" else usual
    if wanted != regulations["within_group"]:
        values = {"regulations": {**regulations, "within_group": wanted}, "version": event.version + 1}
        session.execute(
            sa.update(EventRow)
            .where(EventRow.id == event.id)
            .values(**values)
            .execution_options(synchronize_session=False)
        )


def _organiser_said(session: Session, event_id: int) -> bool:
    """Whether the order inside groups was ever given by hand: the log keeps what was said."""
    a = AuditRow
    said = sa.or_(
        (a.action == "event.create") & a.new["regulations"].has_key("within_group"),
        (a.action == "event.change") & a.new["given"].has_key("within_group"),
    )
    query = sa.select(sa.literal(1)).where(a.event_id == event_id, said).limit(1)
    return session.execute(query).one_or_none() is not None
