"""What importing a roster would do, row by row: one plan, shown by the dry run and carried out by the import.

A row belongs to the entrant with the same roster number, else to one with exactly the same name and club; so a
corrected sheet that is imported again changes entrants instead of doubling them. Two different people may have one
name: that is said, not refused.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, EntrantState, MemberRow
from qisai.db.events import EventRow
from qisai.formats.roster_columns import Column
from qisai.formats.roster_csv import CellProblem, Roster, RosterRow
from services.registration.operations.entrants import members_complaint

GONE = (EntrantState.CANCELLED, EntrantState.REJECTED)


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
    changes: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[CellProblem, ...] = ()
    warnings: tuple[CellProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlan:
    """What importing `roster` into the event would do."""

    roster: Roster
    rows: tuple[PlannedRow, ...]

    def of(self, outcome: Outcome) -> list[PlannedRow]:
        """Rows with this outcome."""
        return [row for row in self.rows if row.outcome is outcome]

    @property
    def fingerprint(self) -> str:
        """Equal for plans that do the same to the same entrants at the same versions."""
        rows = [
            [row.source.row, row.source.name, row.outcome, row.entrant_id, row.version, dict(row.changes)]
            for row in self.rows
        ]
        return hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).hexdigest()


def plan_import(session: Session, event: EventRow, roster: Roster) -> ImportPlan:
    """The plan for the event as it is now: one query, whatever the size of the sheet."""
    matcher = _Matcher(_present(session, event.id), roster)
    return ImportPlan(roster=roster, rows=tuple(matcher.plan(event, row) for row in roster.rows))


def _present(session: Session, event_id: int) -> Sequence[Any]:
    e = EntrantRow
    members = (
        sa.select(sa.func.array_agg(aggregate_order_by(MemberRow.name, MemberRow.position)))
        .where(MemberRow.entrant_id == e.id)
        .scalar_subquery()
    )
    columns = (e.id, e.name, e.club, e.seed, e.external_id, e.state, e.version)
    query = sa.select(*columns, members.label("members")).where(e.event_id == event_id)
    return session.execute(query.order_by(e.id)).all()


class _Matcher:
    """Finds the entrant of each row; an entrant belongs to one row only."""

    def __init__(self, present: Sequence[Any], roster: Roster) -> None:
        self._headings = roster.headings
        self._has_club = Column.CLUB in roster.headings
        self._by_external_id = {row.external_id: row for row in present if row.external_id}
        self._by_name: dict[tuple[str, str], list[Any]] = defaultdict(list)
        self._names: dict[str, list[int]] = defaultdict(list)
        claimed = {row.external_id for row in roster.rows if row.external_id}
        for row in present:
            if row.external_id in claimed:
                continue  # belongs to the row with its number, whatever that row is called
            self._by_name[self._key(row.name, row.club)].append(row)
            if row.state not in GONE:
                self._names[row.name].append(row.id)
        self._numbers_seen: dict[str, int] = {}
        self._rows_of_name: dict[str, int] = {}

    def plan(self, event: EventRow, row: RosterRow) -> PlannedRow:
        """What becomes of one row; rows are given in their order."""
        problems = [*row.problems, *self._problems(event, row)]
        if problems:
            return PlannedRow(source=row, outcome=Outcome.REFUSED, problems=tuple(problems))
        found = self._match(row)
        warnings = self._warnings(row, found)
        self._rows_of_name.setdefault(row.name, row.row)
        if found is None:
            return PlannedRow(source=row, outcome=Outcome.NEW, warnings=tuple(warnings))
        wanted = self._values(row)
        before = {name: _value(found, name) for name in wanted}
        changes = {name: value for name, value in wanted.items() if value != before[name]}
        return PlannedRow(
            source=row,
            outcome=Outcome.CHANGED if changes else Outcome.SAME,
            entrant_id=found.id,
            version=found.version,
            changes=changes,
            before={name: before[name] for name in changes},
            warnings=tuple(warnings),
        )

    def _problems(self, event: EventRow, row: RosterRow) -> list[CellProblem]:
        problems = []
        complaint = members_complaint(event, row.members or ())
        if complaint is not None:
            problems.append(self._problem(row, Column.MEMBERS, complaint, "members"))
        if row.external_id:
            first = self._numbers_seen.setdefault(row.external_id, row.row)
            if first != row.row:
                detail = f"{row.external_id} stands in row {first} already"
                problems.append(self._problem(row, Column.EXTERNAL_ID, detail, "duplicate"))
        return problems

    def _problem(self, row: RosterRow, column: Column, detail: str, slug: str) -> CellProblem:
        return CellProblem(row=row.row, column=self._headings.get(column, ""), detail=detail, slug=slug)

    def _match(self, row: RosterRow) -> Any:
        if row.external_id and row.external_id in self._by_external_id:
            return self._by_external_id[row.external_id]
        same = self._by_name.get(self._key(row.name, row.club))
        if not same or (row.external_id and same[0].external_id):
            return None  # nobody; or another number, which is another person
        return same.pop(0)

    def _key(self, name: str, club: str | None) -> tuple[str, str]:
        """By what a row without a number is matched: in a sheet without clubs by the name alone."""
        return (name, (club or "") if self._has_club else "")

    def _values(self, row: RosterRow) -> dict[str, Any]:
        """What the sheet says; a column that it does not have says nothing."""
        values: dict[str, Any] = {"name": row.name}
        if Column.CLUB in self._headings:
            values["club"] = row.club or ""
        if Column.SEED in self._headings:
            values["seed"] = row.seed
        if Column.MEMBERS in self._headings:
            values["members"] = list(row.members or ())
        if row.external_id:
            values["external_id"] = row.external_id
        return values

    def _warnings(self, row: RosterRow, found: Any) -> list[CellProblem]:
        warnings = []
        if found is not None and found.state in GONE:
            detail = f"{found.name} is {found.state.slug} here and stays so"
            warnings.append(self._problem(row, Column.NAME, detail, "not-entered"))
        earlier = self._rows_of_name.get(row.name)
        others = [one for one in self._names[row.name] if found is None or one != found.id]
        if earlier is not None:
            detail = f"{row.name} stands in row {earlier} too; taken as another person"
            warnings.append(self._problem(row, Column.NAME, detail, "same-name"))
        elif found is None and others:
            detail = f"there is another {row.name} in this event; taken as another person"
            warnings.append(self._problem(row, Column.NAME, detail, "same-name"))
        return warnings


def _value(row: Any, name: str) -> Any:
    value = getattr(row, name)
    return list(value or ()) if name == "members" else value
