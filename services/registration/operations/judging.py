"""Who may take a step between the states of entrants, and why not: the table of steps applied to people.

Pure: what it must know of the event's places and rounds is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from qisai.db.accounts import Role
from qisai.db.entrants import EntrantState
from qisai.db.events import EventRow
from qisai.ledger.actor import Actor
from services.registration.operations.members import Elsewhere
from services.registration.states import IN_POOL, STEPS, TAKES_PLACE, When


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step that is asked for. `from_round`: first round without the entrant, where they leave the pool for good."""

    to: EntrantState
    reason: str = ""
    from_round: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    """Who asks for it, with their roles in the event."""

    actor: Actor
    roles: frozenset[Role]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why one entrant does not take the step."""

    entrant_id: int
    name: str
    slug: str
    detail: str
    context: Mapping[str, Any] = field(default_factory=dict)


def judge(
    mover: Mover,
    event: EventRow,
    rows: Sequence[Any],
    step: Step,
    *,
    upcoming: int,
    free: int | None,
    elsewhere: Mapping[int, Elsewhere],
) -> tuple[list[Any], list[Refusal]]:
    """Who may take the step, and why the others may not. Free places (None: any number) go to those in front.

    `rows` as in `steps`; `upcoming`: the next round to be paired; `elsewhere`: who has a member in another team.
    """
    may: list[Any] = []
    refused: list[Refusal] = []
    for row in rows:
        refusal = _refusal(mover, event, row, step, upcoming=upcoming, free=free)
        if refusal is None and row.id in elsewhere:
            found = elsewhere[row.id]
            refusal = refuse(row, step.to, "member-elsewhere", found.detail, **found.said())
        if refusal is not None:
            refused.append(refusal)
            continue
        may.append(row)
        if free is not None and step.to in TAKES_PLACE and row.state not in TAKES_PLACE:
            free -= 1
    return may, refused


def _refusal(mover: Mover, event: EventRow, row: Any, step: Step, *, upcoming: int, free: int | None) -> Refusal | None:
    known = STEPS.get((row.state, step.to))
    if known is None:
        return refuse(
            row, step.to, "no-such-step", f"{row.name} is {row.state.slug}; from there nobody becomes {step.to.slug}."
        )
    if not known.roles & mover.roles:
        roles = ", ".join(sorted(known.roles))
        detail = f"From {row.state.slug} to {step.to.slug} needs one of these roles: {roles}."
        return refuse(row, step.to, "step-not-yours", detail, roles=roles)
    for condition in known.when:
        complaint = _COMPLAINTS[condition](event, upcoming, free)
        if complaint is not None:
            slug, detail = complaint
            detail = f"{row.name} is {row.state.slug} and cannot become {step.to.slug}: {detail}."
            return refuse(row, step.to, slug, detail)
    last = event.late_entry_until
    if step.to in IN_POOL and row.number is None and last is not None and upcoming > last:
        detail = f"{row.name} cannot enter any more: this event takes late entries until round {last} only."
        return refuse(row, step.to, "late-entry-over", detail, until_round=last, next_round=upcoming)
    return None


def refuse(row: Any, to: EntrantState, slug: str, detail: str, **context: Any) -> Refusal:
    """The refusal of a step to a state, with what translations name."""
    context |= {"name": row.name, "from": row.state.slug, "to": to.slug}
    return Refusal(entrant_id=row.id, name=row.name, slug=slug, detail=detail, context=context)


Complaint = tuple[str, str] | None


def _full(_event: EventRow, _upcoming: int, free: int | None) -> bool:
    return free is not None and free <= 0


_COMPLAINTS: Final[Mapping[When, Callable[[EventRow, int, int | None], Complaint]]] = {
    When.CHECK_IN: lambda event, _upcoming, _free: (
        None if event.needs_check_in else ("no-check-in", "this event has no check-in")
    ),
    When.NO_CHECK_IN: lambda event, _upcoming, _free: (
        ("check-in-first", "in this event check-in stands between") if event.needs_check_in else None
    ),
    When.BEFORE_ROUND_1: lambda _event, upcoming, _free: (
        ("frozen", "round 1 is published; withdraw instead") if upcoming > 1 else None
    ),
    When.PLACE_FREE: lambda *facts: ("event-full", "the event is full; wait instead") if _full(*facts) else None,
    When.FULL: lambda *facts: None if _full(*facts) else ("place-free", "the event has a free place; register instead"),
}
