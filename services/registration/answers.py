"""Rows as the JSON of the API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from typing import Any, Final

from qisai.db.accounts import Role
from qisai.db.entrants import EntrantState, ForbiddenPairRow, TransitionRow
from qisai.db.events import EventRow, EventState, ProfileRow
from qisai.db.records import AuditRow
from qisai.kernel.profiles import Unit
from qisai.kernel.regulations_file import used_fields
from qisai.web.shapes import moment
from services.registration.advice import FieldSize
from services.registration.queries.lots import Lots
from services.registration.queries.own_entries import OwnEntry

Json = dict[str, Any]

EVENT_BASICS: Final = (
    "name", "is_public", "time_zone", "venue", "needs_approval", "needs_check_in", "capacity", "expected_entrants",
    "late_entry_until", "max_byes", "byes_until_round",
)  # fmt: skip

LOTS_RULES: Final = {
    "machine": "order: by SHA-256 of the text {seed}:{entrant_id}, as bytes, ascending; appended: as they came",
    "seeding": "order: by seed score downwards, without one last, equal ones by entrant id; appended: as they came",
    "hand": "order: as drawn at the table and typed in; appended: as they came",
}
"""How anybody can do a draw of lots again."""
PRIVATE: Final = frozenset({"sex", "birth_year", "phone", "email", "notes", "people"})
"""What only the desk, the organiser and the chief referee see of an entrant; the log keeps no values of it."""


def profile(row: ProfileRow) -> Json:
    """A game."""
    return {**game(row.data), "version": row.version}


def game(data: Mapping[str, Any]) -> Json:
    """A profile, or an event's copy of one, without what the game does not use, whichever release wrote it."""
    size = None if data["unit"] == Unit.INDIVIDUAL else data.get("team_size")
    return {**data, "team_size": size, "regulations": used_fields(data["regulations"])}


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


def registration(event: EventRow, size: FieldSize, *, waiting: int, now: datetime) -> Json:
    """Whether the public may register, why not, and how many places are left."""
    over = event.registration_until is not None and event.registration_until <= now
    closed_by = "state" if event.state is not EventState.OPEN else "deadline" if over else None
    places = event.capacity
    return {
        "is_open": closed_by is None,
        "closed_by": closed_by,
        "until": moment(event.registration_until),
        "places": places,
        "free": None if places is None else max(0, places - size.today),
        "waiting": waiting,
    }


def change_of_profile(row: AuditRow) -> Json:
    """One change of a game: who, when, before and after."""
    return {"at": moment(row.at), "actor": row.actor_name, "old": row.old, "new": row.new, "reason": row.reason}


class Sight(IntEnum):
    """How much of an entrant somebody may see."""

    PUBLIC = 0
    """Who plays."""
    STAFF = 1
    """What the work at the boards needs."""
    DESK = 2
    """What people told the desk about themselves: contact, sex, birth year."""


def entrant(row: Any, *, sight: Sight) -> Json:
    """An entrant, as far as it may be seen."""
    people = row.people or ()
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
        "members": [one["name"] for one in people if not one["substitute"]],
        "substitutes": [one["name"] for one in people if one["substitute"]],
        "version": row.version,
    }
    if sight is Sight.PUBLIC:
        return body
    byes = [{"round": int(number), "kind": kind} for number, kind in (row.byes or {}).items()]
    body |= {
        "seed_source": row.seed_source,
        "seed_date": None if row.seed_date is None else row.seed_date.isoformat(),
        "external_id": row.external_id,
        "waiting_place": row.waiting_place,
        "absences": list(row.absences or ()),
        "byes": sorted(byes, key=lambda bye: bye["round"]),
    }
    if sight is Sight.STAFF:
        return body
    return {
        **body,
        "sex": None if row.sex is None else row.sex.value,
        "birth_year": row.birth_year,
        "phone": row.phone or "",
        "email": row.email or "",
        "notes": row.notes or "",
        "people": list(people),
    }


def own_entry(entry: OwnEntry) -> Json:
    """What somebody sees of the own entry through its link: what they said, and where it stands."""
    row, event = entry.entrant, entry.event
    basics = event_basics(event)
    full = entrant(row, sight=Sight.DESK)
    said = ("name", "club", "members", "substitutes", "sex", "birth_year", "phone", "email", "number", "state")
    return {
        "id": row.id,
        "event": {"id": event.id, **{name: basics[name] for name in ("name", "starts_on", "venue", "time_zone")}},
        **{name: full[name] for name in said},
        "waiting_place": row.waiting_place,
        "can_cancel": entry.can_cancel,
    }


def transition(row: TransitionRow) -> Json:
    """One change of an entrant's state."""
    return {
        "from": None if row.from_state is None else row.from_state.slug,
        "to": row.to_state.slug,
        "at": moment(row.at),
        "actor": row.actor_name,
        "device": row.device,
        "reason": row.reason,
    }


def lots(found: Lots) -> Json:
    """How numbers were given and how to do it again; entrant ids are names of a JSON object."""
    return {
        "mode": found.mode,
        "seed": found.seed,
        "numbers": {str(entrant_id): number for entrant_id, number in found.numbers.items()},
        "order": list(found.order),
        "appended": list(found.appended),
        "drawn_at": moment(found.drawn_at),
        "rule": LOTS_RULES.get(found.mode or ""),
        "replayed": found.replayed,
        "frozen": found.frozen,
        "version": found.version,
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
