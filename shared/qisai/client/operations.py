"""What those who run the platform see: the queue, its workers, breakers, alerts and the services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from qisai.client.draws import Job
from qisai.client.reading import Json, moment


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueView:
    """The queue as the job table tells it. `history`: 60 rows: minute, finished, failed, waiting. `active` jobs run or
    wait, those `in_trouble` ended without a draw that can be published as it is. `keepers`: the one that leads first.
    """

    depth: int
    oldest_due_seconds: float | None
    by_state: Mapping[str, int]
    recent: tuple[Job, ...]
    history: tuple[Json, ...]
    active: tuple[Job, ...] = ()
    in_trouble: tuple[Job, ...] = ()
    keepers: tuple[Keeper, ...] = ()
    keeper_is_late: bool = False

    @classmethod
    def from_json(cls, body: Json) -> QueueView:
        """From the API's object."""
        return cls(
            depth=body["depth"],
            oldest_due_seconds=body.get("oldest_due_seconds"),
            by_state=body.get("by_state") or {},
            recent=tuple(Job.from_json(job) for job in body.get("recent") or ()),
            history=tuple(body.get("history") or ()),
            active=tuple(Job.from_json(job) for job in body.get("active") or ()),
            in_trouble=tuple(Job.from_json(job) for job in body.get("in_trouble") or ()),
            keepers=tuple(Keeper.from_json(keeper) for keeper in body.get("keepers") or ()),
            keeper_is_late=bool(body.get("keeper_is_late")),
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
    load: float | None = None
    seen_seconds_ago: float = 0.0
    is_alive: bool = True
    """Seen within the limit by which the alert that no worker is alive goes."""

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
            load=body.get("load"),
            seen_seconds_ago=body.get("seen_seconds_ago") or 0.0,
            is_alive=body.get("is_alive", True),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Heartbeat of a keeper."""

    name: str
    is_leading: bool
    release: str
    seen_at: datetime | None
    seen_seconds_ago: float

    @classmethod
    def from_json(cls, body: Json) -> Keeper:
        """From the API's object."""
        return cls(
            name=body["name"],
            is_leading=bool(body.get("is_leading")),
            release=body.get("release") or "",
            seen_at=moment(body.get("seen_at")),
            seen_seconds_ago=body.get("seen_seconds_ago") or 0.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """Circuit breaker of one event's pairing."""

    event_id: int
    state: str
    timeouts: int = 0
    opened_at: datetime | None = None
    updated_at: datetime | None = None
    trial_job_id: int | None = None
    event_name: str = ""

    @classmethod
    def from_json(cls, body: Json) -> Breaker:
        """From the API's object."""
        return cls(
            event_id=body["event_id"],
            state=body["state"],
            timeouts=body.get("timeouts") or 0,
            opened_at=moment(body.get("opened_at")),
            updated_at=moment(body.get("updated_at")),
            trial_job_id=body.get("trial_job_id"),
            event_name=body.get("event_name") or "",
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
    event_name: str = ""
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
            event_name=body.get("event_name") or "",
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
