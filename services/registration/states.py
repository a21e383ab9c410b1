"""The states of an entrant and the steps between them (docs/rules.md section 10), as data.

Every step that is not here is refused with both states named. `roles` are those that may take a step; `when` is what
the event must be like. Seated entrants are the pairing pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from qisai.db.accounts import Role
from qisai.db.entrants import EntrantState as S


class When(StrEnum):
    """A condition of a step."""

    CHECK_IN = "check_in"
    """Only in events with check-in."""
    NO_CHECK_IN = "no_check_in"
    """Only in events without check-in."""
    BEFORE_ROUND_1 = "before_round_1"
    """Only until round 1 is published: afterwards an entrant withdraws instead."""
    PLACE_FREE = "place_free"
    """Only while the event is not full."""
    FULL = "full"
    """Only while the event is full."""


@dataclass(frozen=True, slots=True)
class Step:
    """Who may take a step, and when."""

    roles: frozenset[Role]
    when: frozenset[When] = frozenset()


_DESK: Final = frozenset({Role.DESK, Role.ORGANISER, Role.ASSOCIATION_ADMIN})
_ORGANISER: Final = frozenset({Role.ORGANISER, Role.ASSOCIATION_ADMIN})
_CHIEF: Final = frozenset({Role.CHIEF_REFEREE, Role.ASSOCIATION_ADMIN})
_DESK_OR_CHIEF: Final = _DESK | _CHIEF


def _step(roles: frozenset[Role], *when: When) -> Step:
    return Step(roles, frozenset(when))


STEPS: Final[Mapping[tuple[S, S], Step]] = {
    (S.WAITING, S.REGISTERED): _step(_ORGANISER, When.PLACE_FREE),
    (S.WAITING, S.APPROVED): _step(_ORGANISER, When.PLACE_FREE),
    (S.WAITING, S.CANCELLED): _step(_DESK),
    (S.REGISTERED, S.APPROVED): _step(_ORGANISER),
    (S.REGISTERED, S.REJECTED): _step(_ORGANISER),
    (S.REGISTERED, S.CANCELLED): _step(_DESK),
    (S.APPROVED, S.CHECKED_IN): _step(_DESK, When.CHECK_IN),
    (S.APPROVED, S.SEATED): _step(_DESK, When.NO_CHECK_IN),
    (S.APPROVED, S.REJECTED): _step(_ORGANISER),
    (S.APPROVED, S.CANCELLED): _step(_DESK),
    (S.CHECKED_IN, S.SEATED): _step(_DESK),
    (S.CHECKED_IN, S.APPROVED): _step(_DESK),
    (S.CHECKED_IN, S.CANCELLED): _step(_DESK),
    (S.SEATED, S.CHECKED_IN): _step(_DESK, When.CHECK_IN, When.BEFORE_ROUND_1),
    (S.SEATED, S.APPROVED): _step(_DESK, When.NO_CHECK_IN, When.BEFORE_ROUND_1),
    (S.SEATED, S.CANCELLED): _step(_DESK, When.BEFORE_ROUND_1),
    (S.SEATED, S.WITHDRAWN): _step(_DESK_OR_CHIEF),
    (S.SEATED, S.DISQUALIFIED): _step(_CHIEF),
    (S.WITHDRAWN, S.SEATED): _step(_DESK_OR_CHIEF),
    (S.DISQUALIFIED, S.SEATED): _step(_CHIEF),
    (S.REJECTED, S.REGISTERED): _step(_ORGANISER, When.PLACE_FREE),
    (S.REJECTED, S.WAITING): _step(_ORGANISER, When.FULL),
    (S.CANCELLED, S.REGISTERED): _step(_DESK, When.PLACE_FREE),
    (S.CANCELLED, S.WAITING): _step(_DESK, When.FULL),
}

TAKES_PLACE: Final = frozenset({S.REGISTERED, S.APPROVED, S.CHECKED_IN, S.SEATED, S.WITHDRAWN, S.DISQUALIFIED})
"""States that use one of the event's places."""
IN_POOL: Final = frozenset({S.SEATED})
PLAYED: Final = frozenset({S.SEATED, S.WITHDRAWN, S.DISQUALIFIED})
"""States of who is or was in the pairing pool: a step between them changes what pairing reads."""

GONE: Final = frozenset({S.CANCELLED, S.REJECTED})
"""States of who is not in the event any more, and may come back."""

PUBLIC_STATES: Final = frozenset({S.APPROVED, S.CHECKED_IN, S.SEATED, S.WITHDRAWN, S.DISQUALIFIED})
"""Whom the public sees: those whom the organiser has accepted."""


def by_slug(slug: str) -> S | None:
    """The state with that name in the API."""
    return next((state for state in S if state.slug == slug), None)


SLUGS: Final = tuple(state.slug for state in S)
"""Names of all states in the API."""
