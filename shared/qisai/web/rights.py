"""Rights: what a route needs and which roles have it. A route that declares none stops the service from starting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar

from flask import Flask

from qisai.db.accounts import Role
from qisai.errors import NotFound

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class EventOf:
    """Finds the event that a request is about, where its path names something of the event and not the event itself."""

    sql: str
    """A query for the event's id, by the path's value as `:about`; read together with who calls, in one statement."""
    name: str
    """Name of the path's value."""
    missing: Callable[[int], NotFound]
    """What is raised where there is no such thing, by the path's value."""


EVENT_ITSELF: Final = EventOf(
    "SELECT CAST(:about AS bigint)", "event_id", lambda id_: NotFound("event-not-found", f"There is no event {id_}.")
)


class Right(StrEnum):
    """What may be done. One right may serve several routes."""

    INTERNAL = (
        "internal"  # health, metrics, API description: no data of events; not reachable through the gateway's proxy
    )
    PUBLIC = "public"  # anybody, signed in or not
    SIGNED_IN = "signed_in"  # any account
    READ_EVENT = "read_event"  # anybody where the event is public and not a draft, else whoever has a role in it
    READ_STAFF = "read_staff"  # logs and lists of those who work at the event
    CREATE_EVENT = "create_event"
    MANAGE_EVENT = "manage_event"
    RUN_EVENT = "run_event"  # start, finish, reopen an event
    MANAGE_ENTRANTS = "manage_entrants"
    MOVE_ENTRANT = "move_entrant"  # a step of an entrant's state; which role may take which: docs/rules.md section 10
    DRAW_LOTS = "draw_lots"
    ENTER_RESULT = "enter_result"
    PAIR = "pair"  # ask for, read, edit, accept and publish draws
    CONTROL_ROUND = "control_round"  # close, reopen, correct
    READ_JOB = "read_job"
    OPERATE = "operate"  # queue, alerts, breakers
    MANAGE_PROFILES = "manage_profiles"
    MANAGE_ACCOUNTS = "manage_accounts"
    MANAGE_GRANTS = "manage_grants"


_A, _O, _C, _R, _D, _P = (
    Role.ASSOCIATION_ADMIN,
    Role.ORGANISER,
    Role.CHIEF_REFEREE,
    Role.REFEREE,
    Role.DESK,
    Role.OPS,
)

ROLES: Final[Mapping[Right, frozenset[Role]]] = {
    Right.READ_STAFF: frozenset({_A, _O, _C, _R, _D}),
    Right.CREATE_EVENT: frozenset({_A, _O}),
    Right.MANAGE_EVENT: frozenset({_A, _O}),
    Right.RUN_EVENT: frozenset({_A, _O, _C}),
    Right.MANAGE_ENTRANTS: frozenset({_A, _O, _D}),
    Right.MOVE_ENTRANT: frozenset({_A, _O, _C, _D}),
    Right.DRAW_LOTS: frozenset({_A, _O, _C}),
    Right.ENTER_RESULT: frozenset({_A, _C, _R}),
    Right.PAIR: frozenset({_A, _C}),
    Right.CONTROL_ROUND: frozenset({_A, _C}),
    Right.READ_JOB: frozenset({_A, _O, _C, _P}),
    Right.OPERATE: frozenset({_A, _P}),
    Right.MANAGE_PROFILES: frozenset({_A}),
    Right.MANAGE_ACCOUNTS: frozenset({_A}),
    Right.MANAGE_GRANTS: frozenset({_A, _O}),
}
"""Which roles have a right. READ_EVENT, PUBLIC, SIGNED_IN and INTERNAL are decided without roles."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a route needs: the right, and how to find the event where the path does not name it."""

    right: Right
    event_of: EventOf | None = None


def requires(right: Right, *, event_of: EventOf | None = None) -> Callable[[View], View]:
    """Declares the right a view needs. With `event_id` in the path no `event_of` is needed."""

    def declare(view: View) -> View:
        view.__qisai_right__ = Declaration(right, event_of)  # type: ignore[attr-defined]
        return view

    return declare


def declaration_of(view: Callable[..., Any]) -> Declaration | None:
    """The declaration of a view, if it has one."""
    return getattr(view, "__qisai_right__", None)


def refuse_undeclared(app: Flask) -> None:
    """Raises `RuntimeError` naming every route of the app's URL map whose view declares no right."""
    missing = sorted(
        f"{','.join(sorted((rule.methods or set()) - {'HEAD', 'OPTIONS'}))} {rule.rule}"
        for rule in app.url_map.iter_rules()
        if declaration_of(app.view_functions[rule.endpoint]) is None
    )
    if missing:
        raise RuntimeError(f"routes without a declared right (qisai.web.rights.requires): {'; '.join(missing)}")
