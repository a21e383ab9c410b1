"""Rows for tests of constraints: one event with entrants, a round, a draw and a board, written as the owner."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Ids of what was written."""

    event: int
    entrants: tuple[int, ...]
    round: int
    board: int


def write(session: Session, statement: str, **values: object) -> int:
    """Runs one insert and returns the id it made."""
    return int(session.execute(sa.text(statement + " RETURNING id"), values).scalar_one())


def write_event(session: Session, *, entrants: int = 6) -> Event:
    """An event with `entrants` seated entrants, a published round 1, and its board 1 of the first two without seats."""
    event = write(
        session,
        "INSERT INTO event (name, profile, profile_copy, regulations, time_zone) "
        "VALUES ('Spring open', 'xiangqi', '{}', '{}', 'Asia/Shanghai')",
    )
    ids = tuple(
        write(
            session,
            "INSERT INTO entrant (event_id, number, name, state) VALUES (:event, :number, :name, 5)",
            event=event,
            number=number,
            name=f"Entrant {number}",
        )
        for number in range(1, entrants + 1)
    )
    round_id = write(
        session, "INSERT INTO round (event_id, number, state) VALUES (:event, 1, 'published')", event=event
    )
    board = write_board(session, event=event, round_id=round_id, number=1, first=ids[0], second=ids[1])
    return Event(event=event, entrants=ids, round=round_id, board=board)


def write_board(session: Session, *, event: int, round_id: int, number: int, first: int, second: int) -> int:
    """A board of a round; returns its id."""
    return write(
        session,
        "INSERT INTO board (event_id, round_id, number, first_entrant_id, second_entrant_id) "
        "VALUES (:event, :round, :number, :first, :second)",
        event=event,
        round=round_id,
        number=number,
        first=first,
        second=second,
    )
