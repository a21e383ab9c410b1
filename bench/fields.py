"""Fields to measure with: a Swiss event after some of its rounds, always the same for the same arguments.

Results follow strength with noise; about 3 % withdraw, 1.5 % ask for half byes, 1 % of games are forfeited. Past rounds
are paired by a plain neighbour rule (score, then number, sides alternating where that is possible), so histories look
like those of real events without depending on the solver that is measured.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from qisai.kernel.model import (
    Board,
    Bye,
    ByeKind,
    Entrant,
    NextRound,
    Regulations,
    Result,
    Round,
    Tournament,
)

WITHDRAW_RATE = 0.03
HALF_BYE_RATE = 0.015
FORFEIT_RATE = 0.01
DRAW_SHARE = 0.28


@dataclass(slots=True)
class _Player:
    number: int
    strength: float
    points: int = 0
    surplus: int = 0
    last_side: int = 0
    met: set[int] = field(default_factory=set)
    byes: int = 0
    withdrawn_from: int | None = None


def swiss_field(
    entrants: int, *, rounds_played: int, rounds: int = 9, seed: int = 1, regulations: Regulations | None = None
) -> Tournament:
    """A tournament with `entrants` entrants after `rounds_played` of `rounds` rounds, the next one ready to draw."""
    rng = random.Random(f"{entrants}:{rounds_played}:{rounds}:{seed}")
    players = [_Player(number, rng.gauss(0, 1)) for number in range(1, entrants + 1)]
    for player in players:
        if rng.random() < WITHDRAW_RATE:
            player.withdrawn_from = rng.randint(2, max(2, rounds_played + 1))
    played = [_play(rng, players, number) for number in range(1, rounds_played + 1)]
    drawing = rounds_played + 1
    half = [p.number for p in _seated(players, drawing) if rng.random() < HALF_BYE_RATE]
    seeds = {p.number: round(1800 + 200 * p.strength) for p in players}
    return Tournament(
        regulations=regulations or Regulations(rounds=rounds),
        entrants=tuple(
            Entrant(number=p.number, name=f"Player {p.number}", seed=seeds[p.number], withdrawn_from=p.withdrawn_from)
            for p in players
        ),
        rounds=tuple(played),
        next=NextRound(round=drawing, byes=tuple(Bye(entrant=number, kind=ByeKind.HALF) for number in half)),
    )


def _seated(players: Sequence[_Player], drawing: int) -> list[_Player]:
    return [p for p in players if p.withdrawn_from is None or p.withdrawn_from > drawing]


def _play(rng: random.Random, players: Sequence[_Player], number: int) -> Round:
    pool = _seated(players, number)
    byes = []
    resting = {p.number for p in pool if rng.random() < HALF_BYE_RATE}
    for p in pool:
        if p.number in resting:
            p.points += 1
            byes.append(Bye(entrant=p.number, kind=ByeKind.HALF))
    pool = sorted((p for p in pool if p.number not in resting), key=lambda p: (-p.points, p.number))
    if len(pool) % 2:
        out = min(pool, key=lambda p: (p.byes, p.points, -p.number))
        pool.remove(out)
        out.byes += 1
        out.points += 2
        byes.append(Bye(entrant=out.number, kind=ByeKind.PAIRING))
    boards = []
    for at, (a, b) in enumerate(_neighbours(pool), start=1):
        boards.append(_game(rng, a, b, at))
    return Round(number=number, boards=tuple(boards), byes=tuple(byes))


def _neighbours(pool: list[_Player]) -> list[tuple[_Player, _Player]]:
    """Pair from the top with the nearest new opponent, one who wants the other side if there is one close by."""
    pairs: list[tuple[_Player, _Player]] = []
    left = list(pool)
    while left:
        top = left.pop(0)
        near = [p for p in left[:40] if p.number not in top.met] or [p for p in left if p.number not in top.met]
        if not near:
            near = [_swap_for(pairs, left, top)]
        same = [p for p in near if p.points == near[0].points] or near
        wanted = [p for p in same if _wish(p) != _wish(top)] or same
        left.remove(wanted[0])
        pairs.append((top, wanted[0]))
    return pairs


def _swap_for(pairs: list[tuple[_Player, _Player]], left: list[_Player], top: _Player) -> _Player:
    """Open the latest earlier pair whose members can be exchanged so that `top` gets a new opponent."""
    for at in range(len(pairs) - 1, -1, -1):
        for freed, kept in (pairs[at], pairs[at][::-1]):
            for other in left:
                if freed.number not in top.met and kept.number not in other.met:
                    pairs[at] = (kept, other)
                    left[left.index(other)] = freed
                    return freed
    raise ValueError("the generator ran dry: too many rounds for this field")


def _wish(p: _Player) -> int:
    return -1 if p.surplus > 0 else 1 if p.surplus < 0 else -p.last_side


def _game(rng: random.Random, a: _Player, b: _Player, board: int) -> Board:
    first, second = (a, b) if (_wish(a), a.surplus * -1) >= (_wish(b), b.surplus * -1) else (b, a)
    if _wish(a) == _wish(b):
        first, second = (a, b) if a.surplus < b.surplus or (a.surplus == b.surplus and rng.random() < 0.5) else (b, a)
    if rng.random() < FORFEIT_RATE:
        second.points += 2
        second.byes += 1
        return Board(board=board, first=first.number, second=second.number, result=Result.FIRST_FORFEIT)
    for p, q, side in ((first, second, 1), (second, first, -1)):
        p.met.add(q.number)
        p.surplus += side
        p.last_side = side
    edge = first.strength - second.strength + 0.15
    if rng.random() < DRAW_SHARE:
        first.points += 1
        second.points += 1
        return Board(board=board, first=first.number, second=second.number, result=Result.DRAW)
    if rng.random() < 1 / (1 + 10 ** (-edge)):
        first.points += 2
        return Board(board=board, first=first.number, second=second.number, result=Result.FIRST_WIN)
    second.points += 2
    return Board(board=board, first=first.number, second=second.number, result=Result.SECOND_WIN)
