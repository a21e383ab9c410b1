"""Who is not to be paired in the round to draw, and why: byes that were asked for, absences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qisai.client import Player
from qisai.errors import QisaiError
from qisai.kernel import parse_tournament
from qisai.kernel.model import ByeKind
from services.gateway.pages import wording


def away_from(tournament: Mapping[str, Any] | None, round_no: int) -> list[tuple[str, list[Player]]]:
    """Kinds in words, each with its entrants by number. Empty where the round is not the next one."""
    if tournament is None:
        return []
    try:
        parsed = parse_tournament(tournament)
    except QisaiError:  # past rounds are being corrected right now
        return []
    pool = parsed.next
    if pool is None or pool.round != round_no:
        return []
    kinds = dict.fromkeys(pool.absent, ByeKind.ABSENT.value) | {bye.entrant: bye.kind.value for bye in pool.byes}
    found: dict[str, list[Player]] = {}
    for entrant in sorted(parsed.entrants, key=lambda one: one.number):
        is_gone = entrant.withdrawn_from is not None and entrant.withdrawn_from <= round_no
        if entrant.number in kinds and not is_gone:
            player = Player(entrant_id=None, number=entrant.number, name=entrant.name, club=entrant.club)
            found.setdefault(kinds[entrant.number], []).append(player)
    return [(str(text), found[kind]) for kind, text in wording.BYES.items() if kind in found]
