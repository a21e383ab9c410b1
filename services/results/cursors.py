"""Where a list goes on: the sort keys inside our opaque cursors, checked before a query sees them."""

from __future__ import annotations

from datetime import datetime

from qisai.errors import Invalid
from qisai.web.requests import decode_cursor
from services.results.queries.logs import KINDS, LogPlace


def id_before(cursor: str | None) -> int | None:
    """Of lists with the latest id first. Raises `Invalid` for a cursor that is not one of ours."""
    values = decode_cursor(cursor, length=1)
    return None if values is None else _id(values[0])


def log_place(cursor: str | None) -> LogPlace | None:
    """Of the log of an event. Raises `Invalid` for a cursor that is not one of ours."""
    values = decode_cursor(cursor, length=3)
    if values is None:
        return None
    at, kind, id_ = values
    try:
        moment = datetime.fromisoformat(str(at))
    except ValueError:
        raise _foreign() from None
    if kind not in KINDS or moment.tzinfo is None:
        raise _foreign()
    return LogPlace(at=moment, kind=kind, id=_id(id_))


def _id(value: object) -> int:
    if not isinstance(value, int) or not 0 < value < 1 << 63:
        raise _foreign()
    return value


def _foreign() -> Invalid:
    return Invalid("bad-cursor", "The cursor is not one of ours; start again without it.")
