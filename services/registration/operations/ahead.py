"""What is known ahead of rounds: absences, byes asked for, fixed boards, pairs that must not meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from qisai.db.entrants import AbsenceRow, EntrantRow, ForbiddenPairRow, RequestedByeRow
from qisai.db.events import EventRow
from qisai.errors import Conflict, FieldError, Invalid, NotFound
from qisai.kernel.model import ByeKind
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from services.registration.operations.held import entrant_of, hold_for_entries, require_planned, require_round_ahead

WITH_POINTS: Final = (ByeKind.HALF, ByeKind.FULL)
"""Byes that an event may limit."""


def set_absence(session: Session, actor: Actor, *, event_id: int, entrant_id: int, round_no: int, absent: bool) -> None:
    """Notes an announced absence for one round, or takes it back; saying it twice changes nothing.

    Raises `NotFound`, `Invalid` for a round beyond the last, `Conflict`: `round-published`, `event-over`.
    """
    event = hold_for_entries(session, event_id)
    entrant_of(session, event_id, entrant_id)
    require_planned(event, round_no)
    key = {"entrant_id": entrant_id, "round_no": round_no}
    before = session.get(AbsenceRow, (entrant_id, round_no)) is not None
    if before == absent:
        return
    if absent:
        session.execute(insert(AbsenceRow).values(**key).on_conflict_do_nothing())
    else:
        where = (AbsenceRow.entrant_id == entrant_id, AbsenceRow.round_no == round_no)
        session.execute(sa.delete(AbsenceRow).where(*where).execution_options(synchronize_session=False))
    _publish(
        session, actor, event_id, entrant_id, round_no, what="absence", old={"absent": before}, new={"absent": absent}
    )


def set_bye(
    session: Session, actor: Actor, *, event_id: int, entrant_id: int, round_no: int, kind: ByeKind | None
) -> None:
    """Notes a bye that was asked for (half, full, zero), or takes it back; saying it twice changes nothing.

    Half- and full-point byes are limited by the event; a zero-point bye is an absence that was announced, and never is.
    Raises as `set_absence`, and `Conflict`: `byes-over` after the last round for them, `too-many-byes`.
    """
    event = hold_for_entries(session, event_id)
    entrant_of(session, event_id, entrant_id)
    require_planned(event, round_no)
    b = RequestedByeRow
    where = (b.entrant_id == entrant_id, b.round_no == round_no)
    before = session.execute(sa.select(b.kind).where(*where)).scalar_one_or_none()
    if before is kind:
        return
    if kind in WITH_POINTS:
        _require_within_limits(session, event, entrant_id=entrant_id, round_no=round_no)
    if kind is None:
        session.execute(sa.delete(b).where(*where).execution_options(synchronize_session=False))
    else:
        values = {"entrant_id": entrant_id, "round_no": round_no, "kind": kind}
        upsert = insert(b).values(**values).on_conflict_do_update(
            index_elements=["entrant_id", "round_no"], set_={"kind": kind}
        )  # fmt: skip
        session.execute(upsert.execution_options(synchronize_session=False))
    old, new = {"kind": None if before is None else before.value}, {"kind": None if kind is None else kind.value}
    _publish(session, actor, event_id, entrant_id, round_no, what="bye", old=old, new=new)


def _require_within_limits(session: Session, event: EventRow, *, entrant_id: int, round_no: int) -> None:
    if event.byes_until_round is not None and round_no > event.byes_until_round:
        detail = f"In this event byes with points can be asked for until round {event.byes_until_round} only."
        raise Conflict("byes-over", detail, round=round_no, until_round=event.byes_until_round)
    if event.max_byes is None:
        return
    b = RequestedByeRow
    others = sa.select(sa.func.count()).where(b.entrant_id == entrant_id, b.kind.in_(WITH_POINTS))
    if session.execute(others.where(b.round_no != round_no)).scalar_one() >= event.max_byes:
        detail = f"In this event nobody has more than {event.max_byes} byes with points."
        raise Conflict("too-many-byes", detail, max=event.max_byes)


def _publish(
    session: Session,
    actor: Actor,
    event_id: int,
    entrant_id: int,
    round_no: int,
    *,
    what: str,
    old: dict[str, Any],
    new: dict[str, Any],
) -> None:
    subject = f"entrant:{entrant_id}"
    round_ = {"round": round_no}
    audit.record(
        session, actor, action=f"entrant.{what}", subject=subject, event_id=event_id, old=old | round_, new=new | round_
    )
    feed.publish(session, event_id, f"entrant.{what}", data=round_, pairing=True)
    require_round_ahead(session, event_id, round_no)


def forbidden_pairs(session: Session, event_id: int) -> Sequence[ForbiddenPairRow]:
    """Pairs that must not meet."""
    f = ForbiddenPairRow
    return session.scalars(sa.select(f).where(f.event_id == event_id).order_by(f.id)).all()


def forbid_pair(
    session: Session, actor: Actor, *, event_id: int, entrants: tuple[int, int], from_round: int, to_round: int | None
) -> ForbiddenPairRow:
    """Two entrants of the event who must not meet in these rounds. Raises `Invalid`, `Conflict` `pair-forbidden`."""
    event = hold_for_entries(session, event_id)
    known = set(
        session.scalars(sa.select(EntrantRow.id).where(EntrantRow.event_id == event_id, EntrantRow.id.in_(entrants)))
    )
    errors = [
        FieldError(
            f"/entrants/{place}", f"there is no entrant {one} in this event", "entrant-not-found", {"value": one}
        )
        for place, one in enumerate(entrants)
        if one not in known
    ]
    if errors:
        raise Invalid("invalid-pair", f"The pair cannot be taken: {errors[0].detail}.", errors=errors)
    require_planned(event, from_round, pointer="/from_round")
    a, b = sorted(entrants)
    f = ForbiddenPairRow
    same = (f.event_id == event_id, f.a_entrant_id == a, f.b_entrant_id == b)
    twice = session.scalars(
        sa.select(f).where(*same, f.from_round == from_round, f.to_round.is_not_distinct_from(to_round))
    )
    if twice.first() is not None:
        raise Conflict("pair-forbidden", "These two are kept apart in these rounds already.")
    row = f(event_id=event_id, a_entrant_id=a, b_entrant_id=b, from_round=from_round, to_round=to_round)
    session.add(row)
    session.flush()
    new = {"entrants": [a, b], "from_round": from_round, "to_round": to_round}
    audit.record(session, actor, action="pair.forbid", subject=f"pair:{row.id}", event_id=event_id, new=new)
    # Who is kept apart is nobody else's business: the feed says only that something changed.
    feed.publish(session, event_id, "pairs.changed", pairing=True)
    return row


def allow_pair(session: Session, actor: Actor, *, event_id: int, pair_id: int) -> None:
    """Takes a forbidden pair back. Raises `NotFound`."""
    hold_for_entries(session, event_id)
    f = ForbiddenPairRow
    row = session.scalars(sa.select(f).where(f.event_id == event_id, f.id == pair_id)).one_or_none()
    if row is None:
        raise NotFound("pair-not-found", f"There is no forbidden pair {pair_id} in this event.")
    old = {"entrants": [row.a_entrant_id, row.b_entrant_id], "from_round": row.from_round, "to_round": row.to_round}
    session.delete(row)
    session.flush()
    audit.record(session, actor, action="pair.allow", subject=f"pair:{pair_id}", event_id=event_id, old=old)
    feed.publish(session, event_id, "pairs.changed", pairing=True)
