"""Importing a club's roster: the plan of the dry run, carried out as a whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session
from werkzeug.datastructures import LanguageAccept

from qisai.db.entrants import EntrantRow, EntrantState, Sex
from qisai.db.events import EventRow
from qisai.db.many_rows import update_many
from qisai.db.name_keys import sort_key
from qisai.errors import Conflict, Invalid
from qisai.formats.roster import Roster
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from qisai.web.field_texts import field_text
from services.registration.operations.entrants import loggable
from services.registration.operations.held import hold_for_entries
from services.registration.operations.import_plan import ImportPlan, Outcome, PlannedRow, field_stamp, plan_import
from services.registration.operations.members import set_members
from services.registration.operations.registering import CONTACT, OWN_COLUMNS, NewEntrant, add_entrants, set_contacts
from services.registration.queries import events as queries
from services.registration.states import PLAYED

MAX_ERRORS: Final = 200
"""Faulty rows that a refusal names; more of them is the wrong sheet."""

_SHOWN: Final = {"people": "members"}
"""Names of the API for what a plan calls otherwise."""


def dry_run(session: Session, *, event_id: int, roster: Roster) -> ImportPlan:
    """What importing it now would do. Raises `NotFound`."""
    return plan_import(session, queries.event(session, event_id), roster)


def apply_import(
    session: Session, actor: Actor, *, event_id: int, plan: ImportPlan, looked_at: str | None = None
) -> Mapping[int, int]:
    """Carries a plan out, all of it or nothing; ids of new entrants by row of the sheet.

    `looked_at`: the fingerprint of the plan that somebody read before; another plan than that is refused.

    While the event is held it is asked whether the field is still the one of the plan; where it is not, the plan is
    made again, and another one than before is refused.
    Raises `Invalid` `import-refused` with every faulty row, `Conflict`: `import-changed`, `event-over`.
    """
    if looked_at is not None and looked_at != plan.fingerprint:
        raise _changed()
    refused = plan.of(Outcome.REFUSED)
    if refused:
        problems = [problem for row in refused for problem in row.problems][:MAX_ERRORS]
        first = problems[0]
        raise Invalid(
            "import-refused",
            f"{len(refused)} of {len(plan.rows)} rows cannot be taken, so none was; {first.place}: {first.detail}.",
            errors=[problem.as_field_error() for problem in problems],
            refused=len(refused),
            rows=len(plan.rows),
        )
    new, changed = plan.of(Outcome.NEW), plan.of(Outcome.CHANGED)
    entrants, keys = [_entrant(row) for row in new], _sort_keys(changed)
    # Everything that takes long is ready: other desks wait from here on.
    event = hold_for_entries(session, event_id)
    if not _is_as_planned(session, event, plan):
        raise _changed()
    ids = add_entrants(session, actor, event, entrants)
    pairing = _change(session, event, changed, keys)
    if ids or changed:
        _record(session, actor, event_id, plan, ids)
        data = {"new": len(ids), "changed": len(changed)}
        feed.publish(session, event_id, "entrant.imported", data=data, pairing=pairing)
    return {row.source.row: entrant_id for row, entrant_id in zip(new, ids, strict=True)}


def _changed() -> Conflict:
    detail = "The field was changed since this import was looked at; look at it again, then import."
    return Conflict("import-changed", detail)


def _is_as_planned(session: Session, event: EventRow, plan: ImportPlan) -> bool:
    if field_stamp(session, event.id) == plan.stamp:
        return True
    return plan_import(session, event, plan.roster).fingerprint == plan.fingerprint


def _sort_keys(rows: Sequence[PlannedRow]) -> dict[int, str]:
    return {row.source.row: sort_key(row.changes["name"]) for row in rows if "name" in row.changes}


def _entrant(row: PlannedRow) -> NewEntrant:
    source = row.source
    return NewEntrant(
        name=source.name,
        club=source.club or "",
        seed=source.seed,
        seed_source=source.seed_source or "",
        seed_date=source.seed_date,
        external_id=source.external_id or None,
        sex=None if source.sex is None else Sex(source.sex),
        birth_year=source.birth_year,
        phone=source.phone or "",
        email=source.email or "",
        notes=source.notes or "",
        team=row.team,
    )


def _change(session: Session, event: EventRow, rows: Sequence[PlannedRow], keys: Mapping[int, str]) -> bool:
    """Writes the changed entrants; whether one of them is in the pairing pool."""
    if not rows:
        return False
    values = []
    for row in rows:
        given = {name: row.changes[name] for name in OWN_COLUMNS if name in row.changes}
        if "name" in given:
            given["sort_key"] = keys[row.source.row]
        values.append({"id": row.entrant_id, "version": (row.version or 0) + 1, **given})
    update_many(session, EntrantRow, values)
    set_members(session, {row.entrant_id: row.team for row in rows if row.entrant_id and "people" in row.changes})
    contacts = {row.entrant_id: {n: row.changes[n] for n in CONTACT if n in row.changes} for row in rows}
    set_contacts(session, {entrant_id: said for entrant_id, said in contacts.items() if entrant_id is not None})
    played = sa.select(sa.func.count()).where(
        EntrantRow.event_id == event.id,
        EntrantRow.state.in_([EntrantState(state) for state in PLAYED]),
        EntrantRow.id.in_([row.entrant_id for row in rows]),
    )
    return bool(session.execute(played).scalar_one())


def _record(session: Session, actor: Actor, event_id: int, plan: ImportPlan, ids: Sequence[int]) -> None:
    changed = plan.of(Outcome.CHANGED)
    old: dict[str, Any] = {str(row.entrant_id): loggable(row.before, row.before) for row in changed}
    new: dict[str, Any] = {str(row.entrant_id): loggable(row.changes, row.changes) for row in changed}
    audit.record(
        session,
        actor,
        action="entrant.import",
        subject=f"event:{event_id}",
        event_id=event_id,
        old={"changed": old},
        new={"changed": new, "added": list(ids), "rows": len(plan.rows), "encoding": plan.roster.encoding},
    )


def report(plan: ImportPlan, *, applied: bool, new_ids: Mapping[int, int], languages: LanguageAccept) -> dict[str, Any]:
    """The plan as JSON, its reasons in the caller's language: one entry for each row of the sheet."""
    rows = []
    for row in plan.rows:
        reasons = [
            {
                "slug": problem.slug,
                "column": problem.column,
                "detail": field_text(problem.slug, problem.detail, context=problem.context, languages=languages),
            }
            for problem in (*row.problems, *row.warnings)
        ]
        rows.append(
            {
                "row": row.source.row,
                "outcome": row.outcome.value,
                "name": row.source.name,
                "club": row.source.club,
                "seed": row.source.seed,
                "entrant": row.entrant_id or new_ids.get(row.source.row),
                "changes": sorted(_SHOWN.get(name, name) for name in row.changes),
                "reasons": reasons,
            }
        )
    return {
        "rows": rows,
        "counts": {outcome.value: len(plan.of(outcome)) for outcome in Outcome},
        "encoding": plan.roster.encoding,
        "delimiter": plan.roster.delimiter,
        "columns": {column.value: heading for column, heading in plan.roster.headings.items()},
        "ignored": list(plan.roster.ignored),
        "plan": plan.fingerprint,
        "applied": applied,
    }
