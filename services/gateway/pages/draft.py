"""A draft in words: what each pair means, from the rounds before it, worked out by the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from qisai.client import Client, DrawView, Player
from qisai.errors import QisaiError
from qisai.kernel import parse_tournament
from qisai.kernel.pairing.field import Field, compile_field
from services.gateway.pages.away import away_from

MOST_EARLIER: Final = 10
"""Earlier drafts that are offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A drawn board. Scores are points before the round, None where they are not known; `floats`: who meets whom.

    `clash`: both want the same side; `strong`: and neither is balanced.
    """

    board: int
    first: Player
    second: Player
    first_score: float | None = None
    second_score: float | None = None
    clash: bool = False
    strong: bool = False

    @property
    def gap(self) -> float:
        """Difference of their points."""
        if self.first_score is None or self.second_score is None:
            return 0.0
        return abs(self.first_score - self.second_score)


def pairs_of(draw: DrawView, tournament: Mapping[str, Any] | None) -> list[Pair]:
    """The draw's pairs in order of boards. `tournament`: the event as `qisai.tournament/1`, before this round."""
    field = field_of(tournament, int(draw.document.get("round", 0)))
    index = {} if field is None else {number: position for position, number in enumerate(field.number)}
    return [_pair(board, field, index) for board in draw.boards]


def _pair(board: Mapping[str, Any], field: Field | None, index: Mapping[int, int]) -> Pair:
    first, second = Player.from_json(board["first"]), Player.from_json(board["second"])
    number = board.get("number") or board["board"]
    if field is None or first.number not in index or second.number not in index:
        return Pair(board=number, first=first, second=second)
    i, j = index[first.number], index[second.number]
    clash = field.balances_sides and field.wish[i] != 0 and field.wish[i] == field.wish[j]
    return Pair(
        board=number,
        first=first,
        second=second,
        first_score=field.score[i] / 2,
        second_score=field.score[j] / 2,
        clash=clash,
        strong=clash and field.surplus[i] != 0 and field.surplus[j] != 0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The draft of a round as the chief referee reads it, with the drafts before it, latest first."""

    draft: DrawView
    pairs: Sequence[Pair]
    earlier: Sequence[DrawView]
    same_as: DrawView | None = None
    """The earlier draw that a reused one gives again."""
    away: Sequence[tuple[str, Sequence[Player]]] = ()
    """Who is not to be paired in this round, by kind in words."""

    @property
    def edits(self) -> Sequence[Mapping[str, Any]]:
        """What people changed, oldest first: kind, entrants, reason, by, at."""
        return tuple(self.draft.document.get("edits") or ())


def shown_draft(asking: Client, event_id: int, round_no: int, draws: Sequence[DrawView]) -> Shown | None:
    """The draft among the draws of a round, latest first; None where there is none."""
    found = next((one for one in draws if one.state == "draft"), None)
    if found is None:
        return None
    draft = asking.rounds.draw(event_id, round_no, found.number)
    earlier = [one for one in draws if one.state == "replaced"]
    same_as = None
    if draft.source == "reused":
        wanted = opponents(draft)
        whole = (asking.rounds.draw(event_id, round_no, one.number) for one in earlier[:MOST_EARLIER])
        same_as = next((one for one in whole if opponents(one) == wanted), None)
    tournament = exported(asking, event_id)
    return Shown(
        draft=draft,
        pairs=pairs_of(draft, tournament),
        earlier=earlier[:MOST_EARLIER],
        same_as=same_as,
        away=away_from(tournament, round_no),
    )


def opponents(draw: DrawView) -> frozenset[frozenset[int]]:
    """Who meets whom, without sides and boards."""
    return frozenset(frozenset((board["first"]["number"], board["second"]["number"])) for board in draw.boards)


def exported(asking: Client, event_id: int) -> Mapping[str, Any] | None:
    """The event as `qisai.tournament/1`; None where it cannot be had, since drafts can be read without it."""
    try:
        return asking.events.export(event_id)
    except QisaiError:
        return None


def field_of(tournament: Mapping[str, Any] | None, round_no: int) -> Field | None:
    """The field of a round that is to be drawn, None where the event has gone on since."""
    if tournament is None:
        return None
    try:
        parsed = parse_tournament(tournament)
        return compile_field(parsed) if parsed.next_round == round_no else None
    except QisaiError:  # past rounds are being corrected right now: the pairs are shown without their meaning
        return None
