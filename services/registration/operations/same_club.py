"""Keeping people of one club apart for some rounds: forbidden pairs made from clubs as they stand, or taken back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, ForbiddenPairRow
from qisai.db.many_rows import insert_many
from qisai.errors import Conflict
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from services.registration.operations.held import hold_for_entries, require_planned
from services.registration.states import GONE

MOST_PAIRS: Final = 20_000
"""Pairs that one event may have made at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Club:
    """A club with its entrants, and how many pairs of them were added."""

    name: str
    entrants: int
    added: int


def keep_clubs_apart(
    session: Session,
    actor: Actor,
    *,
    event_id: int,
    from_round: int,
    to_round: int | None,
    clubs: Collection[str] | None = None,
) -> Sequence[Club]:
    """Forbids every pair within a club (`clubs`: of these only) in these rounds, but those that are there already.

    Who enters later is not among them: ask again. Raises `NotFound`, `Invalid`, `Conflict`: `too-many-pairs`,
    `event-over`.
    """
    event = hold_for_entries(session, event_id)
    require_planned(event, from_round, pointer="/from_round")
    e, f = EntrantRow, ForbiddenPairRow
    query = sa.select(e.id, e.club).where(e.event_id == event_id, e.club != "", e.state.not_in(GONE)).order_by(e.id)
    members: dict[str, list[int]] = defaultdict(list)
    for row in session.execute(query):
        if clubs is None or row.club in clubs:
            members[row.club].append(row.id)
    there = sa.select(f.a_entrant_id, f.b_entrant_id).where(
        f.event_id == event_id, f.from_round == from_round, f.to_round.is_not_distinct_from(to_round)
    )
    present = {(row.a_entrant_id, row.b_entrant_id) for row in session.execute(there)}
    _require_few(sum(len(ids) * (len(ids) - 1) // 2 for ids in members.values()))
    new = {name: [pair for pair in combinations(ids, 2) if pair not in present] for name, ids in members.items()}
    rows = [
        {
            "event_id": event_id,
            "a_entrant_id": a,
            "b_entrant_id": b,
            "from_round": from_round,
            "to_round": to_round,
            "of_club": True,
        }
        for pairs in new.values()
        for a, b in pairs
    ]
    if rows:
        insert_many(session, f, rows)
        said = {"from_round": from_round, "to_round": to_round, "clubs": sorted(new), "pairs": len(rows)}
        _publish(session, actor, event_id, action="pair.forbid_same_club", said=said)
    return [Club(name=name, entrants=len(members[name]), added=len(new[name])) for name in sorted(members)]


def let_clubs_meet(session: Session, actor: Actor, *, event_id: int) -> int:
    """Takes back every pair that `keep_clubs_apart` made; how many. Those who were kept apart one by one stay so.

    Raises `NotFound`, `Conflict`.
    """
    hold_for_entries(session, event_id)
    f = ForbiddenPairRow
    made = sa.delete(f).where(f.event_id == event_id, f.of_club)
    gone = made.returning(f.id).execution_options(synchronize_session=False)
    count = len(session.scalars(gone).all())
    if count:
        _publish(session, actor, event_id, action="pair.allow_same_club", said={"pairs": count})
    return count


def _require_few(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        detail = f"These clubs make {pairs} pairs, more than the {MOST_PAIRS} that are taken; name smaller clubs."
        raise Conflict("too-many-pairs", detail, pairs=pairs, most=MOST_PAIRS)


def _publish(session: Session, actor: Actor, event_id: int, *, action: str, said: Mapping[str, object]) -> None:
    audit.record(session, actor, action=action, subject=f"event:{event_id}", event_id=event_id, new=said)
    feed.publish(session, event_id, "pairs.changed", pairing=True)
