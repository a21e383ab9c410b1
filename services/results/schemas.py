"""Shapes of the wire: what paths, queries and bodies may hold. Answers are built in `answers`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, StrictBool, StrictInt

from qisai.db.jobs import JobState
from qisai.db.records import Severity
from qisai.kernel.model import Result
from qisai.kernel.tournament_file import MAX_ADJUSTMENT
from qisai.web.requests import MOST_VERSION
from qisai.web.shapes import (
    Body,
    EventPath,
    Id,
    Line,
    NeededReason,
    OptionalBody,
    PageQuery,
    Query,
    Reason,
    RoundNumber,
    RoundPath,
    plain,
    refused,
)
from services.results.operations.clocks import MOST_SECONDS, ClockAction

__all__ = [
    "AfterQuery", "AlertPath", "AlertsQuery", "BoardPath", "EntrantPath", "EventPath", "FeedQuery", "ImportQuery",
    "JobPath", "JobsQuery", "LogQuery", "NeededReason", "PageQuery", "Reason", "ResultBody",
    "ResultsBody", "RoundPath", "StartBody",
]  # fmt: skip


class BoardPath(BaseModel):
    board_id: Id


class JobPath(BaseModel):
    job_id: Id


class StartBody(Reason):
    """A reason is for taking a start back; starting needs none."""

    undo: StrictBool = False


class AlertPath(BaseModel):
    alert_id: Id


class EntrantPath(EventPath):
    entrant_number: Annotated[int, Field(ge=1, le=999_999)]


def _with_zone(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise refused("offset", "needs its offset from UTC, such as Z or +08:00")
    return at


Moment = Annotated[datetime, AfterValidator(_with_zone)]
Part = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(plain)]


class LogFilterQuery(Query):
    """What of the log to show; what is left out does not narrow it."""

    kind: Annotated[str | None, Field(pattern="^(result|conflict|audit|transition)$")] = None
    actor: Part | None = None
    """Part of a name."""
    action: Part | None = None
    """What an action begins with: `draw.`, `round.close`."""
    round: RoundNumber | None = None
    entrant_id: Id | None = None
    board_id: Id | None = None
    since: Moment | None = None
    until: Moment | None = None


class LogQuery(LogFilterQuery, PageQuery):
    pass


class JobsQuery(PageQuery):
    state: JobState | None = None
    event_id: Id | None = None


class QueueQuery(Query):
    hours: Annotated[int, Field(ge=1, le=24)] = 1
    """How far back the history goes: always 60 steps."""


class AlertsQuery(PageQuery):
    open: bool = True
    """Only alerts whose cause is not gone."""
    severity: Severity | None = None


class AfterQuery(Query):
    after: Annotated[int | None, Field(ge=0, le=100)] = None
    """Round after which; without it after the last one that is published."""


class FeedQuery(Query):
    after: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 500


class ImportQuery(Query):
    name: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(plain)] = "Imported event"
    profile: Annotated[str | None, Field(max_length=60), AfterValidator(lambda v: v if v is None else plain(v))] = None
    """Game of a file that names none."""
    is_public: bool = True


class ResultBody(Body):
    """The result of a board. `result` must be said; null takes it back. What else is left out stays as it is."""

    result: Result | None
    swapped: StrictBool | None = None
    """The players sat the other way round; `result` speaks of the sides as played."""
    note: Line | None = None
    reason: Line = ""


class CorrectedBody(ResultBody):
    """The chief referee's correction: as any result, and always with a reason."""

    reason: Annotated[Line, Field(min_length=1)]


class ResultItem(ResultBody):
    """One board of many, with the version that was seen."""

    board_id: Annotated[StrictInt, Field(ge=1, le=2**63 - 1)]
    version: Annotated[StrictInt, Field(ge=0, le=MOST_VERSION)]


class ResultsBody(Body):
    results: Annotated[list[ResultItem], Field(min_length=1, max_length=500)]


class CloseBody(OptionalBody):
    force: StrictBool = False
    """Close although boards are open; needs a reason."""
    reason: Line = ""


class ClockBody(Body):
    action: ClockAction
    seconds: Annotated[StrictInt | None, Field(ge=-MOST_SECONDS, le=MOST_SECONDS)] = None
    """Of `start`: how long; of `adjust`: how much more, or less."""


class AdjustmentPath(EventPath):
    adjustment_id: Id


def _some_half_points(points: float) -> float:
    if points == 0 or points * 2 != int(points * 2):
        raise refused("some-points", "must be points in steps of .5, and not 0")
    return points


class AdjustmentBody(Body):
    entrant_id: Annotated[StrictInt, Field(ge=1, le=2**63 - 1)]
    points: Annotated[
        float, Field(ge=-MAX_ADJUSTMENT, le=MAX_ADJUSTMENT, strict=True), AfterValidator(_some_half_points)
    ]
    """Given; below 0: taken."""
    after_round: Annotated[StrictInt, Field(ge=1, le=100)]
    reason: Annotated[Line, Field(min_length=1)]


class CorrectionBody(Body):
    """A result to try out: nothing is written."""

    result: Result | None
    swapped: StrictBool | None = None
