"""Standings of an event: which moment they are of, what is kept of them, and the kernel's one function on its rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

import qisai
from qisai.db.events import EventRow
from qisai.db.rounds import StandingsKind
from qisai.db.snapshot import Snapshot, read_tournament
from qisai.db.statements import Statement
from qisai.errors import Invalid, NotFound
from qisai.kernel.profiles import Unit
from qisai.kernel.standings import Standings, standings

FORM: Final = 1
"""Raise it when the documents change their shape: what older software kept is then computed anew."""


_POINT: Final = Statement(
    sa.text(
        "SELECT feed_no,"
        " (SELECT count(*) FROM round r WHERE r.event_id = f.event_id AND r.state <> 'pending') AS rounds"
        " FROM event_feed f WHERE event_id = :event_id"
    )
)
_KEPT: Final = Statement(
    sa.text(
        "SELECT document, digest FROM standings_cache"
        " WHERE event_id = :event_id AND after_round = :after AND kind = :kind AND feed_no = :feed_no"
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What standings are of: an event as it was at a feed number, after a round."""

    event_id: int
    feed_no: int
    after: int

    def digest(self, kind: StandingsKind, document: str) -> str:
        """Seals a document to this point, its kind and this software."""
        place = f"{qisai.__version__}:{FORM}:{kind.value}:{self.event_id}:{self.after}:{self.feed_no}:"
        return hashlib.sha256((place + document).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Standings, with what they were computed from."""

    standings: Standings
    snapshot: Snapshot
    unit: Unit

    @property
    def shows_sides(self) -> bool:
        """Card and team events show tables and names, never first and second (docs/rules.md section 2)."""
        return self.unit is Unit.INDIVIDUAL and self.snapshot.tournament.regulations.first_move


def point(session: Session, event_id: int, *, after: int | None) -> Point:
    """Today's point after a round (None: after the last published one): one query.

    Raises `NotFound`, and `Invalid` for a round that is not published.
    """
    row = _POINT.first(session.connection(), {"event_id": event_id})
    if row is None:
        raise NotFound("event-not-found", f"There is no event {event_id}.")
    if after is not None and after > row.rounds:
        raise Invalid("no-such-round", f"Round {after} is not published; rounds 0 to {row.rounds} are.")
    return Point(event_id=event_id, feed_no=row.feed_no, after=row.rounds if after is None else after)


def kept(session: Session, at: Point, kind: StandingsKind) -> str | None:
    """The document kept for exactly this point; None where there is none, or one that is not as it was written."""
    place = {"event_id": at.event_id, "after": at.after, "kind": kind.value, "feed_no": at.feed_no}
    row = _KEPT.first(session.connection(), place)
    if row is None or row.digest != at.digest(kind, row.document):
        return None
    document: str = row.document
    return document


def table(session: Session, at: Point) -> Table:
    """Standings computed from the event's rows. `session` sees one moment, of which `at` is the point."""
    snapshot = read_tournament(session, at.event_id)
    unit = session.execute(
        sa.select(EventRow.profile_copy["unit"].astext).where(EventRow.id == at.event_id)
    ).scalar_one()
    found = standings(snapshot.tournament, after=at.after)
    return Table(standings=found, snapshot=snapshot, unit=Unit(unit or Unit.INDIVIDUAL))
