"""Why an entrant has its place in a draw, as the API shows it. Points are decimals; codes are those of the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from qisai.client.reading import Json
from qisai.client.rounds import Player
from qisai.kernel.pairing.what_if import Why
from qisai.kernel.sides import SideRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What stood against another choice; with `costs_more` the criterion, its value now and with that choice."""

    why: Why
    criterion: str | None = None
    value: int | None = None
    otherwise: int | None = None

    @classmethod
    def from_json(cls, body: Json) -> Decided:
        """From the API's object."""
        return cls(why=Why(body["why"]), criterion=body["criterion"], value=body["value"], otherwise=body["otherwise"])


@dataclass(frozen=True, slots=True, kw_only=True)
class BetterChoice:
    """An opponent that would have been better by the order. `round`: in which they met; `partner`: whom it got."""

    player: Player
    decided: Decided
    round: int | None = None
    partner: Player | None = None

    @classmethod
    def from_json(cls, body: Json) -> BetterChoice:
        """From the API's object."""
        return cls(
            player=Player.from_json(body["entrant"]),
            decided=Decided.from_json(body),
            round=body["round"],
            partner=_player(body["partner"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Float:
    """The opponent has fewer (`down`) or more (`up`) points, by `gap`."""

    direction: str
    gap: float
    decided: Decided


@dataclass(frozen=True, slots=True, kw_only=True)
class ByeGiven:
    """`had`: byes and wins by forfeit before; `eligible`: how many of those present had as few."""

    had: int
    eligible: int
    decided: Decided


@dataclass(frozen=True, slots=True, kw_only=True)
class SideGiven:
    """Which rule gave the side, `first` or `second`. Surplus: games first minus games second, of both."""

    side: str
    rule: SideRule
    surplus: int
    opponent_surplus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One entrant's place in a draw. `worked_out` 0: what better choices would cost was not worked out."""

    player: Player
    round: int
    points: float
    board: int | None
    opponent: Player | None
    ideal: Player | None
    better_count: int
    better: tuple[BetterChoice, ...]
    worked_out: int
    floated: Float | None = None
    bye: ByeGiven | None = None
    side: SideGiven | None = None

    @classmethod
    def from_json(cls, body: Json) -> Explanation:
        """From the API's object."""
        floated, bye, side = body["floated"], body["bye"], body["side"]
        return cls(
            player=Player.from_json(body["entrant"]),
            round=body["round"],
            points=body["points"],
            board=body["board"],
            opponent=_player(body["opponent"]),
            ideal=_player(body["ideal"]),
            better_count=body["better_count"],
            better=tuple(BetterChoice.from_json(one) for one in body["better"]),
            worked_out=body["worked_out"],
            floated=floated
            and Float(direction=floated["direction"], gap=floated["gap"], decided=Decided.from_json(floated)),
            bye=bye and ByeGiven(had=bye["had"], eligible=bye["eligible"], decided=Decided.from_json(bye)),
            side=side
            and SideGiven(
                side=side["side"],
                rule=SideRule(side["rule"]),
                surplus=side["surplus"],
                opponent_surplus=side["opponent_surplus"],
            ),
        )


def _player(body: Json | None) -> Player | None:
    return None if body is None else Player.from_json(body)
