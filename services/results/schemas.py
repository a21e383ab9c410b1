"""Shapes of the wire: what paths, queries and bodies may hold. Answers are built in `answers`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from qisai.db.jobs import JobState
from qisai.kernel.model import Result

Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
RoundNumber = Annotated[int, Field(ge=1, le=100)]


def _plain(text: str) -> str:
    """Refuses what no column can hold and no page can show: control characters, halves of surrogate pairs."""
    if any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) <= 0xDFFF for c in text if c not in "\n\t"):
        raise ValueError("contains control characters or broken Unicode; remove them")
    return text


Line = Annotated[StrictStr, Field(max_length=500), AfterValidator(_plain)]
"""Text that a person types: a note, a reason."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _OptionalBody(_Body):
    """A body that may be left out altogether."""

    @model_validator(mode="before")
    @classmethod
    def _nothing_said(cls, value: Any) -> Any:
        return {} if value is None else value


class EventPath(BaseModel):
    event_id: Id


class RoundPath(EventPath):
    round_no: RoundNumber


class DrawPath(RoundPath):
    draw_no: Annotated[int, Field(ge=1, le=2**31 - 1)]


class BoardPath(BaseModel):
    board_id: Id


class JobPath(BaseModel):
    job_id: Id


class AlertPath(BaseModel):
    alert_id: Id


class EntrantPath(EventPath):
    entrant_number: Annotated[int, Field(ge=1, le=999_999)]


class PageQuery(BaseModel):
    """Where to go on in a list, and how much of it."""

    cursor: Annotated[str | None, Field(max_length=400)] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 200


class LogQuery(PageQuery):
    kind: Annotated[str | None, Field(pattern="^(result|conflict|audit)$")] = None


class JobsQuery(PageQuery):
    state: JobState | None = None
    event_id: Id | None = None


class AlertsQuery(PageQuery):
    open: bool = True
    """Only alerts whose cause is not gone."""


class AfterQuery(BaseModel):
    after: Annotated[int | None, Field(ge=0, le=100)] = None
    """Round after which; without it after the last one that is published."""


class FeedQuery(BaseModel):
    after: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 500


class ImportQuery(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_plain)] = "Imported event"
    profile: Annotated[str | None, Field(max_length=60), AfterValidator(lambda v: v if v is None else _plain(v))] = None
    """Game of a file that names none."""
    is_public: bool = True


class DrawLimits(_Body):
    """Budgets of one draw; what is left out comes from the event's regulations, then from the size of the field."""

    max_depth: Annotated[StrictInt | None, Field(ge=1, le=10**12)] = None
    max_steps: Annotated[StrictInt | None, Field(ge=1, le=10**12)] = None
    deadline_ms: Annotated[StrictInt | None, Field(ge=50, le=3_600_000)] = None


class DrawRequest(_OptionalBody):
    limits: DrawLimits = Field(default_factory=DrawLimits)


class Reason(_OptionalBody):
    reason: Line = ""


class NeededReason(_Body):
    reason: Annotated[Line, Field(min_length=1)]


class ResultBody(_Body):
    """The result of a board. `result` must be said; null takes it back. What else is left out stays as it is."""

    result: Result | None
    swapped: StrictBool | None = None
    """The players sat the other way round; `result` speaks of the sides as played."""
    note: Line | None = None
    reason: Line = ""
