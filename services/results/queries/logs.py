"""The log of an event: results, refused results and everything else that was done, in one list, latest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

KINDS: Final = ("result", "conflict", "audit")

_PARTS: Final = {
    "result": """
        SELECT 'result' AS kind, id, at, actor_name AS actor, device, reason,
               jsonb_build_object('board_id', board_id, 'round', round_no, 'version', version,
                                  'old', old, 'new', new) AS data
        FROM result_log WHERE event_id = :event_id""",
    "conflict": """
        SELECT 'conflict' AS kind, id, at, actor_name AS actor, device, '' AS reason,
               jsonb_build_object('board_id', board_id, 'round', round_no, 'seen_version', seen_version,
                                  'present_version', present_version, 'present', present, 'wanted', wanted) AS data
        FROM result_conflict WHERE event_id = :event_id""",
    "audit": """
        SELECT 'audit' AS kind, id, at, actor_name AS actor, device, reason,
               jsonb_build_object('action', action, 'subject', subject, 'old', old, 'new', new) AS data
        FROM audit_log WHERE event_id = :event_id""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPlace:
    """A row of the log: what it is sorted by."""

    at: datetime
    kind: str
    id: int


def event_log(
    session: Session, event_id: int, *, kind: str | None, before: LogPlace | None, limit: int
) -> Sequence[Any]:
    """Rows of kind, id, at, actor, device, reason, data. `before`: the last row already shown."""
    kinds = KINDS if kind is None else (kind,)
    union = " UNION ALL ".join(_PARTS[name] for name in kinds)
    parameters: dict[str, Any] = {"event_id": event_id, "limit": limit}
    where = ""
    if before is not None:
        where = "WHERE (at, kind, id) < (CAST(:at AS timestamptz), CAST(:kind AS text), CAST(:id AS bigint))"
        parameters |= {"at": before.at, "kind": before.kind, "id": before.id}
    # Nothing from outside goes into the text: names of parts are those above, values are bound.
    statement = f"SELECT * FROM ({union}) AS log {where} ORDER BY at DESC, kind DESC, id DESC LIMIT :limit"  # noqa: S608
    return session.execute(sa.text(statement), parameters).all()
