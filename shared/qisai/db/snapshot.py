"""Rows → kernel: an event's rows as a tournament (the way back, for imports, is `snapshot_writing`).

These two files alone know both. `read_tournament` takes a few queries, whose number does not grow with the event.
Nothing is stored twice: late-entry byes are told from `entrant.entered_round`, absence by a check-in deadline from
attendance, at the moment the pool is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from qisai.db import session as transactions
from qisai.db.entrants import (
    AbsenceRow,
    AttendanceDeadlineRow,
    AttendanceRow,
    EntrantRow,
    EntrantState,
    ForbiddenPairRow,
    MemberRow,
    RequestedByeRow,
)
from qisai.db.events import EventRow
from qisai.db.records import FeedRow
from qisai.db.rounds import AdjustmentRow, BoardRow, RoundRow, RoundState, SeatRow
from qisai.errors import Conflict, Invalid, NotFound
from qisai.kernel.model import (
    ALGORITHM,
    Adjustment,
    Board,
    Bye,
    ByeKind,
    Entrant,
    ForbiddenPair,
    NextRound,
    Regulations,
    Round,
    Tournament,
)
from qisai.kernel.outcomes import LATE_ENTRY_BYES
from qisai.kernel.regulations_file import parse_regulations

Rows = Sequence[Any]
"""Rows of a query, read by the names of their columns."""

EVER_SEATED: Final = (EntrantState.SEATED, EntrantState.WITHDRAWN, EntrantState.DISQUALIFIED)
"""States of those who are or were in the pairing pool: only they, and only with a number, are in the tournament."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A tournament with what it takes to find its rows again."""

    tournament: Tournament
    pairing_no: int
    """The event's pairing number when this was read: another one later means that the input changed."""
    feed_no: int
    entrant_ids: Mapping[int, int]
    """Number → id of the entrant row."""


def read_tournament(
    session: Session,
    event_id: int,
    *,
    round_no: int | None = None,
    for_pairing: bool = False,
    with_next: bool = False,
    with_games: bool = True,
) -> Snapshot:
    """The event's tournament with the published rounds before `round_no` (None: all of them).

    Boards whose players sat the other way round have the sides as played. `with_next` adds who will not be in the next
    round; `for_pairing` too, and insists that this round can be drawn: it is not published, the rounds before it are,
    and its check-in is over (docs/rules.md sections 8 and 10). Without `with_games` the past rounds come empty: enough
    to say who is present, and of a large field that has played long only a small part. Read it in one transaction that
    sees one moment (`Database.snapshot`), or compare `pairing_no` under the feed's lock afterwards.

    Raises `NotFound` for an unknown event; with `for_pairing` also `Conflict`: `round-published` (by whom, when),
    `earlier-round-missing`, `attendance-open` (until when).
    """
    event = _event(session, event_id)
    # Complete and frozen: a profile that a later release no longer ships must not matter.
    regulations = parse_regulations(event.regulations, profile_defaults=Regulations(profile=event.profile_named))
    entrants = _entrants(session, event_id)
    rounds = _rounds(session, event_id)
    last = len(rounds) if round_no is None else round_no - 1
    drawing = last + 1
    if for_pairing:
        _refuse_published(rounds, drawing)
    past = [row for row in rounds if row.number <= last and row.state is not RoundState.PENDING]
    upcoming = None
    if for_pairing or with_next:
        upcoming = _next_round(session, event_id, drawing, entrants, regulations, strict=for_pairing)
    tournament = Tournament(
        regulations=regulations,
        entrants=tuple(_entrant(row, drawing) for row in entrants),
        forbidden_pairs=_forbidden_pairs(session, event_id, {row.id: row.number for row in entrants}),
        lots={row.number: row.lot for row in entrants if row.lot is not None},
        rounds=_past_rounds(session, past, entrants, regulations) if with_games else _empty_rounds(past),
        next=upcoming,
        algorithm=event.algorithm or ALGORITHM,
        adjustments=_adjustments(session, event_id, {row.id: row.number for row in entrants}),
    )
    return Snapshot(
        tournament=tournament,
        pairing_no=event.pairing_no,
        feed_no=event.feed_no,
        entrant_ids={row.number: row.id for row in entrants},
    )


def _event(session: Session, event_id: int) -> Any:
    named = EventRow.regulations["profile"].astext.label("profile_named")
    query = sa.select(EventRow.regulations, named, EventRow.algorithm, FeedRow.feed_no, FeedRow.pairing_no)
    row = session.execute(
        query.join(FeedRow, FeedRow.event_id == EventRow.id).where(EventRow.id == event_id)
    ).one_or_none()
    if row is None:
        raise NotFound("event-not-found", f"There is no event {event_id}.")
    return row


def _entrants(session: Session, event_id: int) -> Rows:
    member = MemberRow
    members = (
        sa.select(sa.func.array_agg(aggregate_order_by(member.name, member.position)))
        .where(member.entrant_id == EntrantRow.id)
        .scalar_subquery()
    )
    e = EntrantRow
    columns = (e.id, e.number, e.name, e.club, e.seed, e.state, e.entered_round, e.withdrawn_from, e.fixed_board, e.lot)
    query = sa.select(*columns, members.label("members"))
    return session.execute(
        query.where(e.event_id == event_id, e.number.is_not(None), e.state.in_(EVER_SEATED)).order_by(e.number)
    ).all()


def _entrant(row: Any, drawing: int) -> Entrant:
    withdrawn_from = row.withdrawn_from
    if withdrawn_from is None and row.state is not EntrantState.SEATED:
        withdrawn_from = drawing  # only seated entrants are paired, whatever else is written down
    return Entrant(
        number=row.number,
        name=row.name,
        club=row.club,
        seed=row.seed,
        withdrawn_from=withdrawn_from,
        fixed_board=row.fixed_board,
        members=tuple(row.members or ()),
    )


def _rounds(session: Session, event_id: int) -> Rows:
    r = RoundRow
    columns = (r.id, r.number, r.state, r.published_by, r.published_at)
    return session.execute(
        sa.select(*columns).where(r.event_id == event_id, r.state != RoundState.PENDING).order_by(r.number)
    ).all()


def _refuse_published(rounds: Rows, drawing: int) -> None:
    published = {row.number: row for row in rounds}
    if drawing in published:
        row = published[drawing]
        raise Conflict(
            "round-published",
            f"Round {drawing} was published by {row.published_by} at {row.published_at.isoformat()}.",
            round=drawing,
            published_by=row.published_by,
            published_at=row.published_at.isoformat(),
        )
    for number in range(1, drawing):
        if number not in published:
            raise Conflict("earlier-round-missing", f"Round {number} is not published yet.", round=number)


def _empty_rounds(past: Rows) -> tuple[Round, ...]:
    return tuple(Round(number=row.number) for row in past)


def _past_rounds(session: Session, past: Rows, entrants: Rows, regulations: Regulations) -> tuple[Round, ...]:
    number_of = {row.id: row.number for row in entrants}
    ids = [row.id for row in past]
    boards = _boards(session, ids, number_of)
    byes = _byes(session, ids, number_of)
    late = LATE_ENTRY_BYES[regulations.late_entry]
    rounds = []
    for round_ in past:
        here = boards[round_.id]
        seated = {number for board in here for number in (board.first, board.second)}
        seated.update(bye.entrant for bye in byes[round_.id])
        byes[round_.id] += (
            Bye(entrant=row.number, kind=late)
            for row in entrants
            if row.entered_round > round_.number and row.number not in seated
        )
        in_order = tuple(sorted(byes[round_.id], key=lambda bye: bye.entrant))
        rounds.append(Round(number=round_.number, boards=tuple(here), byes=in_order))
    return tuple(rounds)


def _boards(session: Session, round_ids: Sequence[int], number_of: Mapping[int, int]) -> dict[int, list[Board]]:
    """Boards in order of their numbers by round id, sides as played."""
    b = BoardRow
    columns = (b.round_id, b.number, b.first_entrant_id, b.second_entrant_id, b.swapped, b.result)
    query = sa.select(*columns).where(b.round_id.in_(round_ids), b.unpublished_at.is_(None)).order_by(b.number)
    boards: dict[int, list[Board]] = defaultdict(list)
    for row in session.execute(query):
        first, second = (_number(number_of, entrant, row) for entrant in (row.first_entrant_id, row.second_entrant_id))
        if row.swapped:
            first, second = second, first
        boards[row.round_id].append(Board(board=row.number, first=first, second=second, result=row.result))
    return boards


def _byes(session: Session, round_ids: Sequence[int], number_of: Mapping[int, int]) -> dict[int, list[Bye]]:
    """Stored byes by round id."""
    s = SeatRow
    query = sa.select(s.round_id, s.entrant_id, s.place).where(s.round_id.in_(round_ids), s.board_id.is_(None))
    byes: dict[int, list[Bye]] = defaultdict(list)
    for row in session.execute(query):
        number = _number(number_of, row.entrant_id, row)
        byes[row.round_id].append(Bye(entrant=number, kind=ByeKind(row.place.value)))
    return byes


def _number(number_of: Mapping[int, int], entrant_id: int, row: Any) -> int:
    number = number_of.get(entrant_id)
    if number is None:
        raise Invalid(
            "entrant-out-of-place",
            f"Entrant with id {entrant_id} has a place in a published round (round id {row.round_id}) but is not seated"
            " with a number; give this entrant its number and state back.",
            entrant_id=entrant_id,
        )
    return number


def _forbidden_pairs(session: Session, event_id: int, number_of: Mapping[int, int]) -> tuple[ForbiddenPair, ...]:
    f = ForbiddenPairRow
    query = sa.select(f.a_entrant_id, f.b_entrant_id, f.from_round, f.to_round).where(f.event_id == event_id)
    pairs = []
    for row in session.execute(query):
        if row.a_entrant_id in number_of and row.b_entrant_id in number_of:
            a, b = sorted((number_of[row.a_entrant_id], number_of[row.b_entrant_id]))
            pairs.append(ForbiddenPair(entrants=(a, b), from_round=row.from_round, to_round=row.to_round))
    return tuple(sorted(pairs, key=lambda pair: (pair.entrants, pair.from_round, pair.to_round or 0)))


def _adjustments(session: Session, event_id: int, number_of: Mapping[int, int]) -> tuple[Adjustment, ...]:
    a = AdjustmentRow
    query = sa.select(a.entrant_id, a.half_points, a.after_round, a.reason)
    rows = session.execute(query.where(a.event_id == event_id, a.taken_back_at.is_(None)).order_by(a.id))
    adjustments = [
        Adjustment(
            entrant=number_of[row.entrant_id],
            half_points=row.half_points,
            after_round=row.after_round,
            reason=row.reason,
        )
        for row in rows
        if row.entrant_id in number_of
    ]
    return tuple(sorted(adjustments, key=lambda one: (one.after_round, one.entrant)))


def _next_round(
    session: Session,
    event_id: int,
    drawing: int,
    entrants: Rows,
    regulations: Regulations,
    *,
    strict: bool,
) -> NextRound:
    """Who of the entrants still in the event has no board in round `drawing`: a bye wins over an absence."""
    here = [row for row in entrants if _in_event(row, drawing)]
    in_event = sa.select(EntrantRow.id).where(EntrantRow.event_id == event_id)
    a, r = AbsenceRow, RequestedByeRow
    absent = set(session.scalars(sa.select(a.entrant_id).where(a.round_no == drawing, a.entrant_id.in_(in_event))))
    asked = {
        row.entrant_id: row.kind
        for row in session.execute(
            sa.select(r.entrant_id, r.kind).where(r.round_no == drawing, r.entrant_id.in_(in_event))
        )
    }
    absent |= _not_checked_in(session, event_id, drawing, here, strict=strict)
    late = LATE_ENTRY_BYES[regulations.late_entry]
    kinds = {row.number: late if row.entered_round > drawing else asked.get(row.id) for row in here}
    return NextRound(
        round=drawing,
        absent=tuple(row.number for row in here if row.id in absent and kinds[row.number] is None),
        byes=tuple(Bye(entrant=number, kind=kind) for number, kind in kinds.items() if kind is not None),
    )


def _in_event(row: Any, drawing: int) -> bool:
    if row.withdrawn_from is not None:
        return bool(row.withdrawn_from > drawing)
    return row.state is EntrantState.SEATED


def _not_checked_in(session: Session, event_id: int, drawing: int, here: Rows, *, strict: bool) -> set[int]:
    """Ids of those without attendance once the deadline has passed; nobody where the round has no check-in."""
    until = session.execute(
        sa.select(AttendanceDeadlineRow.until).where(
            AttendanceDeadlineRow.event_id == event_id, AttendanceDeadlineRow.round_no == drawing
        )
    ).scalar_one_or_none()
    if until is None:
        return set()
    if until > transactions.now(session):
        if not strict:
            return set()
        raise Conflict(
            "attendance-open",
            f"Check-in for round {drawing} is open until {until.isoformat()}; draw after that, or end it earlier.",
            round=drawing,
            until=until.isoformat(),
        )
    t = AttendanceRow
    in_event = sa.select(EntrantRow.id).where(EntrantRow.event_id == event_id)
    came = set(session.scalars(sa.select(t.entrant_id).where(t.round_no == drawing, t.entrant_id.in_(in_event))))
    return {row.id for row in here if row.id not in came}
