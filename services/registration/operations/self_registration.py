"""Registering on one's own while an event is open, and the link by which one's own entry is read and cancelled."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from qisai.db.entrants import EntrantRow, EntrantState, LinkRow
from qisai.db.events import EventRow, EventState
from qisai.db.secrets import new_secret
from qisai.db.session import now
from qisai.errors import Conflict, TooMany
from qisai.ledger import audit
from qisai.ledger.actor import Actor
from services.registration.operations.held import hold_event, hold_for_entries
from services.registration.operations.judging import Mover, Step
from services.registration.operations.registering import NewEntrant, register_in
from services.registration.operations.steps import entrants_where, take_step
from services.registration.queries import entrants as queries
from services.registration.queries.own_entries import CANCELLABLE, behind_link
from services.registration.states import STEPS

S = EntrantState
MOST_A_MINUTE: Final = 120
"""Entries that the public may make in one event within a minute; the gateway counts callers besides."""
MOST_LINKS: Final = 5
"""Links to one entry: as often as its answer may get lost."""
MOST_ENTRANTS: Final = 20_000


def register_oneself(session: Session, actor: Actor, *, event_id: int, entrant: NewEntrant) -> int:
    """Registers somebody of the public; the id.

    Raises `NotFound`, `Invalid`, `TooMany`, `Conflict`: `registration-closed` (by what, since when),
    `member-elsewhere`, `double-entry` where the same person seems to be entered already.
    """
    event = hold_event(session, event_id)
    _require_open(session, event)
    _require_calm(session, event_id)
    same = queries.namesakes(session, event_id, entrant, but=0)
    if same.likely:
        detail = (
            f"{entrant.name} is entered already, and neither club nor birth year tells the two apart;"
            " where this is another person, say the year of birth or ask the desk."
        )
        raise Conflict("double-entry", detail, name=entrant.name)
    return register_in(session, actor, event, entrant)


def _require_open(session: Session, event: EventRow) -> None:
    until = event.registration_until
    if event.state is not EventState.OPEN:
        detail = "Registration for this event is not open; ask its organiser."
        raise Conflict("registration-closed", detail, state=event.state.value)
    if until is not None and until <= now(session):
        detail = f"Registration for this event closed at {until.isoformat()}; ask its desk."
        raise Conflict("registration-closed", detail, until=until.isoformat())


def _require_calm(session: Session, event_id: int) -> None:
    e, k, earlier = EntrantRow, LinkRow, aliased(LinkRow)
    # entries, not links: asking for a link to one entry anew keeps nobody else out
    first = ~sa.exists().where(earlier.entrant_id == k.entrant_id, earlier.id < k.id)
    lately = sa.select(sa.func.count()).select_from(k).join(e, e.id == k.entrant_id).where(
        e.event_id == event_id, k.created_at > now(session) - timedelta(minutes=1), first
    )  # fmt: skip
    if session.execute(lately).scalar_one() >= MOST_A_MINUTE:
        raise TooMany(
            "too-many-registrations", "Very many are registering for this event; try again in a minute.", retry_after=60
        )
    if session.execute(sa.select(sa.func.count()).where(e.event_id == event_id)).scalar_one() >= MOST_ENTRANTS:
        detail = f"This event has {MOST_ENTRANTS} entries, more than it can take; ask its organiser."
        raise Conflict("registration-closed", detail)


def new_link(session: Session, actor: Actor, *, event_id: int, entrant_id: int) -> str:
    """A new secret that opens an entry; only its hash is kept. Earlier links go on counting; a further one is logged.

    Raises `Conflict` `too-many-links` where the entry has `MOST_LINKS` already.
    """
    there = session.execute(sa.select(sa.func.count()).where(LinkRow.entrant_id == entrant_id)).scalar_one()
    if there >= MOST_LINKS:
        detail = f"This entry has {MOST_LINKS} links already: use one of them, or ask the desk."
        raise Conflict("too-many-links", detail, most=MOST_LINKS)
    plain, secret_hash = new_secret()
    session.execute(sa.insert(LinkRow).values(entrant_id=entrant_id, secret_hash=secret_hash))
    if there:
        subject, new = f"entrant:{entrant_id}", {"links": there + 1}
        audit.record(session, actor, action=queries.LINKED, subject=subject, event_id=event_id, new=new)
    return plain


def cancel_own_entry(session: Session, *, token: str, request_id: str) -> None:
    """Cancels the entry; who waits moves up. Cancelling twice changes nothing.

    Raises `NotFound` `no-such-link`, `Conflict`: `ask-the-desk` once seated, `event-over`.
    """
    event_id, entrant_id = behind_link(session, token)
    event = hold_for_entries(session, event_id)
    rows = entrants_where(session, event_id, EntrantRow.id == entrant_id)
    state = rows[0].state
    if state is not S.CANCELLED:
        if state not in CANCELLABLE:
            detail = f"{rows[0].name} is {state.slug}; only the desk can take that entry out."
            raise Conflict("ask-the-desk", detail, name=rows[0].name, state=state.slug)
        actor = Actor(account_id=None, name=rows[0].name, request_id=request_id)
        roles = STEPS[state, S.CANCELLED].roles  # the entry is their own: what a desk may do with it, they may
        take_step(session, Mover(actor=actor, roles=roles), event, rows, Step(to=S.CANCELLED, reason="by the entrant"))
