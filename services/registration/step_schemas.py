"""Shapes of the wire about steps of entrants and check-in for a round."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StrictBool, StrictInt, model_validator

from qisai.web.requests import MOST_VERSION
from qisai.web.shapes import Body, EventPath, Id, Line, refused
from services.registration.value_types import Moment, State


class StepBody(Body):
    to: State
    reason: Line = ""
    from_round: Annotated[StrictInt, Field(ge=1, le=100)] | None = None
    """First round without the entrant, for withdrawals; without it the next one that is to be paired."""


class EntrantSeen(Body):
    id: Annotated[StrictInt, Field(ge=1, le=2**63 - 1)]
    version: Annotated[StrictInt, Field(ge=1, le=MOST_VERSION)]


class BulkStepBody(StepBody):
    dry_run: StrictBool = False
    """Say what would happen, and do nothing."""
    from_states: Annotated[list[State] | None, Field(alias="from", min_length=1, max_length=9)] = None
    entrants: Annotated[list[EntrantSeen] | None, Field(min_length=1, max_length=20_000)] = None

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if (self.from_states is None) == (self.entrants is None):
            raise refused("states-or-entrants", "say either from (states) or entrants, not both")
        return self


class SomeOrAll(Body):
    """`entrants` (ids), or all who may."""

    entrants: Annotated[
        list[Annotated[StrictInt, Field(ge=1, le=2**63 - 1)]] | None, Field(min_length=1, max_length=20_000)
    ] = None
    all: StrictBool = False

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if (self.entrants is not None) == self.all:
            raise refused("entrants-or-all", "say either entrants or all, not both")
        return self


class UndoPath(EventPath):
    step_id: Id


class AttendanceBody(SomeOrAll):
    present: StrictBool = True


class DeadlineBody(Body):
    until: Moment
