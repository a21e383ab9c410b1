"""Holding a round for a change of its state: the first lock of every such change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from qisai.db.records import AuditRow
from qisai.db.rounds import RoundRow, RoundState
from qisai.db.session import compare_and_set
from qisai.errors import Conflict, Stale
from qisai.ledger import audit
from services.results.answers import moment

Values = dict[str, Any]

NO_CLOCK: Final[Mapping[str, None]] = {"clock_ends_at": None, "clock_left_ms": None}
"""Values of a round whose clock is taken away: stopped, closed or taken back."""


def hold_round(session: Session, event_id: int, *, number: int, create: bool = False) -> RoundRow | None:
    """The round, held until the transaction ends, so that no result is written and no state changed meanwhile.

    `create` makes the row first where there is none; without it None says so.
    """
    if create:
        statement = insert(RoundRow).values(event_id=event_id, number=number, state=RoundState.PENDING)
        session.execute(statement.on_conflict_do_nothing(index_elements=["event_id", "number"]))
    query = sa.select(RoundRow).where(RoundRow.event_id == event_id, RoundRow.number == number)
    return session.scalars(query.with_for_update().execution_options(populate_existing=True)).one_or_none()


def hold_existing(session: Session, event_id: int, *, number: int, seen_version: int) -> RoundRow:
    """A published or closed round at the version that was seen. Raises `Conflict` `round-not-published`, `Stale`."""
    round_ = hold_round(session, event_id, number=number)
    if round_ is None or round_.state is RoundState.PENDING:
        raise Conflict("round-not-published", f"Round {number} is not published.", round=number)
    if round_.version != seen_version:
        raise _stale(session, round_)
    return round_


def change_round(session: Session, round_: RoundRow, *, to: RoundState, values: Values) -> None:
    """The compare-and-set on state and version; the next version. Raises `Stale` where somebody else was first."""
    where = [RoundRow.id == round_.id, RoundRow.version == round_.version, RoundRow.state == round_.state]
    if not compare_and_set(
        session, RoundRow, where=where, values={"state": to, "version": round_.version + 1, **values}
    ):
        raise _stale(session, round_)


def _stale(session: Session, round_: RoundRow) -> Stale:
    """Somebody changed the round meanwhile: who and when, by the log, which has every change of a round."""
    a = AuditRow
    of_round = (a.event_id == round_.event_id, a.subject == f"round:{round_.number}")
    changed = (a.action == "draw.publish") | a.action.startswith("round.")  # not what was done to a draft
    last = audit.last(session, *of_round, changed)
    if last is None:  # it came with a file and was not changed since
        by, at = round_.closed_by or round_.published_by, round_.closed_at or round_.published_at
    else:
        by, at = last.actor_name, last.at
    return Stale(
        "stale",
        f"Round {round_.number} was changed meanwhile: it is version {round_.version} and {round_.state.value} now.",
        current={
            "number": round_.number,
            "state": round_.state.value,
            "version": round_.version,
            "updated_by": by,
            "updated_at": moment(at),
        },
    )


def later_published_round(session: Session, event_id: int, number: int) -> int | None:
    """The number of the first published round behind `number`, if there is one."""
    query = sa.select(sa.func.min(RoundRow.number)).where(
        RoundRow.event_id == event_id, RoundRow.number > number, RoundRow.state != RoundState.PENDING
    )
    return session.execute(query).scalar_one()
