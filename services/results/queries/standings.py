"""Standings of an event: the kernel's one function on the event's rows, kept by feed number."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from qisai.db.snapshot import Snapshot, read_tournament
from qisai.kernel.standings import Standings, standings
from services.results.standings_cache import StandingsCache


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Standings, with what they were computed from."""

    standings: Standings
    snapshot: Snapshot


def table(session: Session, cache: StandingsCache, *, event_id: int, feed_no: int, after: int | None) -> Table:
    """Standings after a round (None: after the last published one).

    `session` sees one moment, of which `feed_no` is the event's number. Raises `Invalid` for a round not published.
    """

    def compute() -> Table:
        snapshot = read_tournament(session, event_id)
        return Table(standings=standings(snapshot.tournament, after=after), snapshot=snapshot)

    found: Table = cache.get((event_id, feed_no, after, "table"), compute)
    return found
