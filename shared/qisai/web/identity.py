"""Who calls, and whether they may: from the assertion and the grants in the database, at each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sqlalchemy as sa
from flask import g
from sqlalchemy.orm import Session

from qisai.db.accounts import Role
from qisai.db.events import EventState
from qisai.db.statements import Statement
from qisai.errors import Forbidden, Unauthenticated
from qisai.ledger.actor import Actor
from qisai.web.assertion import Assertion
from qisai.web.rights import EVENT_ITSELF, ROLES, EventOf, Right

Reads = Session | sa.Connection
"""Whatever executes statements: here they only read."""
READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A role, in one event or (None) in all; `boards` limits a referee to a range of board numbers."""

    role: Role
    event_id: int | None
    boards: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller of this request with everything that decides rights."""

    actor: Actor
    grants: tuple[Grant, ...] = ()
    scopes: tuple[str, ...] = ()
    key: str = "public"
    """Names the caller for idempotency: account and session or token."""

    @property
    def signed_in(self) -> bool:
        """Whether this is an account."""
        return self.actor.account_id is not None

    def roles_in(self, event_id: int | None, *, owner_id: int | None = None) -> frozenset[Role]:
        """Roles in an event (association-wide ones count). An organiser organises the events they created."""
        roles = {grant.role for grant in self.grants if grant.event_id is None or grant.event_id == event_id}
        owns = owner_id is not None and owner_id == self.actor.account_id
        if owns and any(grant.role is Role.ORGANISER for grant in self.grants):
            roles.add(Role.ORGANISER)
        # An association-wide organiser may create events, but organises only their own.
        if event_id is not None and not owns and not self._granted(Role.ORGANISER, event_id):
            roles.discard(Role.ORGANISER)
        return frozenset(roles)

    def _granted(self, role: Role, event_id: int) -> bool:
        return any(grant.role is role and grant.event_id == event_id for grant in self.grants)

    def may_enter_board(self, event_id: int, *, board: int) -> bool:
        """Whether a result of this board number may be entered: a limited referee has a range of boards."""
        here = [grant for grant in self.grants if grant.event_id in (None, event_id)]
        if any(grant.role in (Role.ASSOCIATION_ADMIN, Role.CHIEF_REFEREE) for grant in here):
            return True
        referee = [grant.boards for grant in here if grant.role is Role.REFEREE]
        return any(boards is None or boards[0] <= board <= boards[1] for boards in referee)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSeen:
    """What decides who may know of an event."""

    id: int
    is_public: bool
    state: str
    created_by: int | None


_ACCOUNT = """
    SELECT a.name, a.is_active,
           (CAST(:session_id AS bigint) IS NULL OR EXISTS (SELECT 1 FROM web_session s WHERE s.id = :session_id
             AND s.account_id = a.id AND s.revoked_at IS NULL AND s.expires_at > clock_timestamp())) AS session_ok,
           (CAST(:token_id AS bigint) IS NULL OR EXISTS (SELECT 1 FROM api_token t WHERE t.id = :token_id
             AND t.account_id = a.id AND t.revoked_at IS NULL
             AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp()))) AS token_ok,
           (SELECT coalesce(json_agg(json_build_array(g.role, g.event_id, g.board_from, g.board_to)), '[]'::json)
              FROM access_grant g WHERE g.account_id = a.id) AS grants{more}
    FROM account a {joined} WHERE a.id = :account_id
    """
_EVENT = "SELECT e.id AS event_id, e.is_public, e.state, e.created_by FROM event e WHERE e.id = ({sql})"
_CALLER = Statement(sa.text(_ACCOUNT.format(more="", joined="")))


@cache
def _event(event_of: EventOf) -> Statement:
    return Statement(sa.text(_EVENT.format(sql=event_of.sql)))


@cache
def caller_and_event(event_of: EventOf) -> Statement:
    """The statement that reads an account with its grants, and the event that a path is about."""
    joined = f"LEFT JOIN ({_EVENT.format(sql=event_of.sql)}) AS found ON true"
    return Statement(sa.text(_ACCOUNT.format(more=", found.*", joined=joined)))


def _first(reads: Reads, statement: Statement, values: Mapping[str, Any]) -> Any | None:
    return statement.first(reads.connection() if isinstance(reads, Session) else reads, values)


def identify(
    session: Reads, assertion: Assertion, event_of: EventOf, values: Mapping[str, Any]
) -> tuple[Caller, EventSeen | None]:
    """The caller, and the event that the request's path is about (None: it is about none), in one statement.

    Raises `Unauthenticated` as `load_caller`, `NotFound` where what the path names is not there.
    """
    about = values.get(event_of.name)
    if about is None:
        return load_caller(session, assertion), None
    about = int(about)
    parameters = {"about": about if about < 1 << 63 else None}  # no column could hold a larger one
    if assertion.account_id is None:
        caller = load_caller(session, assertion)
        row = _first(session, _event(event_of), parameters)
    else:
        row = _first(session, caller_and_event(event_of), parameters | _who(assertion))
        caller = _caller(assertion, row)
    if row is None or row.event_id is None:
        raise event_of.missing(about)
    event = EventSeen(id=row.event_id, is_public=row.is_public, state=row.state, created_by=row.created_by)
    return caller, event


def load_caller(session: Reads, assertion: Assertion) -> Caller:
    """The caller behind an assertion. Raises `Unauthenticated` for a closed account, session or token."""
    if assertion.account_id is None:
        actor = Actor(account_id=None, name="public", device=assertion.device, request_id=assertion.request_id)
        return Caller(actor=actor, scopes=assertion.scopes)
    return _caller(assertion, _first(session, _CALLER, _who(assertion)))


def _who(assertion: Assertion) -> dict[str, int | None]:
    return {
        "account_id": assertion.account_id,
        "session_id": assertion.session_id,
        "token_id": assertion.token_id,
    }


def _caller(assertion: Assertion, row: Any) -> Caller:
    if row is None or not row.is_active or not row.session_ok or not row.token_ok:
        raise Unauthenticated("signed-out", "This sign-in or token is no longer valid; sign in again.")
    return Caller(
        actor=Actor(
            account_id=assertion.account_id,
            name=row.name,
            device=assertion.device,
            request_id=assertion.request_id,
        ),
        grants=_grants(row.grants),
        scopes=assertion.scopes,
        key=f"{assertion.account_id}:{assertion.session_id or ''}:{assertion.token_id or ''}",
    )


def _grants(rows: Sequence[Sequence[Any]]) -> tuple[Grant, ...]:
    return tuple(
        Grant(role=Role(role), event_id=event_id, boards=None if low is None else (low, high))
        for role, event_id, low, high in rows
    )


def authorise(
    session: Reads,
    caller: Caller,
    *,
    right: Right,
    method: str,
    event_id: int | None,
    event: EventSeen | None = None,
) -> None:
    """Lets the call through or raises. `event` spares reading it.

    `Unauthenticated` where nobody is signed in, `Forbidden` without the right, `NotFound` for an event that the caller
    may not know of.
    """
    if method not in READ_METHODS and caller.signed_in and "write" not in caller.scopes:
        raise Forbidden("read-only", "This token may only read.")
    if right in (Right.PUBLIC, Right.INTERNAL):
        return
    if right is not Right.READ_EVENT and not caller.signed_in:
        raise Unauthenticated("sign-in-needed", "Sign in to do this.")
    if right is Right.SIGNED_IN:
        return
    owner_id = None
    if event_id is not None:
        owner_id = _visible_event(caller, event or _seen(session, event_id))
    if right is Right.READ_EVENT:
        return
    roles = caller.roles_in(event_id, owner_id=owner_id)
    if not roles & ROLES[right]:
        needed = ", ".join(sorted(ROLES[right]))
        raise Forbidden("no-right", f"This needs one of these roles: {needed}.", right=right.value)


def _seen(session: Reads, event_id: int) -> EventSeen:
    row = _first(session, _event(EVENT_ITSELF), {"about": event_id})
    if row is None:
        raise EVENT_ITSELF.missing(event_id)
    return EventSeen(id=row.event_id, is_public=row.is_public, state=row.state, created_by=row.created_by)


def _visible_event(caller: Caller, event: EventSeen) -> int | None:
    """Owner of the event. Raises `NotFound` for one that this caller may not know of."""
    hidden = not event.is_public or event.state == EventState.DRAFT
    if hidden and not caller.roles_in(event.id, owner_id=event.created_by):
        raise EVENT_ITSELF.missing(event.id)
    return event.created_by


def may_here(right: Right) -> bool:
    """Whether the caller of the request under way has a right in the event that its path is about."""
    event: EventSeen = g.event
    return bool(current_caller().roles_in(event.id, owner_id=event.created_by) & ROLES[right])


def current_caller() -> Caller:
    """The caller of the request under way."""
    caller: Caller = g.caller
    return caller
