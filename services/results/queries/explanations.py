"""Why an entrant has the place a draw gives it: what the kernel needs for the answer, and how much it may work out."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy.orm import Session

from qisai.db.rounds import DrawState
from qisai.db.snapshot import read_tournament
from qisai.errors import NotFound
from qisai.kernel.draw_file import parse_draw
from qisai.kernel.model import Draw, NextRound, Tournament
from qisai.kernel.pairing.explain import MOST_WORKED_OUT, Explanation, explain
from services.results.queries import draws

WORKED_OUT: Final = ((200, MOST_WORKED_OUT), (400, 2))
"""Entrants up to which so many better choices are worked out, each by a whole draw of its own: a third of a second of
processor time at most, since a thread that answers results is held meanwhile. Beyond, only what is seen at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A draw, and the event before its round."""

    draw_id: int
    pairing_no: int
    tournament: Tournament
    draw: Draw
    number: int

    @property
    def key(self) -> Hashable:
        """The same key, the same answer. The pool stands in it, since the end of a check-in changes no number."""
        return (self.draw_id, self.pairing_no, self.tournament.next, self.number)

    @property
    def worked_out(self) -> int:
        """Better choices for which the best draw is worked out."""
        placed = 2 * len(self.draw.boards) + (self.draw.bye is not None)
        return next((most for size, most in WORKED_OUT if placed <= size), 0)

    def answer(self) -> Explanation:
        """What the kernel says. Raises `NotFound` `not-in-draw`, and what `compile_field` raises."""
        return explain(self.tournament, self.draw, self.number, worked_out=self.worked_out)


def question(session: Session, event_id: int, *, round_no: int, draw_no: int, number: int) -> Question:
    """Reads the draw and the event as it is today, up to the round before. Raises `NotFound`.

    A draft is held against today's pool; a draw that was published against the pool it was made for, which is just
    those it places. Earlier results are those of today in both cases.
    """
    row = draws.draw(session, event_id, round_no=round_no, number=draw_no)
    draw = parse_draw(row.document)
    if number not in _placed(draw):
        raise NotFound("not-in-draw", f"Number {number} has no place in this draw.", number=number)
    is_draft = row.state is DrawState.DRAFT
    snapshot = read_tournament(session, event_id, round_no=round_no, with_next=is_draft)
    tournament = snapshot.tournament if is_draft else _pool_of(snapshot.tournament, draw)
    return Question(draw_id=row.id, pairing_no=snapshot.pairing_no, tournament=tournament, draw=draw, number=number)


def _placed(draw: Draw) -> set[int]:
    placed = {number for board in draw.boards for number in (board.first, board.second)}
    return placed if draw.bye is None else placed | {draw.bye}


def _pool_of(tournament: Tournament, draw: Draw) -> Tournament:
    """The tournament with just those present whom the draw places, whoever withdrew since."""
    placed = _placed(draw)
    entrants = tuple(replace(one, withdrawn_from=None) if one.number in placed else one for one in tournament.entrants)
    absent = tuple(one.number for one in entrants if one.number not in placed)
    return replace(tournament, entrants=entrants, next=NextRound(round=draw.round, absent=absent, byes=()))
