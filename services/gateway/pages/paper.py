"""The list from which a round is paired on paper, when no computer answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qisai.client import Player
from qisai.kernel import parse_tournament
from services.gateway.pages.draft import field_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperLine:
    """One entrant who is present: points, numbers met so far, sides so far (1 first, -1 second), byes so far."""

    player: Player
    points: float
    met: tuple[int, ...]
    sides: tuple[int, ...]
    byes: int
    begins_group: bool


def lines_of_field(tournament: Mapping[str, Any] | None, round_no: int) -> list[PaperLine] | None:
    """Everybody present, by points and number. None where the round cannot be drawn now."""
    field = field_of(tournament, round_no)
    if field is None or tournament is None:
        return None
    entrants = {entrant.number: entrant for entrant in parse_tournament(tournament).entrants}
    order = sorted(range(field.size), key=lambda i: (-field.score[i], field.number[i]))
    lines: list[PaperLine] = []
    last: int | None = None
    for i in order:
        entrant = entrants[field.number[i]]
        lines.append(
            PaperLine(
                player=Player(entrant_id=None, number=entrant.number, name=entrant.name, club=entrant.club or ""),
                points=field.score[i] / 2,
                met=tuple(sorted(field.number[j] for j in field.met[i])),
                sides=field.sides[i] if field.sides else (),
                byes=field.bye_count[i],
                begins_group=last is not None and field.score[i] != last,
            )
        )
        last = field.score[i]
    return lines
