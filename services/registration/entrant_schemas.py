"""Shapes of the wire about entrants: registering, changing, importing, listing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, model_validator

from qisai.db.entrants import Sex
from qisai.web.shapes import Body, EventPath, Id, Query, plain
from services.registration.value_types import (
    BirthYear,
    BoardNumber,
    ClubName,
    Day,
    Email,
    EntrantName,
    ExternalId,
    Notes,
    Phone,
    SearchText,
    Seed,
    ShortText,
    State,
)


class EntrantPath(EventPath):
    entrant_id: Id


class EntrantsQuery(Query):
    """`q`: part of the name, its Pinyin or the initials of it, or the number."""

    q: SearchText | None = None
    state: State | None = None
    sort: Literal["number", "name"] = "number"
    """`name`: by Pinyin."""
    cursor: Annotated[str | None, Field(max_length=2000)] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 500


class ImportQuery(Query):
    dry_run: bool = True
    plan: Annotated[str | None, Field(pattern="^[0-9a-f]{64}$")] = None
    """`plan` of the dry run that was looked at: refused where the import would now do something else."""


class PersonBody(Body):
    """A member of a team; a name alone will do."""

    name: EntrantName
    birth_year: BirthYear | None = None
    external_id: ExternalId | None = None

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value


Members = Annotated[list[PersonBody], Field(max_length=20)]


class OwnValues(Body):
    """What people say about themselves."""

    club: ClubName = ""
    members: Members = Field(default_factory=list)
    substitutes: Members = Field(default_factory=list)
    sex: Sex | None = None
    birth_year: BirthYear | None = None
    phone: Phone = ""
    email: Email = ""

    def said(self) -> dict[str, Any]:
        """Values by name, as far as they were said."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class EntrantValues(OwnValues):
    seed: Seed | None = None
    seed_source: ShortText = ""
    """Whose list the seed score is from."""
    seed_date: Day | None = None
    """Of what day that list is."""
    external_id: ExternalId | None = None
    fixed_board: BoardNumber | None = None
    notes: Notes = ""


class EntrantBody(EntrantValues):
    name: EntrantName


class RegistrationBody(OwnValues):
    """How somebody registers on their own."""

    name: EntrantName


class RegistrationPath(BaseModel):
    token: Annotated[str, Field(min_length=10, max_length=100), AfterValidator(plain)]


class EntrantChange(EntrantValues):
    """Only what is said is changed."""

    name: EntrantName = "?"


class ExportQuery(Query):
    form: Literal["csv", "xlsx"] = "csv"


class FixedBoardBody(Body):
    board: BoardNumber | None
