"""Everything that was done in an event, in one list, latest first: results, refused results, entrants' steps, the rest.

Each kind stands in a table of its own that services can only add to; here they are read as one and narrowed down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

KINDS: Final = ("result", "conflict", "audit", "transition")

_WANTED: Final = {
    "round": "CAST(:round AS text)",
    "board_id": "CAST(:board_id AS bigint)",
    "entrant_id": "CAST(:entrant_id AS bigint)",
    "action": "CAST(:action AS text)",
    "actor": "CAST(:actor AS text)",
    "since": "CAST(:since AS timestamptz)",
    "until": "CAST(:until AS timestamptz)",
    # The round that an audit row is about: its subject, or what it wrote down.
    "about": "coalesce(CASE WHEN l.subject LIKE 'round:%' THEN substr(l.subject, 7) END,"
    " l.new->>'round', l.old->>'round')",
}
"""What the parts below are filled with. Nothing from outside goes into the text: values are bound."""
_OF_BOARD: Final = """
    CAST(l.round_no AS text) AS round, b.number AS board, l.board_id, CAST(NULL AS bigint) AS entrant_id
    FROM {table} l JOIN board b ON b.id = l.board_id WHERE l.event_id = :event_id
    AND ({round} IS NULL OR CAST(l.round_no AS text) = {round})
    AND ({board_id} IS NULL OR l.board_id = {board_id})
    AND ({entrant_id} IS NULL OR {entrant_id} IN (b.first_entrant_id, b.second_entrant_id))"""
_RESULT: Final = """
    SELECT 'result' AS kind, l.id, l.at, l.actor_name AS actor, l.device, l.reason,
           jsonb_build_object('version', l.version, 'old', l.old, 'new', l.new) AS data, """
_CONFLICT: Final = """
    SELECT 'conflict' AS kind, l.id, l.at, l.actor_name AS actor, l.device, '' AS reason,
           jsonb_build_object('seen_version', l.seen_version, 'present_version', l.present_version,
                              'present', l.present, 'wanted', l.wanted) AS data, """
_AUDIT: Final = """
    SELECT 'audit' AS kind, l.id, l.at, l.actor_name AS actor, l.device, l.reason,
           jsonb_build_object('action', l.action, 'subject', l.subject, 'old', l.old, 'new', l.new) AS data,
           {about} AS round, CAST(NULL AS integer) AS board, CAST(NULL AS bigint) AS board_id,
           CAST(substring(l.subject FROM '^entrant:([0-9]+)$') AS bigint) AS entrant_id
    FROM audit_log l WHERE l.event_id = :event_id AND {board_id} IS NULL
    AND ({round} IS NULL OR {about} = {round})
    AND ({entrant_id} IS NULL OR l.subject = 'entrant:' || {entrant_id})
    AND ({action} IS NULL OR starts_with(l.action, {action}))"""
_TRANSITION: Final = """
    SELECT 'transition' AS kind, l.id, l.at, l.actor_name AS actor, l.device, l.reason,
           jsonb_build_object('from', l.from_state, 'to', l.to_state) AS data, CAST(NULL AS text) AS round,
           CAST(NULL AS integer) AS board, CAST(NULL AS bigint) AS board_id, l.entrant_id
    FROM transition l WHERE l.event_id = :event_id AND {round} IS NULL AND {board_id} IS NULL
    AND ({entrant_id} IS NULL OR l.entrant_id = {entrant_id})"""
_PARTS: Final = {
    "result": (_RESULT + _OF_BOARD).format(table="result_log", **_WANTED),
    "conflict": (_CONFLICT + _OF_BOARD).format(table="result_conflict", **_WANTED),
    "audit": _AUDIT.format(**_WANTED),
    "transition": _TRANSITION.format(**_WANTED),
}
_OF_ALL: Final = """
    ({actor} IS NULL OR position(lower({actor}) IN lower(log.actor)) > 0)
    AND ({since} IS NULL OR log.at >= {since}) AND ({until} IS NULL OR log.at < {until})""".format(**_WANTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPlace:
    """A row of the log: what it is sorted by."""

    at: datetime
    kind: str
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """What to show; None: everything."""

    kind: str | None = None
    actor: str | None = None
    """Part of the name of who did it, whatever the case."""
    action: str | None = None
    """What an audit row's action begins with, such as `draw.`; shows audit rows only."""
    round: int | None = None
    entrant_id: int | None = None
    board_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Not included."""


def event_log(
    session: Session, event_id: int, *, wanted: LogFilter, before: LogPlace | None, limit: int
) -> Sequence[Any]:
    """Rows of kind, id, at, actor, device, reason, data, round, board, board_id, entrant_id.

    `before`: the last row already shown.
    """
    kinds: tuple[str, ...] = KINDS if wanted.kind is None else (wanted.kind,)
    if wanted.action is not None:
        kinds = tuple(kind for kind in kinds if kind == "audit")
    if not kinds:
        return ()
    parameters: dict[str, Any] = {**asdict(wanted), "event_id": event_id, "limit": limit}
    parameters["round"] = None if wanted.round is None else str(wanted.round)
    union = " UNION ALL ".join(_PARTS[name] for name in kinds)
    where = _OF_ALL
    if before is not None:
        where += " AND (log.at, kind, id) < (CAST(:at AS timestamptz), CAST(:at_kind AS text), CAST(:at_id AS bigint))"
        parameters |= {"at": before.at, "at_kind": before.kind, "at_id": before.id}
    statement = f"SELECT * FROM ({union}) AS log WHERE {where} ORDER BY log.at DESC, kind DESC, id DESC LIMIT :limit"  # noqa: S608
    return session.execute(sa.text(statement), parameters).all()


def place_of(row: Any) -> LogPlace:
    """Where a row of `event_log` stands, to go on behind it."""
    return LogPlace(at=row.at, kind=row.kind, id=row.id)


def entrant_names(session: Session, event_id: int) -> dict[int, str]:
    """Names by id of entrant."""
    query = sa.text("SELECT id, name FROM entrant WHERE event_id = :event_id")
    return {row.id: row.name for row in session.execute(query, {"event_id": event_id})}
