"""Rows as the JSON of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from qisai.db.accounts import Role
from qisai.db.entrants import EntrantState, ForbiddenPairRow, TransitionRow
from qisai.db.events import EventRow, ProfileRow
from qisai.web.shapes import moment
from services.registration.queries.lots import Lots

Json = dict[str, Any]

EVENT_BASICS: Final = (
    "name", "is_public", "time_zone", "venue", "needs_approval", "needs_check_in", "capacity", "expected_entrants",
)  # fmt: skip


def profile(row: ProfileRow) -> Json:
    """A game."""
    return {**row.data, "version": row.version}


def event_basics(event: EventRow) -> Json:
    """What an organiser says about an event, without regulations: in answers and in the log."""
    return {
        **{name: getattr(event, name) for name in EVENT_BASICS},
        "starts_on": None if event.starts_on is None else event.starts_on.isoformat(),
        "registration_until": moment(event.registration_until),
    }


def event_row(event: EventRow, *, roles: frozenset[Role]) -> Json:
    """An event in a list."""
    return {
        "id": event.id,
        "state": event.state.value,
        "profile": event.profile,
        **event_basics(event),
        "frozen_at": moment(event.frozen_at),
        "version": event.version,
        "your_roles": sorted(roles),
    }


def entrant(row: Any, *, staff: bool) -> Json:
    """An entrant. The public sees who plays; what clubs and people told the desk only its staff."""
    body = {
        "id": row.id,
        "number": row.number,
        "name": row.name,
        "club": row.club,
        "seed": row.seed,
        "state": row.state.slug,
        "entered_round": row.entered_round,
        "withdrawn_from": row.withdrawn_from,
        "fixed_board": row.fixed_board,
        "members": list(row.members or ()),
        "version": row.version,
    }
    if not staff:
        return body
    byes = [{"round": int(number), "kind": kind} for number, kind in (row.byes or {}).items()]
    return {
        **body,
        "external_id": row.external_id,
        "absences": list(row.absences or ()),
        "byes": sorted(byes, key=lambda bye: bye["round"]),
    }


def transition(row: TransitionRow) -> Json:
    """One change of an entrant's state."""
    return {
        "from": None if row.from_state is None else row.from_state.slug,
        "to": row.to_state.slug,
        "at": moment(row.at),
        "actor": row.actor_name,
        "reason": row.reason,
    }


def lots(found: Lots) -> Json:
    """How numbers were given; entrant ids are names of a JSON object."""
    return {
        "mode": found.mode,
        "seed": found.seed,
        "numbers": {str(entrant_id): number for entrant_id, number in found.numbers.items()},
    }


def forbidden_pair(row: ForbiddenPairRow) -> Json:
    """Two entrants who must not meet."""
    return {
        "id": row.id,
        "entrants": [row.a_entrant_id, row.b_entrant_id],
        "from_round": row.from_round,
        "to_round": row.to_round,
    }


def counts(by_state: Mapping[EntrantState, int]) -> dict[str, int]:
    """Entrants by state, every state named."""
    return {state.slug: by_state.get(state, 0) for state in EntrantState}
