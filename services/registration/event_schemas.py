"""Shapes of the wire about events and games: paths, queries, bodies. Answers are built in `answers`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, StrictBool, StrictInt, StrictStr

from qisai.db.events import EventState
from qisai.web.shapes import Body, Line, OptionalBody, PageQuery, plain
from services.registration.value_types import Capacity, Day, Moment, Name, SearchText, ShortText, Zone


class EventsQuery(PageQuery):
    state: EventState | None = None
    q: SearchText | None = None


class EventBasics(Body):
    """What an organiser says about an event besides its game and regulations."""

    venue: ShortText = ""
    starts_on: Day | None = None
    time_zone: Zone = "Asia/Shanghai"
    is_public: StrictBool = True
    needs_approval: StrictBool = True
    needs_check_in: StrictBool = True
    capacity: Capacity | None = None
    expected_entrants: Annotated[StrictInt, Field(ge=2, le=20_000)] | None = None
    registration_until: Moment | None = None
    late_entry_until: Annotated[StrictInt, Field(ge=1, le=100)] | None = None
    """Last round in which somebody may still enter; 1: nobody once round 1 is published; null: any round."""
    max_byes: Annotated[StrictInt, Field(ge=0, le=100)] | None = None
    """Half- and full-point byes that one entrant may ask for; null: any number."""
    byes_until_round: Annotated[StrictInt, Field(ge=1, le=100)] | None = None
    """Last round for which such byes may be asked; null: any round."""
    regulations: dict[str, Any] = Field(default_factory=dict)
    """A part of the `regulations` of `qisai.tournament/1`; what is left out comes from the game, or stays as it is."""


ProfileCode = Annotated[StrictStr, Field(min_length=1, max_length=60), AfterValidator(plain)]


class EventBody(EventBasics):
    name: Name
    profile: ProfileCode


class PreviewBody(EventBasics):
    """An event that might be made; a name is not needed for that."""

    name: ShortText = ""
    profile: ProfileCode


class CloneBody(OptionalBody):
    """What is said anew; everything else is as in the event that is cloned."""

    name: Name | None = None
    starts_on: Day | None = None
    registration_until: Moment | None = None
    venue: ShortText | None = None


class ProfilePath(BaseModel):
    code: Annotated[str, Field(min_length=1, max_length=60), AfterValidator(plain)]


class NamesBody(Body):
    """One text in every language."""

    zh_hans: Annotated[Name, Field(alias="zh-Hans")]
    zh_hant: Annotated[Name, Field(alias="zh-Hant")]
    en: Name


class ProfileChange(Body):
    """Only what is said is changed; `regulations` are a part of them, as when an event is made."""

    names: NamesBody | None = None
    sides: Annotated[list[NamesBody], Field(min_length=2, max_length=2)] | None = None
    board: NamesBody | None = None
    team_size: Annotated[StrictInt, Field(ge=0, le=20)] | None = None
    """Members of one entrant; 0: any number."""
    regulations: dict[str, Any] | None = None
    reason: Line = ""


class EventChange(EventBasics):
    """Only what is said is changed."""

    name: Name = "?"

    def changes(self) -> dict[str, Any]:
        """Values of columns, without regulations."""
        return {name: getattr(self, name) for name in self.model_fields_set if name != "regulations"}


class ArchiveBody(OptionalBody):
    undo: StrictBool = False
