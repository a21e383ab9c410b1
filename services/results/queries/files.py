"""An event as the file `qisai.tournament/1`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from qisai.db.snapshot import read_tournament
from qisai.kernel.tournament_file import tournament_to_json


def tournament_file(session: Session, event_id: int, *, with_private: bool) -> dict[str, Any]:
    """The event's published rounds, field and regulations; `with_private` adds forbidden pairs, the next round and
    the reasons of adjustments.

    Only the whole file pairs like the event itself; the public one gives the same standings. After the last planned
    round there is no next one.
    """
    snapshot = read_tournament(session, event_id, with_next=with_private)
    tournament = snapshot.tournament
    planned = tournament.regulations.rounds
    if not with_private:
        unexplained = tuple(replace(one, reason="") for one in tournament.adjustments)
        tournament = replace(tournament, forbidden_pairs=(), next=None, adjustments=unexplained)
    elif planned is not None and len(tournament.rounds) >= planned:
        tournament = replace(tournament, next=None)
    return tournament_to_json(tournament)
