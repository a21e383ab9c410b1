"""Draws of a round: what the chief referee reads before publishing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow
from qisai.db.records import FeedRow
from qisai.db.rounds import DrawRow, DrawState
from qisai.db.snapshot import read_tournament
from qisai.errors import NotFound
from qisai.kernel.check import Violation, violations
from qisai.kernel.draw_file import parse_draw
from qisai.kernel.model import Tournament
from qisai.kernel.pairing.hand import left_over
from qisai.kernel.scoring import pairing_scores
from qisai.ledger import feed


def draws_of_round(session: Session, event_id: int, *, round_no: int) -> Sequence[Any]:
    """All draws of a round, latest first, without their documents."""
    d = DrawRow
    columns = (d.id, d.number, d.state, d.source, d.needs_acceptance, d.accepted_at, d.accepted_by, d.pairing_no)
    query = sa.select(*columns, d.version, d.created_at, FeedRow.pairing_no.label("pairing_no_now"))
    return session.execute(
        query.join(FeedRow, FeedRow.event_id == d.event_id)
        .where(d.event_id == event_id, d.round_no == round_no)
        .order_by(d.number.desc())
    ).all()


def draw(session: Session, event_id: int, *, round_no: int, number: int) -> DrawRow:
    """One draw. Raises `NotFound`."""
    query = sa.select(DrawRow).where(
        DrawRow.event_id == event_id, DrawRow.round_no == round_no, DrawRow.number == number
    )
    row = session.scalars(query).one_or_none()
    if row is None:
        raise NotFound("draw-not-found", f"Round {round_no} has no draw {number}.", round=round_no, draw=number)
    return row


def names_by_number(session: Session, event_id: int) -> dict[int, Any]:
    """Rows of entrant_id, number, name, club of everybody with a number, by number."""
    e = EntrantRow
    query = sa.select(e.id.label("entrant_id"), e.number, e.name, e.club)
    rows = session.execute(query.where(e.event_id == event_id, e.number.is_not(None)))
    return {row.number: row for row in rows if row.number is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Today:
    """How a draw stands to the event as it is now."""

    pairing_no: int
    violations: Sequence[Violation]
    """Of a draft, for today's field; other draws are not judged."""
    left_over: Sequence[tuple[int, int]] = ()
    """Number and score (half-points, for pairing) of everybody present without a place, best first."""


def state_today(session: Session, draw: DrawRow) -> Today:
    """What of a draft breaks the rules today, and whether pairing's input changed since."""
    numbers = feed.numbers(session, draw.event_id)
    if draw.state is not DrawState.DRAFT:
        return Today(pairing_no=numbers.pairing_no, violations=())
    snapshot = read_tournament(session, draw.event_id, round_no=draw.round_no, with_next=True)
    broken = violations(snapshot.tournament, parse_draw(draw.document))
    return today(snapshot.tournament, broken, pairing_no=numbers.pairing_no)


def today(tournament: Tournament, broken: Sequence[Violation], *, pairing_no: int) -> Today:
    """A draft's violations with who is left over, by score and then by number, as a list to pair from by hand."""
    missing = left_over(broken)
    scores = pairing_scores(tournament) if missing else {}
    in_order = sorted(missing, key=lambda number: (-scores[number], number))
    return Today(pairing_no=pairing_no, violations=broken, left_over=[(number, scores[number]) for number in in_order])
