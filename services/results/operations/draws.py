"""Accepting and publishing a draft draw.

Order of locks: the round, the draw, boards and seats, the event's feed; what hangs on other rows is tested under the
feed's lock, where nothing that pairing reads can change any more.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.events import EventRow, EventState
from qisai.db.rounds import BoardRow, DrawRow, DrawState, RoundRow, RoundState, SeatPlace, SeatRow
from qisai.db.session import compare_and_set
from qisai.db.snapshot import Snapshot, read_tournament
from qisai.errors import Blocker, Conflict, Stale
from qisai.kernel.check import violations
from qisai.kernel.draw_file import parse_draw
from qisai.kernel.model import Draw
from qisai.kernel.pairing.hand import unreasoned
from qisai.ledger import audit, event_states, feed
from qisai.ledger.actor import Actor
from services.results.answers import moment
from services.results.operations.rounds import require_running
from services.results.operations.rounds_held import change_round, hold_round
from services.results.queries import draws as queries


def accept_draw(
    session: Session, actor: Actor, *, event_id: int, round_no: int, number: int, seen_version: int
) -> None:
    """Says that a person has read a draft that needs it; a draft that does not, or is accepted already, stays as it is.

    Raises `NotFound`, `Stale`, `Conflict` `draw-not-draft`.
    """
    draw = queries.draw(session, event_id, round_no=round_no, number=number)
    require_seen(draw, seen_version)
    if not draw.needs_acceptance or draw.accepted_at is not None:
        return
    change_draw(session, draw, values={"accepted_at": sa.func.clock_timestamp(), "accepted_by": actor.name})
    _record(session, actor, "draw.accept", draw)
    feed.publish(session, event_id, "draw.accepted", data={"round": round_no, "draw": number})


def publish_draw(
    session: Session, actor: Actor, *, event_id: int, round_no: int, number: int, seen_version: int
) -> None:
    """Makes a draft the round: boards and seats, all or nothing. Publishing round 1 freezes the event.

    Raises `NotFound`, `Stale` (another version of the draft), `Conflict`: `round-published` (by whom, when),
    `draw-not-draft`, `needs-acceptance`, `earlier-round-missing`, `attendance-open`, `draw-breaks-rules`,
    `draw-stale` (pairing's input changed since it was drawn), `event-not-running`.
    """
    round_ = hold_round(session, event_id, number=round_no, create=True)
    assert round_ is not None
    if round_.state is not RoundState.PENDING:
        raise _published(round_)
    draw = queries.draw(session, event_id, round_no=round_no, number=number)
    require_seen(draw, seen_version)
    if draw.needs_acceptance and draw.accepted_at is None:
        raise Conflict("needs-acceptance", "This draw must be accepted first: read what it says about itself.")
    snapshot = read_tournament(session, event_id, round_no=round_no, for_pairing=True)
    document = parse_draw(draw.document)
    _require_legal(snapshot, document)
    change_draw(session, draw, values={"state": DrawState.PUBLISHED})
    values = {"draw_id": draw.id, "published_at": sa.func.clock_timestamp(), "published_by": actor.name}
    change_round(session, round_, to=RoundState.PUBLISHED, values=values)
    started = False
    if round_no == 1:  # the event before its entrants, which boards refer to: the order in which registration locks
        started = _freeze_event(session, event_id, algorithm=document.algorithm)
    _seat_everybody(session, actor, round_id=round_.id, event_id=event_id, snapshot=snapshot, draw=document)
    _record(session, actor, "draw.publish", draw)
    numbers = feed.publish(session, event_id, "round.published", data={"round": round_no}, pairing=True)
    if numbers.pairing_no - 1 != draw.pairing_no:
        raise Conflict(
            "draw-stale", "Results or the field changed since this draw was made; ask for a new one.", round=round_no
        )
    if started:
        event_states.moved(session, actor, event_id, source=EventState.CLOSED, target=EventState.RUNNING)
    require_running(session, event_id)


def _published(round_: RoundRow) -> Conflict:
    at = moment(round_.published_at)
    return Conflict(
        "round-published",
        f"Round {round_.number} was published already by {round_.published_by}.",
        round=round_.number,
        published_by=round_.published_by,
        published_at=at,
    )


def require_seen(draw: DrawRow, seen_version: int) -> None:
    """Raises `Conflict` `draw-not-draft` unless it is a draft, `Stale` unless it has the version that was seen."""
    if draw.state is not DrawState.DRAFT:
        detail = f"Draw {draw.number} of round {draw.round_no} is {draw.state.value}, no draft any more."
        raise Conflict("draw-not-draft", detail, state=draw.state.value)
    if draw.version != seen_version:
        raise stale(draw)


def stale(draw: DrawRow) -> Stale:
    """The refusal of a write that saw another draft than this one."""
    current = {
        "number": draw.number,
        "state": draw.state.value,
        "version": draw.version,
        "updated_by": draw.accepted_by,
        "updated_at": moment(draw.accepted_at or draw.created_at),
    }
    return Stale("stale", f"Draw {draw.number} of round {draw.round_no} was changed meanwhile.", current=current)


def change_draw(session: Session, draw: DrawRow, *, values: dict[str, Any]) -> None:
    """The compare-and-set on state and version. Raises where somebody else was first."""
    where = [DrawRow.id == draw.id, DrawRow.version == draw.version, DrawRow.state == DrawState.DRAFT]
    if not compare_and_set(session, DrawRow, where=where, values={**values, "version": draw.version + 1}):
        session.refresh(draw)
        require_seen(draw, -1)


def _require_legal(snapshot: Snapshot, document: Draw) -> None:
    """What a person wanted all the same, with a reason, does not stand in the way (docs/rules.md section 8)."""
    broken = unreasoned(violations(snapshot.tournament, document), document)
    if broken:
        blockers = [Blocker(v.breach.value, v.detail, {"entrants": list(v.entrants), "board": v.board}) for v in broken]
        raise Conflict("draw-breaks-rules", "This draw breaks the rules for today's field.", blockers=blockers)


def _seat_everybody(
    session: Session, actor: Actor, *, round_id: int, event_id: int, snapshot: Snapshot, draw: Draw
) -> None:
    """Boards, and one seat for everybody: at a board, or with a bye. The seat's key keeps anyone off a second board."""
    ids = snapshot.entrant_ids
    rows = [
        {
            "event_id": event_id,
            "round_id": round_id,
            "number": board.board,
            "first_entrant_id": ids[board.first],
            "second_entrant_id": ids[board.second],
            "updated_by": actor.name,
            "updated_account_id": actor.account_id,
        }
        for board in draw.boards
    ]
    board_ids: dict[int, int] = {}
    if rows:
        made = session.execute(sa.insert(BoardRow).returning(BoardRow.number, BoardRow.id), rows)
        board_ids = {row.number: row.id for row in made}
    seats = [
        {"entrant_id": ids[entrant], "board_id": board_ids[board.board], "place": place}
        for board in draw.boards
        for entrant, place in ((board.first, SeatPlace.FIRST), (board.second, SeatPlace.SECOND))
    ]
    byes = [] if draw.bye is None else [(draw.bye, SeatPlace.PAIRING)]
    if snapshot.tournament.next is not None:
        byes += [(bye.entrant, SeatPlace(bye.kind.value)) for bye in snapshot.tournament.next.byes]
        byes += [(entrant, SeatPlace.ABSENT) for entrant in snapshot.tournament.next.absent]
    seats += [{"entrant_id": ids[entrant], "board_id": None, "place": place} for entrant, place in byes]
    session.execute(sa.insert(SeatRow), [{"round_id": round_id, **seat} for seat in seats])


def _freeze_event(session: Session, event_id: int, *, algorithm: str) -> bool:
    """From now on regulations, numbers and the algorithm do not change; whether the event started with that.

    Before the feed, as in every write of an event: the row's own lock keeps registration from changing it meanwhile.
    """
    held = sa.select(EventRow.state).where(EventRow.id == event_id).with_for_update(key_share=True)
    source = session.execute(held).scalar_one()
    where = [EventRow.id == event_id, EventRow.state.in_((EventState.CLOSED, EventState.RUNNING))]
    values = {"state": EventState.RUNNING, "frozen_at": sa.func.clock_timestamp(), "algorithm": algorithm}
    if not compare_and_set(session, EventRow, where=where, values={**values, "version": EventRow.version + 1}):
        require_running(session, event_id)
    return source is EventState.CLOSED


def _record(session: Session, actor: Actor, action: str, draw: DrawRow) -> None:
    new = {"draw": draw.number, "source": draw.source.value}
    audit.record(session, actor, action=action, subject=f"round:{draw.round_no}", event_id=draw.event_id, new=new)
