"""Shapes of the wire about what is settled before a round is drawn: lots, absences, byes, pairs kept apart."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StrictInt, model_validator

from qisai.kernel.model import ByeKind
from qisai.web.shapes import Body, EventPath, Id, OptionalBody, RoundNumber, refused
from services.registration.entrant_schemas import EntrantPath
from services.registration.value_types import Name


class EntrantRoundPath(EntrantPath):
    round_no: RoundNumber


class PairPath(EventPath):
    pair_id: Id


class SameClubBody(OptionalBody):
    """Rounds in which clubs are kept apart; `clubs`: only these."""

    from_round: Annotated[StrictInt, Field(ge=1, le=100)] = 1
    to_round: Annotated[StrictInt, Field(ge=1, le=100)] | None = None
    clubs: Annotated[list[Name], Field(min_length=1, max_length=1000)] | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.to_round is not None and self.to_round < self.from_round:
            raise refused("rounds-reversed", "to_round must not be before from_round")
        return self


class LotsMode(StrEnum):
    """How numbers are given."""

    MACHINE = "machine"
    SEEDING = "seeding"
    HAND = "hand"


class LotsBody(Body):
    mode: LotsMode = LotsMode.MACHINE
    seed: Annotated[StrictInt, Field(ge=0, le=2**53 - 1)] | None = None
    numbers: Annotated[
        dict[Annotated[int, Field(ge=1, le=2**63 - 1)], Annotated[StrictInt, Field(ge=1, le=99_999)]] | None,
        Field(max_length=20_000),
    ] = None

    @model_validator(mode="after")
    def _fits_mode(self) -> Self:
        if (self.numbers is not None) != (self.mode is LotsMode.HAND):
            raise refused("numbers-by-hand", "numbers are given with mode hand, and only then")
        if self.seed is not None and self.mode is not LotsMode.MACHINE:
            raise refused("seed-by-machine", "a seed is given with mode machine only")
        return self


class ByeBody(Body):
    kind: ByeKind

    @model_validator(mode="after")
    def _can_be_asked_for(self) -> Self:
        if self.kind not in (ByeKind.HALF, ByeKind.FULL, ByeKind.ZERO):
            raise refused("unknown-kind", "kind must be one of {known}", known="half, full, zero")
        return self


class PairBody(Body):
    entrants: Annotated[list[Annotated[StrictInt, Field(ge=1, le=2**63 - 1)]], Field(min_length=2, max_length=2)]
    from_round: Annotated[StrictInt, Field(ge=1, le=100)] = 1
    to_round: Annotated[StrictInt, Field(ge=1, le=100)] | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.entrants[0] == self.entrants[1]:
            raise refused("two-entrants", "entrants must be two different ones")
        if self.to_round is not None and self.to_round < self.from_round:
            raise refused("rounds-reversed", "to_round must not be before from_round")
        return self
