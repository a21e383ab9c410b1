"""Registering entrants: one, or many of a roster; a place while there is one, else the end of the waiting list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import ContactRow, EntrantRow, EntrantState, Sex
from qisai.db.events import EventRow
from qisai.db.many_rows import insert_many_for_ids, upsert_many
from qisai.db.name_keys import sort_key
from qisai.errors import Conflict, Invalid
from qisai.ledger import feed
from qisai.ledger.actor import Actor
from services.registration.operations.held import hold_for_entries
from services.registration.operations.members import NO_TEAM, Team, require_team_fits, set_members, unused_fields
from services.registration.operations.steps import free_places, log_steps

S = EntrantState
CONTACT: Final = ("phone", "email", "notes")
"""Columns of the contact row."""
OWN_COLUMNS: Final = (
    "name", "club", "seed", "seed_source", "seed_date", "external_id", "fixed_board", "sex", "birth_year",
)  # fmt: skip
"""Columns of the entrant's own row that people fill in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntrant:
    """What is known of somebody who registers; names are tidy already."""

    name: str
    club: str = ""
    seed: int | None = None
    seed_source: str = ""
    seed_date: date | None = None
    external_id: str | None = None
    fixed_board: int | None = None
    sex: Sex | None = None
    birth_year: int | None = None
    phone: str = ""
    email: str = ""
    notes: str = ""
    team: Team = NO_TEAM
    sort_key: str = field(init=False)
    """Made with the entrant: for a whole roster it takes seconds, in which no event is to be held."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sort_key", sort_key(self.name))

    def columns(self) -> dict[str, Any]:
        """Values of the entrant's own row."""
        return {name: getattr(self, name) for name in (*OWN_COLUMNS, "sort_key")}

    def said(self) -> dict[str, Any]:
        """What a game might not use, by name."""
        return {
            "sex": self.sex, "birth_year": self.birth_year, "members": self.team.members,
            "substitutes": self.team.substitutes,
        }  # fmt: skip


def register(session: Session, actor: Actor, *, event_id: int, entrant: NewEntrant) -> int:
    """Registers one entrant: a place while there is one, else the end of the waiting list; the id.

    Raises `NotFound`, `Invalid`, `Conflict`: `event-over`, `external-id-taken`, `member-elsewhere`.
    """
    event = hold_for_entries(session, event_id)
    return register_in(session, actor, event, entrant)


def register_in(session: Session, actor: Actor, event: EventRow, entrant: NewEntrant) -> int:
    """As `register`, in an event that is held."""
    refuse_unused(event, entrant.said())
    require_team_fits(session, event, entrant.team)
    require_external_id_free(session, event.id, entrant.external_id)
    (entrant_id,) = add_entrants(session, actor, event, [entrant])
    feed.publish(session, event.id, "entrant.registered", data={"count": 1})
    return entrant_id


def add_entrants(session: Session, actor: Actor, event: EventRow, new: Sequence[NewEntrant]) -> list[int]:
    """Writes new entrants of an event that is held, with their log rows; ids in their order. Publishes nothing."""
    free = free_places(session, event)
    placed = len(new) if free is None else max(0, min(free, len(new)))
    accepted = S.REGISTERED if event.needs_approval else S.APPROVED
    states = [accepted] * placed + [S.WAITING] * (len(new) - placed)
    rows = [
        {"event_id": event.id, "state": state, **entrant.columns()} for entrant, state in zip(new, states, strict=True)
    ]
    ids = insert_many_for_ids(session, EntrantRow, rows)
    set_members(session, {one: entrant.team for one, entrant in zip(ids, new, strict=True)}, fresh=True)
    set_contacts(
        session,
        {one: {name: getattr(entrant, name) for name in CONTACT} for one, entrant in zip(ids, new, strict=True)},
        fresh=True,
    )
    steps: list[tuple[int, EntrantState | None, EntrantState]] = []
    for entrant_id, state in zip(ids, states, strict=True):
        steps.append((entrant_id, None, S.WAITING if state is S.WAITING else S.REGISTERED))
        if state is S.APPROVED:
            steps.append((entrant_id, S.REGISTERED, S.APPROVED))
    log_steps(session, actor, event.id, steps, reason="")
    return ids


def set_contacts(session: Session, contacts: Mapping[int, Mapping[str, str]], *, fresh: bool = False) -> None:
    """Contact data of entrants by id: only what is given is changed. `fresh`: they had none, so nothing is cleared."""
    rows = [{"entrant_id": one, **said} for one, said in contacts.items() if said and (not fresh or any(said.values()))]
    upsert_many(session, ContactRow, rows, key="entrant_id")


def refuse_unused(event: EventRow, said: Mapping[str, Any]) -> None:
    """Raises `Invalid` `not-used` for what the event's game does not have."""
    errors = unused_fields(event, said)
    if errors:
        raise Invalid("not-used", f"{errors[0].pointer} {errors[0].detail}.", errors=errors)


def require_external_id_free(session: Session, event_id: int, external_id: str | None) -> None:
    """Raises `Conflict` `external-id-taken`."""
    if external_id is None:
        return
    e = EntrantRow
    query = sa.select(e.id, e.name).where(e.event_id == event_id, e.external_id == external_id).limit(1)
    taken = session.execute(query).one_or_none()
    if taken is not None:
        detail = f"Number {external_id} of the roster belongs to {taken.name} already."
        raise Conflict("external-id-taken", detail, entrant_id=taken.id, external_id=external_id)
