"""Numbers of entrants: given once, appended to, given back; never moved (docs/rules.md sections 5 and 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.events import EventRow
from services.registration.queries.rounds import next_round
from services.registration.states import IN_POOL, PLAYED

Before = tuple[EntrantState, int | None, int | None]
"""What an entrant was: state, number, first round without them."""


def number_newcomers(
    session: Session, event: EventRow, rows: Sequence[Any], *, to: EntrantState, upcoming: int
) -> None:
    """Whoever is seated once lots are drawn gets the next number; before round 1 who leaves the pool gives it back."""
    if to in IN_POOL:
        late = [row.id for row in rows if row.number is None]
        last = sa.select(sa.func.max(EntrantRow.number)).where(EntrantRow.event_id == event.id)
        highest = session.execute(last).scalar_one() if late else None
        if late and (upcoming > 1 or highest is not None):
            first = int(highest or 0) + 1
            set_numbers(session, {entrant: first + place for place, entrant in enumerate(late)}, entered_round=upcoming)
    elif to not in PLAYED:
        holding = [row.id for row in rows if row.number is not None]
        if holding:
            e = EntrantRow
            session.execute(update_entrants(e.id.in_(holding)).values(number=None, entered_round=1))


def set_numbers(session: Session, numbers: Mapping[int, int], *, entered_round: int = 1) -> None:
    """Gives numbers by entrant id to entrants who have none: one statement."""
    if not numbers:
        return
    given = by_id(numbers, column="number")
    e = EntrantRow
    session.execute(update_entrants(e.id == given.c.id).values(number=given.c.number, entered_round=entered_round))


def number_again(
    session: Session,
    event: EventRow,
    rows: Sequence[Any],
    *,
    before: Mapping[int, Before],
) -> None:
    """Entrants who are again what they were have their numbers again, or the next one where somebody else has it."""
    e = EntrantRow
    lost = [row.id for row in rows if before[row.id][0] not in PLAYED and row.number is not None]
    if lost:
        session.execute(update_entrants(e.id.in_(lost)).values(number=None, entered_round=1))
    wanted = {row.id: before[row.id][1] for row in rows if row.number is None and before[row.id][0] in PLAYED}
    if not wanted:
        return
    numbered = sa.select(e.number).where(e.event_id == event.id, e.number.is_not(None))
    taken = set(session.scalars(numbered))
    kept = {one: number for one, number in wanted.items() if number is not None and number not in taken}
    set_numbers(session, kept)
    others = [row for row in rows if row.id in wanted and row.id not in kept]
    number_newcomers(session, event, others, to=EntrantState.SEATED, upcoming=next_round(session, event.id))


def by_id(values: Mapping[int, int], *, column: str) -> Any:
    """A table of entrant ids and one column, sent as two arrays: one statement for any number of rows."""
    ids, others = sa.cast(list(values), ARRAY(sa.BigInteger)), sa.cast(list(values.values()), ARRAY(sa.Integer))
    return sa.func.unnest(ids, others).table_valued("id", column, name="given").render_derived()


def update_entrants(*where: sa.ColumnElement[bool]) -> Any:
    """An update of these entrants' rows, to be completed with values."""
    return sa.update(EntrantRow).where(*where).execution_options(synchronize_session=False)
