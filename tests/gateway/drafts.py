"""Drafts as a worker stores them, without a worker: computed here by the kernel and put into the table."""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa

from qisai.db.rounds import DrawRow, DrawState
from qisai.kernel import pair_round, parse_tournament
from qisai.kernel.draw_file import draw_to_json
from qisai.kernel.model import Source
from tests.gateway.platform import Platform


def computed_draft(
    platform: Platform,
    event_id: int,
    round_no: int,
    *,
    needs_acceptance: bool = False,
    relaxed: tuple[str, ...] = (),
    source: Source = Source.COMPUTED,
) -> int:
    """The number of a new draft of the round, best by the rules; what was a draft before is replaced."""
    document = platform.admin.events.export(event_id)
    draw = replace(pair_round(parse_tournament(document)), relaxed=relaxed, source=source)
    assert draw.round == round_no
    numbers = [one.number for one in platform.admin.rounds.draws(event_id, round_no)]
    here = (DrawRow.event_id == event_id, DrawRow.round_no == round_no, DrawRow.state == DrawState.DRAFT)
    platform.gateway.sql(sa.update(DrawRow).where(*here).values(state=DrawState.REPLACED, version=DrawRow.version + 1))
    row = {
        "event_id": event_id,
        "round_no": round_no,
        "number": max(numbers, default=0) + 1,
        "source": source,
        "pairing_no": platform.admin.events.get(event_id).pairing_no,
        "document": draw_to_json(draw),
        "snapshot": document,
        "needs_acceptance": needs_acceptance,
    }
    platform.gateway.sql(sa.insert(DrawRow).values(row))
    return int(row["number"])  # type: ignore[call-overload]
