"""Alerts as the JSON of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from werkzeug.datastructures import LanguageAccept

from qisai.db.records import AlertRow
from services.results.answers import Json, moment
from services.results.job_reasons import in_words


def alert(row: AlertRow, languages: LanguageAccept) -> Json:
    """One alert, its reason in the caller's language."""
    return {
        "id": row.id,
        "kind": row.kind,
        "key": row.key,
        "severity": row.severity.value,
        "event_id": row.event_id,
        "detail": in_words(row.detail, languages),
        "raised_at": moment(row.raised_at),
        "seen_at": moment(row.seen_at),
        "times": row.times,
        "acknowledged_at": moment(row.acknowledged_at),
        "acknowledged_by": row.acknowledged_by,
        "cleared_at": moment(row.cleared_at),
    }


def alerts(rows: Sequence[AlertRow], names: Mapping[int | None, str], languages: LanguageAccept) -> list[Json]:
    """Alerts with the names of their events."""
    return [{**alert(row, languages), "event_name": names.get(row.event_id)} for row in rows]
