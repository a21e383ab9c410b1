"""Steps between the states of entrants (docs/rules.md section 10): one or many at once, every one of them logged.

The table of steps is `services.registration.states`; here is what they do. Numbers of statements do not grow with the
number of entrants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState, TransitionRow
from qisai.db.events import EventRow
from qisai.db.many_rows import insert_many
from qisai.errors import Conflict, FieldError, Invalid
from qisai.ledger import feed
from qisai.ledger.actor import Actor
from services.registration.operations.held import require_before_round_1
from services.registration.operations.judging import Mover, Refusal, Step, judge
from services.registration.operations.members import returning_complaints
from services.registration.operations.numbers import Before, by_id, number_again, number_newcomers
from services.registration.queries.rounds import next_round
from services.registration.states import IN_POOL, PLAYED, PUBLIC_STATES, STEPS, TAKES_PLACE, When

S = EntrantState
LEFT: Final = frozenset({S.WITHDRAWN, S.DISQUALIFIED})
MOST_NAMED: Final = 100
"""Entrants that one feed entry names; of more it says how many."""
_MOVED_UP: Final = "a place became free"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What became of it: versions and states by entrant id, refusals, and who moved up from the waiting list."""

    changed: Mapping[int, tuple[int, EntrantState]]
    refused: Sequence[Refusal]
    moved_up: Sequence[int] = ()
    before: Sequence[Any] = ()
    """Rows of those who moved, as they were."""


Rows = Sequence[Any]
"""Rows of id, name, number, state, version, withdrawn_from."""


def entrants_where(session: Session, event_id: int, *where: sa.ColumnElement[bool]) -> Rows:
    """Entrants of an event for a step, those who registered first in front."""
    e = EntrantRow
    columns = (e.id, e.name, e.number, e.state, e.version, e.withdrawn_from)
    query = sa.select(*columns).where(e.event_id == event_id, *where)
    return session.execute(query.order_by(e.id)).all()


def take_step(session: Session, mover: Mover, event: EventRow, rows: Rows, step: Step) -> Moved:
    """Moves those of `rows` who may take the step, in an event that is held, and publishes it.

    What hangs on rounds is tested under the feed's lock. Raises `Invalid` for a round to leave from that cannot be,
    `Conflict` `frozen` or `round-published` where a round was published just now.
    """
    upcoming = next_round(session, event.id)
    from_round = _leaving_round(event, step, upcoming)
    may, refused = judge(
        mover, event, rows, step, upcoming=upcoming, free=free_places(session, event),
        elsewhere=returning_complaints(session, event, rows),
    )  # fmt: skip
    changed = _move(session, mover.actor, event, may, to=step.to, reason=step.reason, from_round=from_round)
    number_newcomers(session, event, may, to=step.to, upcoming=upcoming)
    result = {entrant_id: (version, step.to) for entrant_id, version in changed.items()}
    if step.to is S.REGISTERED and not event.needs_approval:
        result |= _approve(session, mover.actor, event, changed)
    moved_up = fill_free_places(session, mover.actor, event)
    if result:
        touched = any(row.state in PLAYED for row in may) or step.to in PLAYED
        feed.publish(session, event.id, "entrant.state", data=told(result), pairing=touched)
        _test_rounds(session, event, may, step, upcoming=upcoming)
    return Moved(changed=result, refused=refused, moved_up=moved_up, before=may)


def told(changed: Mapping[int, tuple[int, EntrantState]]) -> dict[str, Any]:
    """What the feed, which everybody may read, says of a step: nothing about those whom the public does not see."""
    targets = {state for _version, state in changed.values()}
    if len(targets) != 1 or not targets <= PUBLIC_STATES:
        return {"count": len(changed)}
    named = sorted(changed) if len(changed) <= MOST_NAMED else []
    return {"count": len(changed), "to": targets.pop().slug, "entrants": named}


def _leaving_round(event: EventRow, step: Step, upcoming: int) -> int | None:
    if step.to not in LEFT:
        if step.from_round is not None:
            detail = "from_round is for those who withdraw or are disqualified"
            raise Invalid("from-round", detail, errors=[FieldError("/from_round", detail, "from-round-of-no-use")])
        return None
    wanted = step.from_round if step.from_round is not None else upcoming
    last = event.regulations["rounds"]
    if wanted < upcoming or (last is not None and wanted > last + 1):
        upper = "" if last is None else f" and at most {last + 1}"
        detail = f"is {wanted}, but must be at least {upcoming}, the next round to be paired{upper}"
        fault = FieldError("/from_round", detail, "from-round", {"value": wanted, "low": upcoming})
        raise Invalid("from-round", f"from_round {detail}.", errors=[fault])
    return wanted


def _move(
    session: Session,
    actor: Actor,
    event: EventRow,
    rows: Iterable[Any],
    *,
    to: EntrantState,
    reason: str,
    from_round: int | None = None,
) -> dict[int, int]:
    """The change itself and its log rows; new versions by id. Whoever was changed meanwhile is left out."""
    rows = list(rows)
    if not rows:
        return {}
    e = EntrantRow
    seen = by_id({row.id: row.version for row in rows}, column="version")
    statement = (
        sa.update(e)
        .where(e.id == seen.c.id, e.version == seen.c.version, e.event_id == event.id)
        .values(state=to, version=e.version + 1, withdrawn_from=from_round)
        .returning(e.id, e.version)
        .execution_options(synchronize_session=False)
    )
    changed = {row.id: row.version for row in session.execute(statement)}
    log_steps(session, actor, event.id, [(row.id, row.state, to) for row in rows if row.id in changed], reason=reason)
    return changed


def log_steps(
    session: Session,
    actor: Actor,
    event_id: int,
    steps: Iterable[tuple[int, EntrantState | None, EntrantState]],
    *,
    reason: str,
) -> None:
    """One row for every (entrant id, from, to), in their order."""
    who = {"actor_account_id": actor.account_id, "actor_name": actor.name, "request_id": actor.request_id}
    same = {"event_id": event_id, "reason": reason, "device": actor.device, **who}
    rows = [{"entrant_id": one, "from_state": source, "to_state": target, **same} for one, source, target in steps]
    insert_many(session, TransitionRow, rows)


def _approve(
    session: Session, actor: Actor, event: EventRow, registered: Mapping[int, int]
) -> dict[int, tuple[int, EntrantState]]:
    """Where the event needs no approval, registration goes to approved at once."""
    rows = entrants_where(session, event.id, EntrantRow.id.in_(registered))
    changed = _move(session, actor, event, rows, to=S.APPROVED, reason="")
    return {entrant_id: (version, S.APPROVED) for entrant_id, version in changed.items()}


def put_back(
    session: Session,
    actor: Actor,
    event: EventRow,
    rows: Rows,
    *,
    before: Mapping[int, Before],
    step_id: int,
) -> dict[int, tuple[int, EntrantState]]:
    """Entrants are again what they were before a step; versions and states by id.

    A number that somebody else has by now is replaced by the next one. Every one of them is logged.
    """
    changed: dict[int, tuple[int, EntrantState]] = {}
    for to, from_round in sorted({(state, left) for state, _number, left in before.values()}, key=str):
        these = [row for row in rows if (before[row.id][0], before[row.id][2]) == (to, from_round)]
        moved = _move(session, actor, event, these, to=to, reason=f"undo of step {step_id}", from_round=from_round)
        changed |= {entrant_id: (version, to) for entrant_id, version in moved.items()}
    number_again(session, event, [row for row in rows if row.id in changed], before=before)
    return changed


def free_places(session: Session, event: EventRow) -> int | None:
    """Places left in an event that is held; None without a limit. Below 0 where the limit was lowered."""
    if event.capacity is None:
        return None
    taken = sa.select(sa.func.count()).where(EntrantRow.event_id == event.id, EntrantRow.state.in_(TAKES_PLACE))
    return event.capacity - int(session.execute(taken).scalar_one())


def fill_free_places(session: Session, actor: Actor, event: EventRow) -> list[int]:
    """Those who wait move up in order while there are places, in an event that is held; their ids."""
    e, t = EntrantRow, TransitionRow
    free = free_places(session, event)
    if free is not None and free <= 0:
        return []
    since = sa.select(sa.func.max(t.id)).where(t.entrant_id == e.id, t.to_state == S.WAITING).scalar_subquery()
    query = sa.select(e.id, e.name, e.number, e.state, e.version).where(e.event_id == event.id, e.state == S.WAITING)
    rows = session.execute(query.order_by(since, e.id).limit(free)).all()
    changed = _move(session, actor, event, rows, to=S.REGISTERED, reason=_MOVED_UP)
    if changed and not event.needs_approval:
        _approve(session, actor, event, changed)
    return list(changed)


def unknown(rows: Sequence[Any], wanted: Iterable[int]) -> list[Refusal]:
    """Refusals of ids that are no entrants of the event."""
    missing = sorted(set(wanted) - {row.id for row in rows})
    return [
        Refusal(entrant_id=one, name="", slug="entrant-not-found", detail=f"There is no entrant {one} in this event.")
        for one in missing
    ]


def _test_rounds(session: Session, event: EventRow, rows: Sequence[Any], step: Step, *, upcoming: int) -> None:
    """Under the feed's lock: what was decided from the published rounds still holds."""
    if any(When.BEFORE_ROUND_1 in STEPS[row.state, step.to].when for row in rows):
        require_before_round_1(session, event.id, what="entrants withdraw, they are not taken out")
    now = next_round(session, event.id)
    if (step.to in LEFT or step.to in IN_POOL) and now != upcoming:
        detail = f"Round {now - 1} was published or taken back at this moment; look at it, then try again."
        raise Conflict("round-published", detail, round=now - 1, next_round=now)
