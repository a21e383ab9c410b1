"""Steps of entrants' states as pages offer them: what the viewer may do, and what the event's state allows.

The service alone decides (docs/rules.md section 10); this spares people its refusals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask_babel import lazy_gettext as __

from qisai.client import Event
from qisai.db.accounts import Role

_DESK: Final = frozenset({Role.DESK, Role.ORGANISER, Role.ASSOCIATION_ADMIN})
_ORGANISER: Final = frozenset({Role.ORGANISER, Role.ASSOCIATION_ADMIN})
_CHIEF: Final = frozenset({Role.CHIEF_REFEREE, Role.ASSOCIATION_ADMIN})
When = Callable[[Event], bool]


def _is_full(event: Event) -> bool:
    free = event.registration.get("free")
    return free is not None and free <= 0


_WHENS: Final[Mapping[str, When]] = {
    "always": lambda _event: True,
    "check-in": lambda event: event.needs_check_in,
    "no-check-in": lambda event: not event.needs_check_in,
    "before": lambda event: event.frozen_at is None,
    "before-check-in": lambda event: event.frozen_at is None and event.needs_check_in,
    "before-no-check-in": lambda event: event.frozen_at is None and not event.needs_check_in,
    "free": lambda event: not _is_full(event),
    "full": _is_full,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedStep:
    """A step from one state to another: how a button calls it, who may take it, when it makes sense."""

    source: str
    to: str
    word: Any
    roles: frozenset[Role]
    when: str = "always"
    is_next: bool = False
    """The usual way on, offered in the list itself."""


def _step(source: str, to: str, word: Any, roles: frozenset[Role], when: str = "always", is_next: bool = False) -> Any:
    return OfferedStep(source=source, to=to, word=word, roles=roles, when=when, is_next=is_next)


STEPS: Final[tuple[OfferedStep, ...]] = (
    _step("waiting", "registered", __("Move up"), _ORGANISER, "free"),
    _step("waiting", "approved", __("Approve"), _ORGANISER, "free"),
    _step("waiting", "cancelled", __("Cancel the entry"), _DESK),
    _step("registered", "approved", __("Approve"), _ORGANISER, is_next=True),
    _step("registered", "rejected", __("Reject"), _ORGANISER),
    _step("registered", "cancelled", __("Cancel the entry"), _DESK),
    _step("approved", "checked_in", __("Check in"), _DESK, "check-in", is_next=True),
    _step("approved", "seated", __("Seat"), _DESK, "no-check-in", is_next=True),
    _step("approved", "rejected", __("Reject"), _ORGANISER),
    _step("approved", "cancelled", __("Cancel the entry"), _DESK),
    _step("checked_in", "seated", __("Seat"), _DESK, is_next=True),
    _step("checked_in", "approved", __("Undo check-in"), _DESK),
    _step("checked_in", "cancelled", __("Cancel the entry"), _DESK),
    _step("seated", "withdrawn", __("Withdraw"), _DESK | _CHIEF),
    _step("seated", "disqualified", __("Disqualify"), _CHIEF),
    _step("seated", "checked_in", __("Take the seat back"), _DESK, "before-check-in"),
    _step("seated", "approved", __("Take the seat back"), _DESK, "before-no-check-in"),
    _step("seated", "cancelled", __("Cancel the entry"), _DESK, "before"),
    _step("withdrawn", "seated", __("Comes back"), _DESK | _CHIEF),
    _step("disqualified", "seated", __("Seat again after an appeal"), _CHIEF),
    _step("rejected", "registered", __("Register again"), _ORGANISER, "free"),
    _step("rejected", "waiting", __("Put on the waiting list"), _ORGANISER, "full"),
    _step("cancelled", "registered", __("Register again"), _DESK, "free"),
    _step("cancelled", "waiting", __("Put on the waiting list"), _DESK, "full"),
)
OVER: Final = frozenset({"finished", "archived"})
"""States of an event whose field does not change any more."""
LEAVING: Final = frozenset({"withdrawn", "disqualified"})
"""States with a first round without the entrant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOfMany:
    """One choice for those that are ticked: all steps that are called alike and lead to one state."""

    word: str
    to: str
    sources: tuple[str, ...]

    @property
    def code(self) -> str:
        """What the form sends: `approved:waiting.registered`."""
        return f"{self.to}:{'.'.join(self.sources)}"


def of_many(steps: Sequence[OfferedStep]) -> list[StepOfMany]:
    """Choices for many, the usual way on first and in its order."""
    sources: dict[tuple[str, str], list[str]] = {}
    for step in sorted(steps, key=lambda step: not step.is_next):
        sources.setdefault((str(step.word), step.to), []).append(step.source)
    return [StepOfMany(word=word, to=to, sources=tuple(found)) for (word, to), found in sources.items()]


def offered(event: Event) -> list[OfferedStep]:
    """Steps that the viewer may take in this event as it is."""
    if event.state in OVER:
        return []
    held = {Role(role) for role in event.your_roles}
    return [step for step in STEPS if held & step.roles and _WHENS[step.when](event)]
