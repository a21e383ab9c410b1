"""What importing a roster would do, row by row: one plan, shown by the dry run and carried out by the import.

A row belongs to the entrant with the same roster number, else to one of the same name and club and no other birth
year, else to the only one of that name where the sheet has it once too, which is said; so a corrected sheet that is
imported again changes entrants instead of doubling them. Two different people may have one name: that is said, not
refused. Names and clubs are the same however they are spaced (`name_key`).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import ContactRow, EntrantRow, Sex
from qisai.db.events import EventRow
from qisai.errors import Invalid
from qisai.formats.roster import CellProblem, Roster, RosterRow
from qisai.formats.roster_columns import Column
from qisai.formats.typed_text import name_key
from services.registration.operations.members import (
    NO_TEAM,
    Memberships,
    Person,
    Team,
    is_team_event,
    memberships,
    size_complaint,
    team_of,
    unused_fields,
)
from services.registration.queries.entrants import people_of_entrant
from services.registration.states import GONE

_PLAIN: Final = ("club", "seed", "seed_source", "seed_date", "sex", "birth_year", "phone", "email", "notes")
"""Columns that are compared value by value."""


class Outcome(StrEnum):
    """What becomes of a row."""

    NEW = "new"
    SAME = "same"
    CHANGED = "changed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRow:
    """One row of the sheet. `changes`: values by name where an entrant is changed; `version` as the plan saw it."""

    source: RosterRow
    outcome: Outcome
    entrant_id: int | None = None
    version: int | None = None
    team: Team = NO_TEAM
    """The people as they will be."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[CellProblem, ...] = ()
    warnings: tuple[CellProblem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ImportPlan:
    """What importing `roster` into the event would do."""

    roster: Roster
    rows: tuple[PlannedRow, ...]
    stamp: tuple[int, int] = (0, 0)
    """`field_stamp` of the field that the plan was made from."""

    def of(self, outcome: Outcome) -> list[PlannedRow]:
        """Rows with this outcome."""
        return [row for row in self.rows if row.outcome is outcome]

    @cached_property
    def fingerprint(self) -> str:
        """Equal for plans that do the same to the same entrants at the same versions."""
        rows = [
            [row.source.row, row.source.name, row.outcome, row.entrant_id, row.version, dict(row.changes)]
            for row in self.rows
        ]
        return hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).hexdigest()


def plan_import(session: Session, event: EventRow, roster: Roster) -> ImportPlan:
    """The plan for the event as it is now: three queries at most, whatever the size of the sheet.

    Raises `Invalid` `roster-teams-only` where persons enter and only teams are named: they would be the entrants.
    """
    if roster.teams_heading is not None and not is_team_event(event):
        detail = (
            f"Persons enter this event, but the sheet has only “{roster.teams_heading}” and no column of names that"
            " is known: head it 姓名 (or name)."
        )
        raise Invalid("roster-teams-only", detail, heading=roster.teams_heading)
    stamp = field_stamp(session, event.id)  # first: what changes from here on makes the stamp another one
    matcher = _Matcher(_present(session, event.id), roster)
    rows = [matcher.plan(event, row) for row in roster.rows]
    if roster.headings.keys() & {Column.MEMBERS, Column.SUBSTITUTES}:
        changed = [row.entrant_id for row in rows if row.entrant_id is not None and "people" in row.changes]
        rows = _refuse_elsewhere(rows, memberships(session, event.id, but=changed), matcher)
    return ImportPlan(roster=roster, rows=tuple(rows), stamp=stamp)


def field_stamp(session: Session, event_id: int) -> tuple[int, int]:
    """How many entrants there are, and their versions summed: another one once anybody was entered or changed, since
    entrants are never deleted and every change of one raises its version."""
    e = EntrantRow
    query = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(e.version), 0)).where(e.event_id == event_id)
    count, versions = session.execute(query).one()
    return int(count), int(versions)


def _present(session: Session, event_id: int) -> Sequence[Any]:
    e, c = EntrantRow, ContactRow
    columns = (e.id, e.name, e.club, e.seed, e.seed_source, e.seed_date, e.sex, e.birth_year)
    more = (e.external_id, e.state, e.version, c.phone, c.email, c.notes)
    query = sa.select(*columns, *more, people_of_entrant().label("people")).outerjoin(c, c.entrant_id == e.id)
    return session.execute(query.where(e.event_id == event_id).order_by(e.id)).all()


class _Matcher:
    """Finds the entrant of each row; an entrant belongs to one row only."""

    def __init__(self, present: Sequence[Any], roster: Roster) -> None:
        self._headings = roster.headings
        self._has_club = Column.CLUB in roster.headings
        self._compared = [name for name in _PLAIN if Column(name) in roster.headings]
        self._by_external_id = {row.external_id: row for row in present if row.external_id}
        self._by_name: dict[tuple[str, str], list[Any]] = defaultdict(list)
        self._names: dict[str, list[Any]] = defaultdict(list)
        claimed = {row.external_id for row in roster.rows if row.external_id}
        self._alone: dict[str, list[Any]] = defaultdict(list)
        for row in present:
            if row.external_id in claimed:
                continue  # belongs to the row with its number, whatever that row is called
            self._by_name[self._key(row.name, row.club)].append(row)
            self._alone[name_key(row.name)].append(row)
            if row.state not in GONE:
                self._names[name_key(row.name)].append(row)
        self._times = Counter(name_key(row.name) for row in roster.rows)
        self._numbers_seen: dict[str, int] = {}
        self._rows_of_name: dict[str, RosterRow] = {}

    def plan(self, event: EventRow, row: RosterRow) -> PlannedRow:
        """What becomes of one row; rows are given in their order."""
        found = None if row.problems else self._match(row)
        is_by_name = found is None and not row.problems
        if is_by_name:
            found = self._only_one(row)
        team = self._team(row, found)
        problems = [*row.problems, *self._problems(event, row, team)]
        if problems:
            return PlannedRow(source=row, outcome=Outcome.REFUSED, problems=tuple(problems))
        warnings = self._warnings(row, found)
        if is_by_name and found is not None:
            warnings.append(self._said_by_name(row, found))
        self._rows_of_name.setdefault(name_key(row.name), row)
        if found is None:
            return PlannedRow(source=row, outcome=Outcome.NEW, team=team, warnings=tuple(warnings))
        wanted = self._values(row, team)
        before = {name: _value(found, name) for name in wanted}
        changes = {name: value for name, value in wanted.items() if value != before[name]}
        return PlannedRow(
            source=row,
            outcome=Outcome.CHANGED if changes else Outcome.SAME,
            entrant_id=found.id,
            version=found.version,
            team=team,
            changes=changes,
            before={name: before[name] for name in changes},
            warnings=tuple(warnings),
        )

    def problem(self, row: RosterRow, column: Column, detail: str, slug: str, said: Mapping[str, Any]) -> CellProblem:
        """A complaint about one cell. `said`: what translations of the slug name."""
        heading, context = self._headings.get(column, ""), {"variant": "cell", **said}
        return CellProblem(row=row.row, column=heading, detail=detail, slug=slug, context=context)

    def _problems(self, event: EventRow, row: RosterRow, team: Team) -> list[CellProblem]:
        used = {
            "sex": row.sex, "birth_year": row.birth_year, "members": row.members, "substitutes": row.substitutes
        }  # fmt: skip
        problems = [
            self.problem(row, Column(error.pointer[1:]), error.detail, error.slug, error.context)
            for error in unused_fields(event, used)
        ]
        complaint = size_complaint(event, team)
        if complaint is not None and not problems:
            said = {"count": len(team.members), "size": event.profile_copy["team_size"]}
            problems.append(self.problem(row, Column.MEMBERS, complaint, "members", said))
        if row.external_id:
            first = self._numbers_seen.setdefault(row.external_id, row.row)
            if first != row.row:
                detail = f"{row.external_id} stands in row {first} already"
                twice = {"value": row.external_id, "row": first}
                problems.append(self.problem(row, Column.EXTERNAL_ID, detail, "duplicate", twice))
        return problems

    def _match(self, row: RosterRow) -> Any:
        if row.external_id and row.external_id in self._by_external_id:
            return self._by_external_id[row.external_id]
        same = self._by_name.get(self._key(row.name, row.club))
        fits = [one for one in same or () if not (row.external_id and one.external_id) and _may_be(one, row)]
        if same is None or not fits:
            return None  # nobody; or another number or year, which is another person
        found = max(fits, key=lambda one: (one.birth_year == row.birth_year, one.name == row.name))
        same.remove(found)
        return found

    def _only_one(self, row: RosterRow) -> Any:
        """The only entrant of that name in the event, where the sheet has the name only once: the club was corrected.

        Nobody who is gone: another club may be another person, who would then not be entered.
        """
        same = self._alone.get(name_key(row.name), ())
        if len(same) != 1 or self._times[name_key(row.name)] != 1:
            return None
        (one,) = same
        is_another = (row.external_id and one.external_id) or not _may_be(one, row) or one.state in GONE
        return None if is_another else one

    def _said_by_name(self, row: RosterRow, found: Any) -> CellProblem:
        was = f" (club “{found.club}”)" if found.club else ""
        detail = (
            f"taken as the only {found.name} of this event{was}, who will be changed;"
            " if this is another person, fill in birth year or number"
        )
        said = {"name": found.name, "club": found.club, "variant": "club" if found.club else "cell"}
        return self.problem(row, Column.CLUB, detail, "by-name-alone", said)

    def _key(self, name: str, club: str | None) -> tuple[str, str]:
        """By what a row without a number is matched: in a sheet without clubs by the name alone."""
        return (name_key(name), name_key(club or "") if self._has_club else "")

    def _team(self, row: RosterRow, found: Any) -> Team:
        """The people as the row has them; who was there before keeps birth year and number."""
        before = team_of(found.people if found is not None else None)
        known = {person.name: person for person in before.people()}

        def people(names: tuple[str, ...] | None, present: tuple[Person, ...]) -> tuple[Person, ...]:
            return present if names is None else tuple(known.get(name) or Person(name=name) for name in names)

        return Team(
            members=people(row.members, before.members), substitutes=people(row.substitutes, before.substitutes)
        )

    def _values(self, row: RosterRow, team: Team) -> dict[str, Any]:
        """What the sheet says; a column that it does not have says nothing."""
        values: dict[str, Any] = {"name": row.name}
        for name in self._compared:
            said = getattr(row, name)
            values[name] = ("" if said is None else said) if name not in _NULLABLE else said
        if self._headings.keys() & {Column.MEMBERS, Column.SUBSTITUTES}:
            values["people"] = team.rows()
        if row.external_id:
            values["external_id"] = row.external_id
        return values

    def _warnings(self, row: RosterRow, found: Any) -> list[CellProblem]:
        warnings = []
        if found is not None and found.state in GONE:
            detail = f"{found.name} is {found.state.slug} here and stays so"
            warnings.append(self.problem(row, Column.NAME, detail, "not-entered", {"name": found.name}))
        earlier = self._rows_of_name.get(name_key(row.name))
        others = [
            one
            for one in self._names[name_key(row.name)]
            if (found is None or one.id != found.id) and _may_be(one, row)
        ]
        if earlier is not None and _may_be(earlier, row):
            detail = f"{row.name} stands in row {earlier.row} too; taken as another person"
            said = {"variant": "row", "name": row.name, "row": earlier.row}
            warnings.append(self.problem(row, Column.NAME, detail, "same-name", said))
        elif found is None and others:
            detail = f"there is another {row.name} in this event; taken as another person"
            warnings.append(self.problem(row, Column.NAME, detail, "same-name", {"variant": "event", "name": row.name}))
        return warnings


_NULLABLE: Final = frozenset({"seed", "seed_date", "sex", "birth_year"})


def _may_be(one: Any, other: Any) -> bool:
    """Whether birth years leave it open that the two are one person."""
    return None in (one.birth_year, other.birth_year) or bool(one.birth_year == other.birth_year)


def _refuse_elsewhere(rows: Sequence[PlannedRow], teams: Memberships, matcher: _Matcher) -> list[PlannedRow]:
    """Rows of teams with a member of another team are refused; of two such rows the later one."""
    checked = []
    for row in rows:
        moves = row.outcome is Outcome.NEW or "people" in row.changes
        complaint = teams.complaint(row.team, but=row.entrant_id) if moves and row.team.people() else None
        if complaint is not None:
            detail, said = complaint.detail, complaint.context
            problem = matcher.problem(row.source, Column.MEMBERS, detail, "member-elsewhere", said)
            checked.append(replace(row, outcome=Outcome.REFUSED, problems=(problem,)))
            continue
        if moves:
            teams.add(row.team.people(), entrant_id=row.entrant_id, name=row.source.name)
        checked.append(row)
    return checked


def _value(row: Any, name: str) -> Any:
    value = getattr(row, name)
    if name == "people":
        return list(value or ())
    if isinstance(value, Sex):
        return value.value
    return "" if value is None and name not in _NULLABLE and name != "external_id" else value
