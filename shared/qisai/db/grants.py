"""The matrix of grants: which service may do what with which table, and why.

Each service logs in with a database role of its own. What is not listed here is refused by the database itself: no
service may change the schema, and logs can be added to but never changed. `qisai migrate` applies the matrix,
docs/grants.md shows it (`qisai.db.grants_page`), and tests try it as each role.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from qisai.settings import SERVICES


class Right(StrEnum):
    """What a grant allows. There is no other: nobody truncates, and nobody makes triggers or references."""

    SELECT = "select"
    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


Columns = bool | tuple[str, ...]
"""True: the whole row. A tuple: these columns only. False: nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What one service may do with one table. `why` is for people: docs/grants.md prints it."""

    service: str
    table: str
    select: Columns = True
    insert: Columns = False
    update: Columns = False
    delete: Columns = False
    why: str

    def rights(self) -> Iterator[tuple[Right, str | None]]:
        """Each right with its column; None stands for the whole row."""
        for right in Right:
            columns: Columns = getattr(self, right.value)
            if columns is True:
                yield right, None
            elif columns:
                for column in columns:
                    yield right, column


def _reads(service: str, *tables: str, why: str) -> tuple[Grant, ...]:
    return tuple(Grant(service=service, table=table, why=why) for table in tables)


def _knows_callers(service: str) -> tuple[Grant, ...]:
    """Rights are checked at each call in the service itself; the hashes of secrets stay out of its sight."""
    why = "checks at each call who calls and what they may do; hashes of secrets stay hidden"
    account = ("id", "login", "name", "is_active", "version", "created_at")
    token = ("id", "account_id", "name", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at")
    return (
        Grant(service=service, table="account", select=account, why=why),
        Grant(service=service, table="access_grant", why=why),
        Grant(service=service, table="web_session", select=("id", "account_id", "expires_at", "revoked_at"), why=why),
        Grant(service=service, table="api_token", select=token, why=why),
    )


def _keeps_records(service: str) -> tuple[Grant, ...]:
    """Feed, audit log and alerts are written by every service that changes events, through `qisai.ledger`."""
    return (
        Grant(service=service, table="event_feed", update=True, why="each write of an event takes the next number"),
        Grant(service=service, table="feed_entry", insert=True, why="each write of an event is one entry; a log"),
        Grant(service=service, table="alert", insert=True, update=True, why="raises, clears, acknowledges alerts"),
    )


_IMPORT: Final = "importing a whole event is one transaction: inserts, never changes (docs/adr/0004)"

_REGISTRATION: Final = (
    Grant(
        service="registration",
        table="profile",
        update=("position", "data", "version", "updated_at"),
        why="administrators edit game profiles; `shipped` is kept by `qisai migrate`",
    ),
    Grant(service="registration", table="event", insert=True, update=True, why="owns events; archives, never deletes"),
    Grant(
        service="registration", table="entrant", insert=True, update=True, why="owns entrants; cancels, never deletes"
    ),
    Grant(
        service="registration", table="member", insert=True, update=True, delete=True, why="owns the members of teams"
    ),
    Grant(
        service="registration",
        table="contact",
        insert=True,
        update=True,
        why="how to reach entrants; nobody else reads it",
    ),
    Grant(
        service="registration", table="entrant_link", insert=True, why="links to people's own entries, by their hashes"
    ),
    Grant(service="registration", table="transition", insert=True, why="logs each change of an entrant's state; a log"),
    Grant(service="registration", table="absence", insert=True, delete=True, why="owns announced absences"),
    Grant(
        service="registration", table="requested_bye", insert=True, update=True, delete=True, why="owns byes asked for"
    ),
    Grant(service="registration", table="attendance", insert=True, delete=True, why="owns check-in for a round"),
    Grant(
        service="registration",
        table="attendance_deadline",
        insert=True,
        update=True,
        delete=True,
        why="owns the deadlines of check-in",
    ),
    Grant(
        service="registration",
        table="forbidden_pair",
        insert=True,
        update=True,
        delete=True,
        why="owns forbidden pairs",
    ),
    *_reads(
        "registration", "round", "board", "seat", why="guards: what a published round fixes cannot be changed any more"
    ),
    *_knows_callers("registration"),
    *_keeps_records("registration"),
)

_RESULTS: Final = (
    Grant(
        service="results",
        table="event",
        insert=True,
        update=("state", "frozen_at", "algorithm", "version"),
        why=f"starts, finishes, reopens, freezes at round 1; {_IMPORT}",
    ),
    *(
        Grant(service="results", table=table, insert=True, why=_IMPORT)
        for table in ("entrant", "member", "transition", "absence", "requested_bye", "forbidden_pair")
    ),
    *_reads("results", "attendance", "attendance_deadline", why="the pool of a round leaves out who did not check in"),
    *_reads("results", "profile", why="an imported event copies its game profile"),
    Grant(service="results", table="round", insert=True, update=True, why="owns rounds; none is ever deleted"),
    Grant(
        service="results", table="draw", insert=True, update=True, why="owns the states of draws, edits, draws by hand"
    ),
    Grant(service="results", table="board", insert=True, update=True, why="owns boards; taken back, never deleted"),
    Grant(
        service="results",
        table="seat",
        insert=True,
        delete=True,
        why="publishing seats entrants, unpublishing frees them",
    ),
    Grant(
        service="results",
        table="adjustment",
        insert=True,
        update=("taken_back_at", "taken_back_by", "taken_back_reason", "version"),
        why="records points given or taken; taken back, never changed",
    ),
    Grant(
        service="results",
        table="standings_cache",
        insert=True,
        update=True,
        why="keeps standings as last answered; a cache, rebuilt at any read",
    ),
    Grant(service="results", table="result_log", insert=True, why="logs each change of a board; a log"),
    Grant(service="results", table="result_conflict", insert=True, why="logs each refused result; a log"),
    Grant(
        service="results", table="pairing_job", insert=True, update=True, why="asks for draws, cancels; serves /jobs"
    ),
    Grant(service="results", table="breaker", update=True, why="ops reset a breaker; serves /ops"),
    *_reads("results", "worker", "keeper", why="serves /ops"),
    *_knows_callers("results"),
    *_keeps_records("results"),
)

_PAIRING: Final = (
    *_reads(
        "pairing",
        "event",
        "entrant",
        "member",
        "absence",
        "requested_bye",
        "attendance",
        "attendance_deadline",
        "forbidden_pair",
        "round",
        "board",
        "seat",
        "adjustment",
        why="reads the snapshot that a draw is computed from",
    ),
    Grant(
        service="pairing",
        table="draw",
        insert=True,
        update=("state", "version"),
        why="stores drafts and marks the draft before as replaced; publishing is not its business",
    ),
    Grant(
        service="pairing",
        table="pairing_job",
        update=True,
        delete=True,
        why="claims and finishes jobs, prunes old ones",
    ),
    Grant(
        service="pairing",
        table="pairing_job",
        insert=("is_canary", "round_no", "queue", "size", "limits", "requested_by", "request_id"),
        why="the keeper inserts canaries; without the column of the event it can insert nothing else",
    ),
    Grant(service="pairing", table="worker", insert=True, update=True, delete=True, why="owns heartbeats of workers"),
    Grant(service="pairing", table="keeper", insert=True, update=True, delete=True, why="owns heartbeats of keepers"),
    Grant(service="pairing", table="breaker", insert=True, update=True, why="owns circuit breakers"),
    Grant(
        service="pairing",
        table="web_session",
        select=("id", "expires_at", "revoked_at"),
        delete=True,
        why="the keeper prunes expired sessions",
    ),
    Grant(
        service="pairing",
        table="idempotency_key",
        select=("caller", "key", "created_at"),
        delete=True,
        why="the keeper prunes keys older than a day",
    ),
    *_keeps_records("pairing"),
)

_GATEWAY: Final = (
    Grant(
        service="gateway", table="account", insert=True, update=True, why="owns accounts; switched off, never deleted"
    ),
    Grant(service="gateway", table="access_grant", insert=True, update=True, delete=True, why="owns grants to people"),
    Grant(
        service="gateway", table="web_session", insert=True, update=True, why="owns sessions; revokes, never deletes"
    ),
    Grant(service="gateway", table="api_token", insert=True, update=True, why="owns tokens; revokes, never deletes"),
    Grant(
        service="gateway", table="invitation", insert=True, update=True, why="owns invitations; revokes, never deletes"
    ),
    Grant(
        service="gateway",
        table="password_reset",
        insert=True,
        update=True,
        why="owns links for a new password; revokes, never deletes",
    ),
    Grant(
        service="gateway",
        table="event",
        select=("id", "name", "time_zone", "created_by"),
        why="an invitation names its event, and counts while its maker organises it",
    ),
)

MATRIX: Final[tuple[Grant, ...]] = (
    *_REGISTRATION,
    *_RESULTS,
    *_PAIRING,
    *_GATEWAY,
    *(
        Grant(service=service, table="event_feed", insert=True, why="a new event starts its feed")
        for service in ("registration", "results")
    ),
    *(
        Grant(service=service, table="audit_log", insert=True, why="logs who did what, serves the log; a log")
        for service in ("registration", "results")
    ),
    Grant(service="pairing", table="audit_log", select=("id",), insert=True, why="logs who did what; a log"),
    Grant(
        service="gateway",
        table="audit_log",
        select=("id", "at", "event_id", "action", "subject", "actor_name"),
        insert=True,
        why="logs who did what, says who changed an account last; a log",
    ),
    *(
        Grant(service=service, table="idempotency_key", insert=True, update=True, why="answers of its own routes")
        for service in ("registration", "results", "gateway")
    ),
    *(
        Grant(service=service, table="alembic_version", why="/readyz: is the schema new enough for this code?")
        for service in SERVICES
    ),
)
"""Every grant. A service and table may stand twice: rights add up."""


def rights(service: str) -> frozenset[tuple[str, Right, str | None]]:
    """All rights of a service as (table, right, column); None stands for the whole row."""
    found = {(grant.table, *right) for grant in MATRIX if grant.service == service for right in grant.rights()}
    return frozenset(found)
