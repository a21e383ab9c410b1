"""Draws, and the jobs that make them, as the API shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from qisai.client.reading import Json, moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A draw that was asked for. `progress` and `outcome` are data of docs/pipeline.md; `draw_no` once it is there."""

    id: int
    event_id: int
    round_no: int
    state: str
    queue: str = ""
    requested_by: str = ""
    requested_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    attempts: int = 0
    progress: Mapping[str, Any] = field(default_factory=dict)
    outcome: Mapping[str, Any] = field(default_factory=dict)
    draw_no: int | None = None
    waiting: Mapping[str, Any] = field(default_factory=dict)
    event_name: str = ""
    size: int = 0

    @property
    def is_active(self) -> bool:
        """Whether it is still queued or running."""
        return self.state in ("queued", "running")

    @property
    def has_draw(self) -> bool:
        """Whether a draft came of it."""
        return self.draw_no is not None

    @classmethod
    def from_json(cls, body: Json) -> Job:
        """From the API's object."""
        draw = body.get("draw")
        return cls(
            id=body["id"],
            event_id=body["event_id"],
            event_name=body.get("event_name") or "",
            size=body.get("size") or 0,
            round_no=body["round_no"],
            state=body["state"],
            queue=body.get("queue") or "",
            requested_by=body.get("requested_by") or "",
            requested_at=moment(body.get("requested_at")),
            started_at=moment(body.get("started_at")),
            finished_at=moment(body.get("finished_at")),
            attempts=body.get("attempts") or 0,
            progress=body.get("progress") or {},
            outcome=body.get("outcome") or {},
            draw_no=None if draw is None else draw["number"],
            waiting=body.get("waiting") or {},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawView:
    """A draw of a round. `document` is `qisai.draw/1`; `boards` has the same pairs with names."""

    number: int
    state: str
    version: int
    document: Mapping[str, Any]
    boards: tuple[Json, ...] = ()
    bye: Json | None = None
    stale: bool = False
    needs_acceptance: bool = False
    source: str = "computed"
    cost: Mapping[str, int] = field(default_factory=dict)
    created_at: datetime | None = None
    accepted_at: datetime | None = None
    accepted_by: str = ""
    violations: tuple[Any, ...] = ()
    left_over: tuple[Json, ...] = ()
    """Who is present and has no place yet, by score and number."""
    reasons_needed: tuple[Json, ...] = ()
    """Of a dry run: changes that break a rule and say no reason."""

    @classmethod
    def from_json(cls, body: Json) -> DrawView:
        """From the API's object."""
        document = body.get("document") or {}
        return cls(
            number=body["number"],
            state=body["state"],
            version=body["version"],
            document=document,
            boards=tuple(body.get("boards") or ()),
            bye=body.get("bye"),
            stale=body.get("stale", False),
            needs_acceptance=body.get("needs_acceptance", False),
            source=body.get("source", "computed"),
            cost=body.get("cost") or document.get("cost") or {},
            created_at=moment(body.get("created_at")),
            accepted_at=moment(body.get("accepted_at")),
            accepted_by=body.get("accepted_by") or "",
            violations=tuple(body.get("violations") or ()),
            left_over=tuple(body.get("left_over") or ()),
            reasons_needed=tuple(body.get("reasons_needed") or ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Where the drawing of a round stands: all draws, latest first, and the job that was asked for last, if any."""

    draws: tuple[DrawView, ...]
    job: Job | None

    @classmethod
    def from_json(cls, body: Json) -> Drawing:
        """From the API's object."""
        job = body.get("job")
        return cls(
            draws=tuple(DrawView.from_json(draw) for draw in body["items"]),
            job=None if job is None else Job.from_json(job),
        )
