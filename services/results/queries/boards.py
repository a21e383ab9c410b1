"""Boards with the names of who sits there."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from qisai.db.entrants import EntrantRow
from qisai.db.rounds import BoardRow, ResultConflictRow, ResultLogRow, RoundRow, RoundState
from qisai.db.statements import Statement
from qisai.errors import Gone, NotFound
from qisai.kernel.model import Result
from qisai.web.rights import EventOf


def _boards() -> Any:
    b = BoardRow
    first, second = aliased(EntrantRow), aliased(EntrantRow)
    of_board = (b.id, b.event_id, b.round_id, b.number, b.result, b.swapped, b.note)
    of_change = (b.version, b.updated_at, b.updated_by, b.updated_account_id, b.updated_device, b.unpublished_at)
    r = RoundRow
    of_round = (r.number.label("round_no"), r.state.label("round_state"), r.closed_by, r.closed_at)
    names = [
        column.label(f"{side}_{name}")
        for side, e in (("first", first), ("second", second))
        for name, column in (("id", e.id), ("number", e.number), ("name", e.name), ("club", e.club))
    ]
    return (
        sa.select(*of_board, *of_change, *of_round, *names)
        .join(RoundRow, RoundRow.id == b.round_id)
        .join(first, first.id == b.first_entrant_id)
        .join(second, second.id == b.second_entrant_id)
    )


BOARDS: Final = _boards()
"""The query of boards with their round and the names of who sits there; add what it is to find. Made but once."""
_BOARD: Final = BOARDS.where(BoardRow.id == sa.bindparam("board_id"))
HELD_BOARD: Final = Statement(_BOARD.with_for_update(read=True, of=RoundRow))
"""The statement of `held_board`."""
EVENT_OF_BOARD: Final = EventOf(
    "SELECT event_id FROM board WHERE id = :about",
    "board_id",
    lambda board_id: NotFound("board-not-found", f"There is no board {board_id}."),
)
"""The event of the board in a path, for its rights."""


def board(session: Session, board_id: int) -> Any:
    """One board with names and its round. Raises `NotFound`, and `Gone` for one whose draw was taken back."""
    row = session.execute(_BOARD, {"board_id": board_id}).one_or_none()
    if row is None:
        raise NotFound("board-not-found", f"There is no board {board_id}.")
    if row.unpublished_at is not None:
        raise Gone(
            "board-unpublished",
            f"Board {row.number} of round {row.round_no} was taken back at {row.unpublished_at.isoformat()};"
            " look at the round's boards again.",
            round=row.round_no,
        )
    return row


def held_board(session: Session, board_id: int) -> Any | None:
    """One board as it is, its round held so that nobody changes its state meanwhile; None where there is none."""
    row = HELD_BOARD.first(session.connection(), {"board_id": board_id})
    if row is None:
        return None
    said = {"result": None if row.result is None else Result(row.result), "round_state": RoundState(row.round_state)}
    return SimpleNamespace(**{**row._asdict(), **said})


def boards_of_round(session: Session, event_id: int, *, round_no: int) -> Sequence[Any]:
    """The boards of a round in order of their numbers; none for a round that is not published."""
    here = (BoardRow.event_id == event_id, RoundRow.number == round_no, BoardRow.unpublished_at.is_(None))
    return session.execute(BOARDS.where(*here).order_by(BoardRow.number)).all()


def open_boards(session: Session, event_id: int, *, before: int) -> Sequence[Any]:
    """Boards without a result in published rounds before `before`, in order of round and number."""
    here = (BoardRow.event_id == event_id, RoundRow.number < before)
    missing = (BoardRow.unpublished_at.is_(None), BoardRow.result.is_(None))
    return session.execute(BOARDS.where(*here, *missing).order_by(RoundRow.number, BoardRow.number)).all()


def present_board(session: Session, board_id: int) -> Any:
    """One board as it is, also one whose draw was taken back, with who wrote it last."""
    return session.execute(_BOARD, {"board_id": board_id}).one()


def reason_of(session: Session, board_id: int, *, version: int) -> str | None:
    """Why the board was changed to this version; "" where nothing was said, None where no change made it."""
    made = sa.select(ResultLogRow.reason).where(ResultLogRow.board_id == board_id, ResultLogRow.version == version)
    return session.execute(made).scalar_one_or_none()


def log_of_board(session: Session, board_id: int) -> Sequence[ResultLogRow]:
    """Every change of a board, oldest first."""
    query = sa.select(ResultLogRow).where(ResultLogRow.board_id == board_id)
    return session.scalars(query.order_by(ResultLogRow.version)).all()


def conflicts_of_board(session: Session, board_id: int) -> Sequence[ResultConflictRow]:
    """Every write of a board that was refused because it saw an older version, oldest first."""
    query = sa.select(ResultConflictRow).where(ResultConflictRow.board_id == board_id)
    return session.scalars(query.order_by(ResultConflictRow.at, ResultConflictRow.id)).all()
