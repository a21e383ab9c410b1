"""The clock of a round: it runs and stands by the server's time, so that every screen at the venue shows the same.

While it runs the row keeps when time is over, while it stands how much is left; nothing ticks anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy.orm import Session

from qisai.db.rounds import RoundRow, RoundState
from qisai.db.session import now
from qisai.errors import Conflict, FieldError, Invalid
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from services.results.answers import moment
from services.results.operations.rounds_held import NO_CLOCK, change_round, hold_existing

MOST_SECONDS: Final = 48 * 3600


class ClockAction(StrEnum):
    """What may be done to a clock. `start` begins anew with `seconds`; `adjust` adds them, also below 0."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    ADJUST = "adjust"
    STOP = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clock:
    """Milliseconds left, and whether they run down."""

    left_ms: int
    runs: bool


def set_clock(
    session: Session,
    actor: Actor,
    *,
    event_id: int,
    number: int,
    seen_version: int,
    action: ClockAction,
    seconds: int | None = None,
) -> None:
    """Starts, pauses, resumes, adjusts or stops the clock of a published round.

    Raises `Stale`, `Conflict`: `round-not-published`, `round-closed`, `no-clock`, `clock-runs`, `clock-stands`;
    `Invalid` where `start` or `adjust` say no seconds, or the time left leaves 0 … 48 hours.
    """
    round_ = hold_existing(session, event_id, number=number, seen_version=seen_version)
    if round_.state is not RoundState.PUBLISHED:
        raise Conflict("round-closed", f"Round {number} is closed; reopen it first.", round=number)
    clock = _after(session, round_, action, seconds)
    values: dict[str, Any] = dict(NO_CLOCK)
    if clock is not None and clock.runs:
        values["clock_ends_at"] = now(session) + timedelta(milliseconds=clock.left_ms)
    elif clock is not None:
        values["clock_left_ms"] = clock.left_ms
    change_round(session, round_, to=RoundState.PUBLISHED, values=values)
    new = {"action": action.value, "seconds": seconds}
    audit.record(session, actor, action="round.clock", subject=f"round:{number}", event_id=event_id, new=new)
    shown = {"ends_at": moment(values["clock_ends_at"]), "left_ms": values["clock_left_ms"]}
    feed.publish(session, event_id, "round.clock", data={"round": number, **shown})


def _after(session: Session, round_: RoundRow, action: ClockAction, seconds: int | None) -> _Clock | None:
    if action is ClockAction.START:
        return _Clock(left_ms=_checked(_given(seconds) * 1000), runs=True)
    clock = _present(session, round_)
    if clock is None:
        raise Conflict("no-clock", f"Round {round_.number} has no clock; start one first.", round=round_.number)
    match action:
        case ClockAction.PAUSE if not clock.runs:
            raise Conflict("clock-stands", f"The clock of round {round_.number} stands already.", round=round_.number)
        case ClockAction.RESUME if clock.runs:
            raise Conflict("clock-runs", f"The clock of round {round_.number} runs already.", round=round_.number)
        case ClockAction.PAUSE | ClockAction.RESUME:
            return _Clock(left_ms=clock.left_ms, runs=not clock.runs)
        case ClockAction.ADJUST:
            return _Clock(left_ms=_checked(clock.left_ms + _given(seconds) * 1000), runs=clock.runs)
    return None


def _present(session: Session, round_: RoundRow) -> _Clock | None:
    if round_.clock_ends_at is not None:
        left = round_.clock_ends_at - now(session)
        return _Clock(left_ms=max(0, round(left / timedelta(milliseconds=1))), runs=True)
    return None if round_.clock_left_ms is None else _Clock(left_ms=round_.clock_left_ms, runs=False)


def _given(seconds: int | None) -> int:
    if seconds is None:
        raise Invalid(
            "invalid-request", "Say how many seconds.", errors=[FieldError("/seconds", "is missing", "missing")]
        )
    return seconds


def _checked(left_ms: int) -> int:
    if not 0 <= left_ms <= MOST_SECONDS * 1000:
        detail = f"leaves {left_ms // 1000} seconds, but must leave 0 to {MOST_SECONDS}"
        fault = FieldError("/seconds", detail, "clock-range", {"value": left_ms // 1000, "high": MOST_SECONDS})
        raise Invalid("invalid-request", f"The clock {detail}.", errors=[fault])
    return left_ms
