"""What those who run the platform see: the queue, its workers, breakers, alerts and the services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from qisai.client.reading import Json, moment
from qisai.client.rounds import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueView:
    """The queue as the job table tells it. `history`: one row a minute: finished, failed, waiting."""

    depth: int
    oldest_due_seconds: float | None
    by_state: Mapping[str, int]
    recent: tuple[Job, ...]
    history: tuple[Json, ...]

    @classmethod
    def from_json(cls, body: Json) -> QueueView:
        """From the API's object."""
        return cls(
            depth=body["depth"],
            oldest_due_seconds=body.get("oldest_due_seconds"),
            by_state=body.get("by_state") or {},
            recent=tuple(Job.from_json(job) for job in body.get("recent") or ()),
            history=tuple(body.get("history") or ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Heartbeat of a pairing worker."""

    name: str
    host: str
    seen_at: datetime | None
    queues: tuple[str, ...] = ()
    job_id: int | None = None
    release: str = ""

    @classmethod
    def from_json(cls, body: Json) -> Worker:
        """From the API's object."""
        return cls(
            name=body["name"],
            host=body.get("host") or "",
            seen_at=moment(body.get("seen_at")),
            queues=tuple(body.get("queues") or ()),
            job_id=body.get("job_id"),
            release=body.get("release") or "",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """Circuit breaker of one event's pairing."""

    event_id: int
    state: str
    timeouts: int = 0
    opened_at: datetime | None = None

    @classmethod
    def from_json(cls, body: Json) -> Breaker:
        """From the API's object."""
        return cls(
            event_id=body["event_id"],
            state=body["state"],
            timeouts=body.get("timeouts") or 0,
            opened_at=moment(body.get("opened_at")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Something a person should know about."""

    id: int
    kind: str
    key: str
    severity: str
    event_id: int | None
    detail: Json
    raised_at: datetime | None
    times: int = 1
    acknowledged_by: str | None = None
    cleared_at: datetime | None = None

    @classmethod
    def from_json(cls, body: Json) -> Alert:
        """From the API's object."""
        return cls(
            id=body["id"],
            kind=body["kind"],
            key=body.get("key") or "",
            severity=body["severity"],
            event_id=body.get("event_id"),
            detail=body.get("detail") or {},
            raised_at=moment(body.get("raised_at")),
            times=body.get("times") or 1,
            acknowledged_by=body.get("acknowledged_by"),
            cleared_at=moment(body.get("cleared_at")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceHealth:
    """Whether a service behind the gateway is ready. `milliseconds`: how long it took to say so."""

    name: str
    state: str
    detail: str = ""
    milliseconds: float = 0.0

    @classmethod
    def from_json(cls, body: Json) -> ServiceHealth:
        """From the API's object."""
        return cls(
            name=body["name"], state=body["state"], detail=body.get("detail") or "", milliseconds=body.get("ms") or 0.0
        )
