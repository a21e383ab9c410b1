"""Shapes of the wire: what paths, queries and bodies may hold. Answers are built in `answers`."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self
from zoneinfo import available_timezones

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)

from qisai.db.entrants import Sex
from qisai.db.events import EventState
from qisai.formats.typed_text import email_fits, phone_fits, tidy, unprintable
from qisai.kernel.model import ByeKind
from qisai.web.shapes import Body, EventPath, Id, Line, OptionalBody, PageQuery, Query, RoundNumber, plain, refused
from services.registration.states import SLUGS


def _tidy(text: Any) -> Any:
    """Checked before it is tidied: what cannot be stored is refused, not silently dropped."""
    if not isinstance(text, str):
        return text
    neat = tidy(text)
    if unprintable(neat) is not None:
        raise refused("characters", "contains control characters or broken Unicode; remove them")
    return neat


Name = Annotated[StrictStr, BeforeValidator(_tidy), Field(min_length=1, max_length=200)]
ShortText = Annotated[StrictStr, BeforeValidator(_tidy), Field(max_length=200)]
ExternalId = Annotated[StrictStr, BeforeValidator(_tidy), Field(min_length=1, max_length=60)]
SearchText = Annotated[str, Field(max_length=200), AfterValidator(plain)]
Seed = Annotated[StrictInt, Field(ge=0, le=4000)]
Email = Annotated[StrictStr, BeforeValidator(_tidy), Field(max_length=200), AfterValidator(lambda text: _email(text))]
Phone = Annotated[StrictStr, BeforeValidator(_tidy), Field(max_length=40), AfterValidator(lambda text: _phone(text))]
Notes = Annotated[StrictStr, BeforeValidator(_tidy), Field(max_length=1000)]
BirthYear = Annotated[StrictInt, Field(ge=1900, le=2100), AfterValidator(lambda year: _past(year))]
BoardNumber = Annotated[StrictInt, Field(ge=1, le=10_000)]
Capacity = Annotated[StrictInt, Field(ge=1, le=20_000)]


def _email(text: str) -> str:
    if text and not email_fits(text):
        raise refused("email", "is no e-mail address")
    return text


def _phone(text: str) -> str:
    if text and not phone_fits(text):
        raise refused("phone", "is no telephone number: digits, spaces and + - ( ) only, at least 5 digits")
    return text


def _past(year: int) -> int:
    if year > datetime.now(UTC).year:
        raise refused("future", "lies in the future")
    return year


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:  # in another zone still year 1 or 9999, in UTC neither
        raise refused("beyond-years", "lies outside the years 1 to 9999 in UTC") from None


_OF_THE_MACHINE: Final = frozenset({"localtime", "Factory"})
"""Names that mean something else on every machine, or nothing."""


def _zone(name: str) -> str:
    if name not in available_timezones() - _OF_THE_MACHINE:
        raise refused("time-zone", "is not a time zone of the IANA list, such as Asia/Shanghai")
    return name


def _state(slug: str) -> str:
    if slug not in SLUGS:
        raise refused("unknown-kind", "must be one of {known}", known=", ".join(SLUGS))
    return slug


Zone = Annotated[StrictStr, Field(max_length=64), AfterValidator(_zone)]
State = Annotated[StrictStr, AfterValidator(_state)]
"""An entrant's state by its name in the API."""


def _date_text(value: Any) -> Any:
    if value is not None and not (isinstance(value, str) and len(value) == 10):
        raise refused("date", "must be a date such as 2026-12-05")
    return value


def _time_text(value: Any) -> Any:
    if value is not None and not isinstance(value, str):
        raise refused("moment", "must be a time such as 2026-12-05T08:30:00+08:00")
    return value


Day = Annotated[date, BeforeValidator(_date_text)]
Moment = Annotated[AwareDatetime, BeforeValidator(_time_text), AfterValidator(lambda at: _in_utc(at))]


class EntrantPath(EventPath):
    entrant_id: Id


class EntrantRoundPath(EntrantPath):
    round_no: RoundNumber


class PairPath(EventPath):
    pair_id: Id


class EventsQuery(PageQuery):
    state: EventState | None = None
    q: SearchText | None = None


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


class PersonBody(Body):
    """A member of a team; a name alone will do."""

    name: Name
    birth_year: BirthYear | None = None
    external_id: ExternalId | None = None

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value


Members = Annotated[list[PersonBody], Field(max_length=20)]


class OwnValues(Body):
    """What people say about themselves."""

    club: ShortText = ""
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
    name: Name


class RegistrationBody(OwnValues):
    """How somebody registers on their own."""

    name: Name


class RegistrationPath(BaseModel):
    token: Annotated[str, Field(min_length=10, max_length=100), AfterValidator(plain)]


class EntrantChange(EntrantValues):
    """Only what is said is changed."""

    name: Name = "?"


class StepBody(Body):
    to: State
    reason: Line = ""
    from_round: Annotated[StrictInt, Field(ge=1, le=100)] | None = None
    """First round without the entrant, for withdrawals; without it the next one that is to be paired."""


class EntrantSeen(Body):
    id: Annotated[StrictInt, Field(ge=1, le=2**63 - 1)]
    version: Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]


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


class ExportQuery(Query):
    form: Literal["csv", "xlsx"] = "csv"


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


class FixedBoardBody(Body):
    board: BoardNumber | None


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
