"""Game profiles, events and entrants as the API shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qisai.client.reading import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A game: names by language tag, the unit that enters, how sides are called, regulations it proposes."""

    code: str
    names: Mapping[str, str]
    unit: str
    first_move: bool
    sides: tuple[Mapping[str, str], ...]
    board: Mapping[str, str]
    regulations: Mapping[str, Any]
    version: int = 1
    team_size: int = 0
    """Members of one entrant; 0: any number."""

    @classmethod
    def from_json(cls, body: Json) -> Profile:
        """From the API's object, or from the copy that an event keeps."""
        regulations = body.get("regulations") or {}
        return cls(
            code=body["code"],
            names=body.get("names") or {},
            unit=body.get("unit", "individual"),
            first_move=bool(body.get("first_move", regulations.get("first_move", True))),
            sides=tuple(body.get("sides") or ()),
            board=body.get("board") or {},
            regulations=regulations,
            version=body.get("version", 1),
            team_size=body.get("team_size") or 0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One competition. `counts`: entrants by state; `your_roles`: what the caller is in it."""

    id: int
    name: str
    state: str
    profile: str
    version: int
    profile_copy: Profile | None = None
    regulations: Mapping[str, Any] = field(default_factory=dict)
    is_public: bool = True
    time_zone: str = "UTC"
    venue: str = ""
    starts_on: str | None = None
    needs_approval: bool = True
    needs_check_in: bool = True
    capacity: int | None = None
    expected_entrants: int | None = None
    registration_until: str | None = None
    late_entry_until: int | None = None
    max_byes: int | None = None
    byes_until_round: int | None = None
    frozen_at: str | None = None
    algorithm: str | None = None
    feed_no: int = 0
    pairing_no: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    advice: Mapping[str, Any] = field(default_factory=dict)
    tie_breaks: tuple[Json, ...] = ()
    """The order of places after points: code and names by language."""
    registration: Mapping[str, Any] = field(default_factory=dict)
    """is_open, closed_by, until, places, free, waiting."""
    your_roles: frozenset[str] = frozenset()

    @classmethod
    def from_json(cls, body: Json) -> Event:
        """From the API's object; a list row may lack the longer members."""
        copy = body.get("profile_copy")
        plain = {
            name: body[name]
            for name in (
                "is_public", "time_zone", "venue", "starts_on", "needs_approval", "needs_check_in", "capacity",
                "expected_entrants", "registration_until", "late_entry_until", "max_byes", "byes_until_round",
                "frozen_at", "algorithm", "feed_no", "pairing_no",
            )
            if body.get(name) is not None
        }  # fmt: skip
        return cls(
            id=body["id"],
            name=body["name"],
            state=body["state"],
            profile=body["profile"],
            version=body["version"],
            profile_copy=Profile.from_json(copy) if copy else None,
            regulations=body.get("regulations") or {},
            counts=body.get("counts") or {},
            advice=body.get("advice") or {},
            tie_breaks=tuple(body.get("tie_breaks") or ()),
            registration=body.get("registration") or {},
            your_roles=frozenset(body.get("your_roles") or ()),
            **plain,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What `POST /events/imports/json` made."""

    id: int
    name: str
    entrants: int
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """Who is paired. `number` is the lot, None before the draw of lots; `state` as in rules.md section 10."""

    id: int
    name: str
    state: str
    version: int
    number: int | None = None
    club: str = ""
    seed: int | None = None
    entered_round: int = 1
    withdrawn_from: int | None = None
    fixed_board: int | None = None
    external_id: str | None = None
    waiting_place: int | None = None
    """Where it stands in the waiting list, from 1."""
    members: tuple[str, ...] = ()
    substitutes: tuple[str, ...] = ()
    seed_source: str = ""
    seed_date: str | None = None
    absences: tuple[int, ...] = ()
    """Rounds."""
    byes: tuple[Json, ...] = ()
    """Requested ones: round, kind."""
    sex: str | None = None
    birth_year: int | None = None
    phone: str = ""
    email: str = ""
    notes: str = ""
    people: tuple[Json, ...] = ()
    """Members and substitutes with what tells them apart: name, substitute, birth_year, external_id."""
    warnings: tuple[Json, ...] = ()
    """What to look at after registering: slug, detail, entrants."""

    @classmethod
    def from_json(cls, body: Json) -> Entrant:
        """From the API's object; the public sees fewer members than staff."""
        members = tuple(m["name"] if isinstance(m, Mapping) else str(m) for m in body.get("members") or ())
        return cls(
            id=body["id"],
            name=body["name"],
            state=body["state"],
            version=body.get("version") or 1,
            number=body.get("number"),
            club=body.get("club") or "",
            seed=body.get("seed"),
            entered_round=body.get("entered_round") or 1,
            withdrawn_from=body.get("withdrawn_from"),
            fixed_board=body.get("fixed_board"),
            external_id=body.get("external_id"),
            waiting_place=body.get("waiting_place"),
            members=members,
            substitutes=tuple(body.get("substitutes") or ()),
            seed_source=body.get("seed_source") or "",
            seed_date=body.get("seed_date"),
            absences=tuple(body.get("absences") or ()),
            byes=tuple(body.get("byes") or ()),
            sex=body.get("sex"),
            birth_year=body.get("birth_year"),
            phone=body.get("phone") or "",
            email=body.get("email") or "",
            notes=body.get("notes") or "",
            people=tuple(body.get("people") or ()),
            warnings=tuple(body.get("warnings") or ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkChange:
    """What a change of many entrants did, and whom it left alone, with the reason."""

    changed: tuple[Json, ...]
    refused: tuple[Json, ...]
    moved_up: tuple[int, ...] = ()
    """Ids of those who moved up from the waiting list."""
    applied: bool = True
    """False after a dry run."""
    undo: int | None = None
    """By which the step can be taken back, while nobody was changed since."""

    @classmethod
    def from_json(cls, body: Json) -> BulkChange:
        """From the API's object."""
        return cls(
            changed=tuple(body.get("changed") or ()),
            refused=tuple(body.get("refused") or ()),
            moved_up=tuple(body.get("moved_up") or ()),
            applied=bool(body.get("applied", True)),
            undo=body.get("undo"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """One row for each line of a roster: `{row, outcome, entrant?, reasons}`; `applied` False after a dry run."""

    rows: tuple[Json, ...]
    counts: Mapping[str, int]
    encoding: str
    delimiter: str
    applied: bool
    plan: str | None = None
    """What the dry run looked at: the import that follows is refused where it would now do something else."""
    ignored: tuple[str, ...] = ()
    """Headings of columns that mean nothing here."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns that were recognised, by what they mean, as they are headed."""

    @classmethod
    def from_json(cls, body: Json) -> ImportReport:
        """From the API's object."""
        return cls(
            rows=tuple(body["rows"]),
            counts=body["counts"],
            encoding=body.get("encoding", ""),
            delimiter=body.get("delimiter", ""),
            applied=body["applied"],
            plan=body.get("plan"),
            ignored=tuple(body.get("ignored") or ()),
            columns=dict(body.get("columns") or {}),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lots:
    """How numbers were given: by machine from a stored seed, in seeding order, or by hand."""

    mode: str | None
    seed: int | None
    numbers: Mapping[int, int]
    """Entrant id → number."""
    order: tuple[int, ...] = ()
    """Entrant ids as they were drawn."""
    appended: tuple[int, ...] = ()
    """Entrant ids who got the next numbers afterwards."""
    rule: str | None = None
    """How anybody can do the draw again."""
    replayed: bool | None = None
    """Whether the seed gives the same order again, tried just now."""
    frozen: bool = False
    version: int = 0
    """How often lots were drawn: what the next draw says it saw."""

    @classmethod
    def from_json(cls, body: Json) -> Lots:
        """From the API's object."""
        numbers = {int(entrant): number for entrant, number in (body.get("numbers") or {}).items()}
        return cls(
            mode=body.get("mode"),
            seed=body.get("seed"),
            numbers=numbers,
            order=tuple(body.get("order") or ()),
            appended=tuple(body.get("appended") or ()),
            rule=body.get("rule"),
            replayed=body.get("replayed"),
            version=body.get("version", 0),
            frozen=bool(body.get("frozen")),
        )
