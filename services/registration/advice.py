"""What an organiser's choices mean, before anybody plays: rounds that suit the field, byes, places, running dry.

Docs: docs/rules.md section 2, Rounds. All of it is computed from what the form says; nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from qisai.db.entrants import EntrantState, ForbiddenPairRow
from qisai.db.events import EventRow
from qisai.errors import Invalid
from qisai.kernel.model import Entrant, ForbiddenPair, Regulations, System, Tournament
from qisai.kernel.pairing.forecast import Forecast, forecast
from qisai.kernel.rounds_advice import RoundsAdvice, advise_rounds, check_rounds
from qisai.kernel.tie_breaks import TIE_BREAKS
from services.registration.states import TAKES_PLACE

Json = dict[str, Any]
MOST_FORECAST: Final = 600
"""Entrants up to which forbidden pairs are looked at; without them a field this large never runs dry."""


class SetupWarning(StrEnum):
    """What a form should say beside the choices; codes of `check_rounds` come besides."""

    TOO_MANY_ROUNDS = "too_many_rounds"
    """Nobody has so many opponents: refused when the event is made."""
    MORE_EXPECTED_THAN_PLACES = "more_expected_than_places"
    """Some of those expected will wait for a place."""
    BYE_NEEDED = "bye_needed"
    """An odd field, and the regulations allow no bye: a stand-in is needed."""
    NOT_EVERYBODY_MEETS = "not_everybody_meets"
    """A round robin with fewer rounds than it takes."""
    FIELD_UNKNOWN = "field_unknown"
    """Neither an expected maximum nor a number of places is given."""


class Reason(StrEnum):
    """Why so many rounds are proposed."""

    ONE_MORE = "one_more_than_single_winner"
    """log₂ n, rounded up, single out one winner; one more makes the places behind clearer."""
    HALF_THE_FIELD = "half_the_field"
    """No more than half the field, because up to there a legal draw always exists."""
    EVERYBODY_MEETS = "everybody_meets"
    """A round robin takes as many: n − 1 rounds, of an odd field n."""
    UNKNOWN = "field_unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSize:
    """How many may come: `expected` at most, `places` for them, `today` entered already; None: not said."""

    expected: int | None
    places: int | None
    today: int = 0

    @property
    def entrants(self) -> int:
        """How many will play at most, as far as that is known; 0 where it is not."""
        wanted = self.expected or self.places or 0
        return max(wanted if self.places is None else min(wanted, self.places), self.today)

    @property
    def waiting(self) -> int:
        """How many of those expected will find no place."""
        return max(0, (self.expected or 0) - self.places) if self.places is not None else 0


def size_of(event: EventRow, *, by_state: Mapping[EntrantState, int]) -> FieldSize:
    """The field of an event as it stands."""
    today = sum(count for state, count in by_state.items() if state in TAKES_PLACE)
    return FieldSize(expected=event.expected_entrants, places=event.capacity, today=today)


def advice(regulations: Mapping[str, Any], size: FieldSize, *, pairs: Sequence[ForbiddenPairRow] = ()) -> Json:
    """Rounds that suit the field and why, warnings by code, byes, and whether the event may run dry.

    `pairs`: who is kept apart; only for those who may know. A round robin is drawn by its table, so it never runs dry
    and gets no forecast.
    """
    rounds, entrants = regulations["rounds"], size.entrants
    is_round_robin = regulations["system"] == System.ROUND_ROBIN
    advised = advise_rounds(entrants)
    if is_round_robin:
        whole = advised.possible if entrants >= 2 else 0
        advised = replace(advised, proposed=whole, safe=whole)
    return {
        **asdict(advised),
        "reason": _reason(advised, is_round_robin=is_round_robin),
        "rounds": rounds,
        "warnings": _warnings(regulations, size),
        "waiting": size.waiting,
        "byes": {"each_round": entrants % 2, "points": regulations["points"]["bye"]},
        "forecast": None if is_round_robin else _forecast(entrants, rounds, pairs),
    }


def tie_breaks_in_words(regulations: Mapping[str, Any]) -> list[Json]:
    """The order of places after points: code and names."""
    return [{"code": code, "names": dict(TIE_BREAKS[code].names)} for code in regulations["tie_breaks"]]


def _reason(advised: RoundsAdvice, *, is_round_robin: bool) -> str:
    if advised.entrants < 2:
        return Reason.UNKNOWN.value
    if is_round_robin:
        return Reason.EVERYBODY_MEETS.value
    return (Reason.ONE_MORE if advised.proposed > advised.single_winner else Reason.HALF_THE_FIELD).value


def _warnings(regulations: Mapping[str, Any], size: FieldSize) -> list[str]:
    rounds, entrants = regulations["rounds"], size.entrants
    if entrants == 0:
        return [SetupWarning.FIELD_UNKNOWN.value]
    warnings: list[str] = []
    if rounds is not None and entrants >= 2:
        warnings = _about_rounds(rounds, entrants, is_round_robin=regulations["system"] == System.ROUND_ROBIN)
    if size.waiting:
        warnings.append(SetupWarning.MORE_EXPECTED_THAN_PLACES.value)
    if entrants % 2 and not regulations["allow_bye"]:
        warnings.append(SetupWarning.BYE_NEEDED.value)
    return warnings


def _about_rounds(rounds: int, entrants: int, *, is_round_robin: bool) -> list[str]:
    try:
        warnings = [warning.value for warning in check_rounds(rounds, entrants=entrants)]
    except Invalid:
        return [SetupWarning.TOO_MANY_ROUNDS.value]
    if not is_round_robin:
        return warnings
    return [SetupWarning.NOT_EVERYBODY_MEETS.value] if rounds < advise_rounds(entrants).possible else []


def _forecast(entrants: int, rounds: int | None, pairs: Sequence[ForbiddenPairRow]) -> Json | None:
    if entrants < 2:
        return None
    # A field twice as large as its rounds never runs dry without forbidden pairs; no need to build a larger one.
    size = min(entrants, MOST_FORECAST if pairs else 2 * (rounds or 0) + 2)
    found = _of_field(size + (entrants - size) % 2, rounds, _positions(pairs, most=size))
    return {
        "outlook": found.outlook.value,
        "ground": found.ground.value,
        "safe_rounds": found.safe_rounds if rounds is not None else advise_rounds(entrants).safe,
        "first_doubtful": found.first_doubtful,
        "look_ahead": found.look_ahead,
        "round_robin": found.round_robin,
    }


def _positions(pairs: Sequence[ForbiddenPairRow], *, most: int) -> tuple[tuple[int, int, int, int | None], ...]:
    """Forbidden pairs between the first places of a field, in the order in which they are first named."""
    ids = {one for pair in pairs for one in (pair.a_entrant_id, pair.b_entrant_id)}
    place = {one: number for number, one in enumerate(sorted(ids), start=1)}
    found = [
        (place[pair.a_entrant_id], place[pair.b_entrant_id], pair.from_round, pair.to_round)
        for pair in pairs
        if place[pair.b_entrant_id] <= most and place[pair.a_entrant_id] <= most
    ]
    return tuple(sorted(found, key=lambda one: one[:3]))


@lru_cache(maxsize=256)
def _of_field(entrants: int, rounds: int | None, pairs: tuple[tuple[int, int, int, int | None], ...]) -> Forecast:
    return forecast(
        Tournament(
            regulations=Regulations(rounds=rounds),
            entrants=tuple(Entrant(number=number) for number in range(1, entrants + 1)),
            forbidden_pairs=tuple(
                ForbiddenPair(entrants=(a, b), from_round=first, to_round=last) for a, b, first, last in pairs
            ),
        )
    )
