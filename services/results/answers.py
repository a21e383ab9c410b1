"""Rows and kernel values as the JSON of the API."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from qisai.db.rounds import ResultConflictRow, ResultLogRow
from qisai.kernel.model import Result
from qisai.web.shapes import moment, page
from services.results.queries.rounds import RoundView

__all__ = [
    "board", "board_value", "byes", "conflict_entry", "entrant", "log_entry", "moment", "page", "round_",
    "value_of",
]  # fmt: skip

Json = dict[str, Any]


def entrant(row: Any) -> Json:
    """Who has a bye: from rows of entrant_id, number, name, club."""
    return {"entrant_id": row.entrant_id, "number": row.number, "name": row.name, "club": row.club}


def byes(rows: Iterable[Any]) -> list[Json]:
    """Everybody without a board in a round, with the kind of bye."""
    return [{**entrant(row), "kind": row.place.value} for row in rows]


def round_(view: RoundView) -> Json:
    """One round."""
    return {
        "number": view.number,
        "state": view.state.value,
        "version": view.version,
        "published_at": moment(view.published_at),
        "published_by": view.published_by,
        "closed_at": moment(view.closed_at),
        "closed_by": view.closed_by,
        "clock": _clock(view),
        "boards": view.boards,
        "reported": view.reported,
        "byes": byes(view.byes),
    }


def _clock(view: RoundView) -> Json | None:
    """The round's clock at the server's time `now`: pages count on from there, whatever their own clock says."""
    left_ms, ends_at = view.clock_left_ms, view.clock_ends_at
    if ends_at is not None and view.now is not None:
        left_ms = max(0, round((ends_at - view.now) / timedelta(milliseconds=1)))
    if left_ms is None:
        return None
    return {
        "runs": ends_at is not None,
        "left_seconds": left_ms / 1000,
        "ends_at": moment(ends_at),
        "now": moment(view.now),
    }


def board(row: Any, *, with_note: bool) -> Json:
    """One board; first and second as drawn, `result` of the sides as played when `swapped`.

    Notes are what referees tell each other: only those who work at the event may see them (`with_note`).
    """
    shown = {
        "id": row.id,
        "event_id": row.event_id,
        "round": row.round_no,
        "number": row.number,
        **{
            side: {
                "entrant_id": getattr(row, f"{side}_id"),
                "number": getattr(row, f"{side}_number"),
                "name": getattr(row, f"{side}_name"),
                "club": getattr(row, f"{side}_club"),
            }
            for side in ("first", "second")
        },
        **value_of(row),
        "version": row.version,
        "updated_at": moment(row.updated_at),
        "updated_by": row.updated_by,
    }
    if not with_note:
        del shown["note"]
    return shown


def value_of(row: Any) -> Json:
    """What a referee writes on a board."""
    return board_value(result=row.result, swapped=row.swapped, note=row.note)


def board_value(*, result: Result | None, swapped: bool, note: str) -> Json:
    """As it stands in the result log."""
    return {"result": None if result is None else result.value, "swapped": swapped, "note": note}


def log_entry(row: ResultLogRow) -> Json:
    """One change of a board."""
    return {
        "version": row.version,
        "old": row.old,
        "new": row.new,
        "at": moment(row.at),
        "actor": row.actor_name,
        "device": row.device,
        "reason": row.reason,
    }


def conflict_entry(row: ResultConflictRow) -> Json:
    """One refused write of a board."""
    return {
        "seen_version": row.seen_version,
        "present_version": row.present_version,
        "wanted": row.wanted,
        "present": row.present,
        "at": moment(row.at),
        "actor": row.actor_name,
        "device": row.device,
    }
