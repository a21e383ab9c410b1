"""Shapes of the wire about draws. Answers are built in `draw_answers`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt

from qisai.kernel.pairing.hand import EditKind
from qisai.web.shapes import Body, Line, OptionalBody, Query, RoundPath

EntrantNumber = Annotated[StrictInt, Field(ge=1, le=999_999)]


class DrawPath(RoundPath):
    draw_no: Annotated[int, Field(ge=1, le=2**31 - 1)]


class PlacePath(DrawPath):
    number: Annotated[int, Field(ge=1, le=999_999)]


class DrawLimits(Body):
    """Budgets of one draw; what is left out comes from the event's regulations, then from the size of the field."""

    max_depth: Annotated[StrictInt | None, Field(ge=1, le=10**12)] = None
    max_steps: Annotated[StrictInt | None, Field(ge=1, le=10**12)] = None
    deadline_ms: Annotated[StrictInt | None, Field(ge=50, le=3_600_000)] = None


class DrawRequest(OptionalBody):
    limits: DrawLimits = Field(default_factory=DrawLimits)


class DryRunQuery(Query):
    dry_run: bool = False
    """Only say what would come of it; nothing is written."""


class DrawEdit(Body):
    """One change of a draft: swap (two places), pair, unpair, bye (one entrant, or none), sides (who is first)."""

    kind: EditKind
    entrants: Annotated[list[EntrantNumber], Field(max_length=2)]
    reason: Line = ""


class DrawEdits(Body):
    edits: Annotated[list[DrawEdit], Field(min_length=1, max_length=200)]


class ManualPair(Body):
    first: EntrantNumber
    second: EntrantNumber


class ManualDraw(OptionalBody):
    """A draw made by hand, sides as written; without pairs it lists the pool. `reason`: of what breaks a rule."""

    pairs: Annotated[list[ManualPair], Field(max_length=10_000, default_factory=list)]
    bye: EntrantNumber | None = None
    reason: Line = ""
    replaces: Annotated[StrictInt | None, Field(ge=1, le=2**31 - 1)] = None
    """Number of the draft that is there, whose version `If-Match` says; needed where there is one."""
