"""Ready events as rows: seated entrants with numbers, published and closed rounds, draft draws, accounts with roles.

For tests that need an event in a given state without playing it through the services. Rows are written as the owner of
the schema (`sqlalchemy.orm.Session` or a URL); numbers are entrants' numbers, never ids.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.accounts import AccountRow, GrantRow, Role
from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.events import EventRow, EventState
from qisai.db.profile_seed import profile_data
from qisai.db.records import FeedRow
from qisai.db.rounds import BoardRow, DrawRow, ResultLogRow, RoundRow, RoundState, SeatPlace, SeatRow
from qisai.kernel.draw_file import draw_to_json
from qisai.kernel.model import ALGORITHM, ByeKind, Draw, DrawnBoard, Result, Source
from qisai.kernel.profiles import PROFILES
from qisai.kernel.regulations_file import parse_regulations, regulations_to_json

Pair = tuple[int, int] | tuple[int, int, Result | None]
"""Numbers of first and second, and the result; without one (or None) not reported."""

_logins = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Field:
    """An event in the database with what tests ask for most."""

    event_id: int
    entrant_ids: Mapping[int, int]
    """Number → id of the entrant row."""
    board_ids: dict[tuple[int, int], int] = field(default_factory=dict)
    """(round, board number) → id of the board row."""
    round_ids: dict[int, int] = field(default_factory=dict)


@contextmanager
def owner_of(url: str) -> Iterator[Session]:
    """A session at the owner's URL that commits at the end."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with Session(engine, expire_on_commit=False) as session, session.begin():
        yield session


def account(
    session: Session,
    *,
    name: str = "赵裁判",
    role: Role | None = None,
    event_id: int | None = None,
    boards: tuple[int, int] | None = None,
) -> int:
    """A new active account, with one role where given; its id."""
    row = AccountRow(login=f"account-{next(_logins)}", name=name)
    session.add(row)
    session.flush()
    if role is not None:
        grant(session, account_id=row.id, role=role, event_id=event_id, boards=boards)
    return row.id


def grant(
    session: Session,
    *,
    account_id: int,
    role: Role,
    event_id: int | None = None,
    boards: tuple[int, int] | None = None,
) -> None:
    """One role of an account: in one event, or everywhere (`event_id` None)."""
    low, high = boards if boards is not None else (None, None)
    session.add(
        GrantRow(
            account_id=account_id, role=role, event_id=event_id, board_from=low, board_to=high, granted_by="a test"
        )
    )
    session.flush()


def ready_event(
    session: Session,
    *,
    entrants: int = 4,
    profile: str = "xiangqi",
    regulations: Mapping[str, Any] | None = None,
    state: EventState = EventState.CLOSED,
    is_public: bool = True,
    created_by: int | None = None,
    clubs: Sequence[str] = (),
) -> Field:
    """An event whose `entrants` entrants are seated with numbers 1 … n, named 棋手1 …; nothing is paired yet.

    `regulations` is a partial object of `qisai.tournament/1`, merged over the profile's; ratings fall with the number.
    """
    defaults = PROFILES[profile].regulations()
    event = EventRow(
        name="测试赛",
        state=state,
        profile=profile,
        profile_copy=profile_data(PROFILES[profile]),
        regulations=regulations_to_json(parse_regulations(dict(regulations or {}), profile_defaults=defaults)),
        is_public=is_public,
        time_zone="Asia/Shanghai",
        created_by=created_by,
    )
    session.add(event)
    session.flush()
    session.add(FeedRow(event_id=event.id, feed_no=1, pairing_no=1))
    ids = {
        number: add_entrant(session, event.id, number=number, club=clubs[number - 1] if clubs else "")
        for number in range(1, entrants + 1)
    }
    return Field(event.id, ids)


def add_entrant(
    session: Session,
    event_id: int,
    *,
    number: int | None,
    state: EntrantState = EntrantState.SEATED,
    club: str = "",
    entered_round: int = 1,
    withdrawn_from: int | None = None,
) -> int:
    """One more entrant of an event; its id."""
    row = EntrantRow(
        event_id=event_id,
        number=number,
        name=f"棋手{number if number is not None else '?'}",
        club=club,
        seed=None if number is None else max(0, 2400 - 5 * number),
        state=state,
        entered_round=entered_round,
        withdrawn_from=withdrawn_from,
    )
    session.add(row)
    session.flush()
    return row.id


def add_round(
    session: Session,
    event: Field,
    *,
    pairs: Iterable[Pair],
    byes: Iterable[tuple[int, ByeKind]] = (),
    state: RoundState = RoundState.PUBLISHED,
) -> int:
    """The event's next round as published (or closed) on boards 1 …, with results and their log rows; its id.

    The event is running and frozen afterwards.
    """
    number = len(event.round_ids) + 1
    pairs, byes = list(pairs), list(byes)
    bye = next((entrant for entrant, kind in byes if kind is ByeKind.PAIRING), None)
    draw_id = add_draft(session, event, round_no=number, pairs=pairs, bye=bye, state="published")
    row = RoundRow(
        event_id=event.event_id,
        number=number,
        state=state,
        draw_id=draw_id,
        published_at=sa.func.now(),
        published_by="a test",
        closed_at=sa.func.now() if state is RoundState.CLOSED else None,
        closed_by="a test" if state is RoundState.CLOSED else None,
        version=2 if state is RoundState.PUBLISHED else 3,
    )
    session.add(row)
    session.flush()
    event.round_ids[number] = row.id
    for place, pair in enumerate(pairs, start=1):
        event.board_ids[number, place] = _add_board(session, event, row, place=place, pair=pair)
    for entrant, kind in byes:
        session.add(SeatRow(round_id=row.id, entrant_id=event.entrant_ids[entrant], place=SeatPlace(kind.value)))
    session.execute(
        sa.update(EventRow)
        .where(EventRow.id == event.event_id)
        .values(
            state=EventState.RUNNING,
            frozen_at=sa.func.coalesce(EventRow.frozen_at, sa.func.now()),
            algorithm=sa.func.coalesce(EventRow.algorithm, ALGORITHM),
        )
    )
    bump(session, event.event_id)
    return row.id


def _add_board(session: Session, event: Field, round_: RoundRow, *, place: int, pair: Pair) -> int:
    first, second = event.entrant_ids[pair[0]], event.entrant_ids[pair[1]]
    result = pair[2] if len(pair) == 3 else None
    board = BoardRow(
        event_id=event.event_id,
        round_id=round_.id,
        number=place,
        first_entrant_id=first,
        second_entrant_id=second,
        result=result,
        version=1 if result is None else 2,
        updated_by="a test",
    )
    session.add(board)
    session.flush()
    session.add_all(
        SeatRow(round_id=round_.id, entrant_id=entrant, board_id=board.id, place=side)
        for entrant, side in ((first, SeatPlace.FIRST), (second, SeatPlace.SECOND))
    )
    if result is not None:
        blank = {"result": None, "swapped": False, "note": ""}
        session.add(
            ResultLogRow(
                event_id=event.event_id,
                board_id=board.id,
                round_no=round_.number,
                version=2,
                old=blank,
                new={**blank, "result": result.value},
                actor_name="a test",
            )
        )
    session.flush()
    return board.id


def add_draft(
    session: Session,
    event: Field,
    *,
    round_no: int,
    pairs: Iterable[Pair],
    bye: int | None = None,
    state: str = "draft",
    needs_acceptance: bool = False,
) -> int:
    """A draw of a round as the pairing worker would store it now, on boards 1 …; its id. Its cost is left empty."""
    draw = Draw(
        round=round_no,
        boards=tuple(
            DrawnBoard(board=place, first=pair[0], second=pair[1]) for place, pair in enumerate(pairs, start=1)
        ),
        bye=bye,
        cost={},
        cross_cap=0,
        optimal=False,
        proven=(),
    )
    numbers = sa.select(sa.func.coalesce(sa.func.max(DrawRow.number), 0) + 1).where(
        DrawRow.event_id == event.event_id, DrawRow.round_no == round_no
    )
    pairing_no = sa.select(FeedRow.pairing_no).where(FeedRow.event_id == event.event_id)
    row = DrawRow(
        event_id=event.event_id,
        round_no=round_no,
        number=session.execute(numbers).scalar_one(),
        state=state,
        source=Source.COMPUTED,
        pairing_no=session.execute(pairing_no).scalar_one(),
        document=draw_to_json(draw),
        snapshot={},
        needs_acceptance=needs_acceptance,
    )
    session.add(row)
    session.flush()
    return row.id


def bump(session: Session, event_id: int, *, pairing: bool = True) -> None:
    """What every write through the services does: the event's next feed number (without an entry)."""
    session.execute(
        sa.update(FeedRow)
        .where(FeedRow.event_id == event_id)
        .values(feed_no=FeedRow.feed_no + 1, pairing_no=FeedRow.pairing_no + int(pairing))
    )
