"""Whole events made up from a seed: entrants, results, absences, withdrawals, returns, forfeits, late entries.

Pure and reproducible: every decision is a number hashed from the seed, the round and the entrant or board, so the same
settings always give the same event, and a change of one rate leaves the other decisions as they were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from qisai.errors import FieldError, Invalid
from qisai.kernel.model import Board, Bye, ByeKind, Draw, Entrant, NextRound, Regulations, Result, Round, Tournament
from qisai.kernel.outcomes import LATE_ENTRY_BYES
from qisai.kernel.regulations_file import MAX_LOT_SEED, MAX_ROUNDS
from qisai.kernel.tournament_file import MAX_ENTRANTS

Pair = Callable[[Tournament], Draw]

CLUBS: Final = ("甲队", "乙队", "丙队", "丁队", "戊队", "己队", "庚队", "辛队", "壬队", "癸队")
RATES: Final = (
    "absent",
    "half_bye",
    "zero_bye",
    "full_bye",
    "withdraw",
    "returning",
    "forfeit",
    "void",
    "adjourned",
    "late",
)
"""The settings of a plan that are rates."""
ROLL: Final = 2**32
"""Rolls lie in 0 … ROLL − 1."""
FEWEST: Final = 2
"""Entrants who stay whatever the rates say, so that there is always a board to play."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to play. Rates are probabilities 0 … 1: per entrant and round, per board for results; `late` per entrant."""

    entrants: int
    rounds: int
    seed: int = 0
    absent: float = 0.0
    half_bye: float = 0.0
    zero_bye: float = 0.0
    full_bye: float = 0.0
    withdraw: float = 0.0
    returning: float = 0.0
    """Of a withdrawn entrant, each round."""
    forfeit: float = 0.0
    void: float = 0.0
    adjourned: float = 0.0
    """Adjourned games are decided after the next round; the last round has none."""
    late: float = 0.0
    """Share of entrants who enter in a later round of the first half."""
    regulations: Regulations = field(default_factory=Regulations)

    def __post_init__(self) -> None:
        """Refuse what cannot be played, naming each setting. Raises `Invalid`."""
        errors: list[FieldError] = []
        for name, value, low, high in (
            ("entrants", self.entrants, 2, MAX_ENTRANTS),
            ("rounds", self.rounds, 1, MAX_ROUNDS),
            ("seed", self.seed, 0, MAX_LOT_SEED),
        ):
            if not low <= value <= high:
                detail = f"is {value}, but must be from {low} to {high}"
                errors.append(FieldError(f"/{name}", detail, "range", {"value": value, "low": low, "high": high}))
        for name in RATES:
            rate = getattr(self, name)
            if not 0 <= rate <= 1:
                detail = f"is {rate}, but a rate lies between 0 and 1"
                errors.append(FieldError(f"/{name}", detail, "range", {"value": rate, "low": 0, "high": 1}))
        if errors:
            raise Invalid("invalid-plan", f"{errors[0].pointer[1:]} {errors[0].detail}", errors=errors)


def simulate(plan: Plan, *, pair: Pair, progress: Callable[[int], None] | None = None) -> Tournament:
    """Play the whole event: `pair` draws each round, `progress` hears the number of each round finished.

    What `pair` raises (a field can run dry) goes through to the caller.
    """
    tournament = open_event(plan)
    for number in range(1, plan.rounds + 1):
        tournament = play_round(plan, tournament, pair(tournament))
        if progress is not None:
            progress(number)
    return tournament


def open_event(plan: Plan) -> Tournament:
    """The event before round 1, with `next` saying who stays away."""
    regulations = replace(plan.regulations, rounds=plan.rounds)
    return _prepare(plan, Tournament(regulations=regulations))


def play_round(plan: Plan, tournament: Tournament, draw: Draw) -> Tournament:
    """The event one round later: results for the drawn boards, adjourned games decided, the next round prepared."""
    number = tournament.next_round
    strength = {entrant.number: entrant.seed or 0 for entrant in tournament.entrants}
    boards = tuple(
        Board(
            board=board.board,
            first=board.first,
            second=board.second,
            result=_result(plan, number, board.first, board.second, strength=strength),
        )
        for board in draw.boards
    )
    byes = [] if draw.bye is None else [Bye(entrant=draw.bye, kind=ByeKind.PAIRING)]
    if tournament.next is not None:
        byes.extend(tournament.next.byes)
        byes.extend(Bye(entrant=absent, kind=ByeKind.ABSENT) for absent in tournament.next.absent)
    played = Round(number=number, boards=boards, byes=tuple(sorted(byes, key=lambda bye: bye.entrant)))
    earlier = tuple(_decide_adjourned(plan, round_, strength) for round_ in tournament.rounds)
    after = replace(tournament, rounds=(*earlier, played), next=None)
    return after if number == plan.rounds else _prepare(plan, after)


def _rolls(plan: Plan, *key: object) -> tuple[int, ...]:
    """Eight independent numbers 0 … ROLL − 1 for one decision-maker, hashed from the seed and the key."""
    digest = hashlib.sha256(":".join(map(str, (plan.seed, *key))).encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 4]) for i in range(0, 32, 4))


def _entry_rounds(plan: Plan) -> list[tuple[int, int]]:
    """(round of entry, identity) of everyone in order of numbers: who is late gets the next number on entering."""
    entries: list[tuple[int, int]] = []
    for identity in range(plan.entrants):
        rolls = _rolls(plan, "entry", identity)
        late = plan.rounds > 1 and identity >= FEWEST and rolls[0] < plan.late * ROLL
        entries.append((2 + rolls[1] % max(1, plan.rounds // 2) if late else 1, identity))
    return sorted(entries)


def _entrant(plan: Plan, number: int, identity: int) -> Entrant:
    rolls = _rolls(plan, "entrant", identity)
    rating = 1000 + sum(roll % 534 for roll in rolls[:3])
    club = CLUBS[rolls[3] % len(CLUBS)]
    return Entrant(number=number, name=f"棋手{number}", club=club, seed=rating)


def _prepare(plan: Plan, tournament: Tournament) -> Tournament:
    """Late entries, returns, withdrawals, absences and requested byes for the round to draw."""
    number = tournament.next_round
    entrants = {entrant.number: entrant for entrant in tournament.entrants}
    newcomers = [
        _entrant(plan, place, identity)
        for place, (entry, identity) in enumerate(_entry_rounds(plan), start=1)
        if entry == number
    ]
    rolls = {place: _rolls(plan, "round", number, place) for place in entrants}
    for place, entrant in entrants.items():
        if entrant.withdrawn_from is not None and rolls[place][0] < plan.returning * ROLL:
            entrants[place] = replace(entrant, withdrawn_from=None)
    active = [place for place, entrant in entrants.items() if entrant.withdrawn_from is None]
    leaving = [place for place in active if rolls[place][1] < plan.withdraw * ROLL]
    for place in leaving[: max(0, len(active) - FEWEST)]:
        entrants[place] = replace(entrants[place], withdrawn_from=number)
    entrants.update((entrant.number, entrant) for entrant in newcomers)
    return replace(
        tournament,
        entrants=tuple(entrants.values()),
        rounds=_with_late_byes(tournament, newcomers),
        next=_stay_aways(plan, number, [place for place, e in entrants.items() if e.withdrawn_from is None]),
    )


def _with_late_byes(tournament: Tournament, newcomers: Iterable[Entrant]) -> tuple[Round, ...]:
    """Each earlier round with the late entrants' byes (docs/rules.md section 8)."""
    kind = LATE_ENTRY_BYES[tournament.regulations.late_entry]
    byes = tuple(Bye(entrant=entrant.number, kind=kind) for entrant in newcomers)
    return tuple(replace(round_, byes=round_.byes + byes) for round_ in tournament.rounds)


def _stay_aways(plan: Plan, number: int, active: list[int]) -> NextRound:
    absent: list[int] = []
    byes: list[Bye] = []
    for place in active:
        if len(active) - len(absent) - len(byes) <= FEWEST:
            break
        rolls = _rolls(plan, "away", number, place)
        if rolls[0] < plan.absent * ROLL:
            absent.append(place)
        elif rolls[1] < plan.half_bye * ROLL:
            byes.append(Bye(entrant=place, kind=ByeKind.HALF))
        elif rolls[2] < plan.zero_bye * ROLL:
            byes.append(Bye(entrant=place, kind=ByeKind.ZERO))
        elif rolls[3] < plan.full_bye * ROLL:
            byes.append(Bye(entrant=place, kind=ByeKind.FULL))
    return NextRound(round=number, absent=tuple(absent), byes=tuple(byes))


def _result(plan: Plan, number: int, first: int, second: int, *, strength: dict[int, int]) -> Result:
    rolls = _rolls(plan, "board", number, first, second)
    if rolls[0] < plan.forfeit * ROLL:
        return (Result.FIRST_FORFEIT, Result.SECOND_FORFEIT, Result.DOUBLE_FORFEIT)[(rolls[1] % 5) // 2]
    if rolls[2] < plan.void * ROLL:
        return Result.VOID
    if rolls[3] < plan.adjourned * ROLL and number < plan.rounds:
        return Result.ADJOURNED
    return _played(strength[first] - strength[second], rolls[4])


def _played(difference: int, roll: int) -> Result:
    """A played result by difference of ratings, in integers only: the stronger side wins more, near ones draw more."""
    per_mille = roll % 1000
    draw = max(60, 300 - abs(difference) // 3)
    expected = min(970, max(30, 510 + difference * 4 // 7))
    win = max(0, expected - draw // 2)
    if per_mille < win:
        return Result.FIRST_WIN
    return Result.DRAW if per_mille < win + draw else Result.SECOND_WIN


def _decide_adjourned(plan: Plan, round_: Round, strength: dict[int, int]) -> Round:
    if all(board.result is not Result.ADJOURNED for board in round_.boards):
        return round_
    return replace(round_, boards=tuple(_decided(plan, round_.number, board, strength) for board in round_.boards))


def _decided(plan: Plan, number: int, board: Board, strength: dict[int, int]) -> Board:
    if board.result is not Result.ADJOURNED:
        return board
    roll = _rolls(plan, "decided", number, board.first, board.second)[0]
    return replace(board, result=_played(strength[board.first] - strength[board.second], roll))
