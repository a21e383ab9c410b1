"""Fields that are hard to pair: nearly all met, one score, a float forced through every group, forty rounds."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from bench.fields import swiss_field
from qisai.kernel.model import (
    Board,
    Entrant,
    FirstRound,
    FirstRoundMode,
    ForbiddenPair,
    Regulations,
    Result,
    Round,
    System,
    Tournament,
)

Outcome = Callable[[int, int], Result]
"""Result of a game, given the numbers of its first and second."""


def round_robin_field(
    entrants: int,
    *,
    rounds_played: int,
    outcome: Outcome,
    regulations: Regulations | None = None,
    forbidden: tuple[tuple[int, int], ...] = (),
) -> Tournament:
    """An even field that has played the first rounds of a round robin (circle method), so nobody met twice."""
    circle = list(range(1, entrants + 1))
    rounds = []
    for at in range(rounds_played):
        boards = []
        for board in range(entrants // 2):
            a, b = circle[board], circle[entrants - 1 - board]
            first, second = (b, a) if (at + board) % 2 else (a, b)
            boards.append(Board(board=board + 1, first=first, second=second, result=outcome(first, second)))
        rounds.append(Round(number=at + 1, boards=tuple(boards)))
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return Tournament(
        regulations=regulations or Regulations(),
        entrants=tuple(Entrant(number=number) for number in range(1, entrants + 1)),
        forbidden_pairs=tuple(ForbiddenPair(entrants=pair) for pair in forbidden),
        rounds=tuple(rounds),
    )


def all_draw(_first: int, _second: int) -> Result:
    """Everybody keeps one score."""
    return Result.DRAW


def first_wins(_first: int, _second: int) -> Result:
    """After one round there are two scores."""
    return Result.FIRST_WIN


def stronger_wins(first: int, second: int) -> Result:
    """Scores spread as far as they can."""
    return Result.FIRST_WIN if first < second else Result.SECOND_WIN


def anybody_wins(seed: int) -> Outcome:
    """Results at random, the same each time."""
    rng = random.Random(seed)
    return lambda _first, _second: rng.choice([Result.FIRST_WIN, Result.SECOND_WIN, Result.DRAW])


def chained(entrants: int, *, rounds_played: int, width: int) -> Tournament:
    """Numbers up to `width` apart must not meet: with the stronger winning, every group has to let somebody float."""
    forbidden = tuple((a, b) for a in range(1, entrants + 1) for b in range(a + 1, min(entrants, a + width) + 1))
    return round_robin_field(entrants, rounds_played=rounds_played, outcome=stronger_wins, forbidden=forbidden)


def hostile_fields() -> Mapping[str, Callable[[], Tournament]]:
    """All of them, by what makes them hard."""
    adjacent = Regulations(first_round=FirstRound(mode=FirstRoundMode.ADJACENT))
    cards = Regulations(system=System.DRAW_NUMBER, first_move=False)
    return {
        "60 entrants, 57 of 59 opponents met": lambda: round_robin_field(60, rounds_played=57, outcome=anybody_wins(1)),
        "200 entrants, 190 of 199 met": lambda: round_robin_field(200, rounds_played=190, outcome=anybody_wins(1)),
        "200 entrants, 190 of 199 met, 186 scores": lambda: round_robin_field(
            200, rounds_played=190, outcome=stronger_wins
        ),
        "200 entrants with one score, 9 rounds": lambda: round_robin_field(200, rounds_played=9, outcome=all_draw),
        "200 entrants with one score, 150 met": lambda: round_robin_field(200, rounds_played=150, outcome=all_draw),
        "5,000 entrants with two scores": lambda: round_robin_field(5000, rounds_played=1, outcome=first_wins),
        "5,000 entrants with one score, round 3": lambda: round_robin_field(5000, rounds_played=2, outcome=all_draw),
        "5,000 entrants, round 2": lambda: swiss_field(5000, rounds_played=1),
        "2,000 card teams with one score, round 4": lambda: round_robin_field(
            2000, rounds_played=3, outcome=all_draw, regulations=cards
        ),
        "5,000 in round 1, a forbidden pair": lambda: round_robin_field(
            5000, rounds_played=0, outcome=all_draw, forbidden=((1, 5000),)
        ),
        "5,000 in round 1, neighbours meet, two forbidden pairs": lambda: round_robin_field(
            5000, rounds_played=0, outcome=all_draw, regulations=adjacent, forbidden=((1, 2), (701, 702))
        ),
        "200 entrants, 40 rounds played": lambda: round_robin_field(200, rounds_played=40, outcome=anybody_wins(1)),
        "1,000 entrants, 40 rounds played": lambda: round_robin_field(1000, rounds_played=40, outcome=anybody_wins(1)),
        "300 entrants, forbidden pairs chained": lambda: chained(300, rounds_played=9, width=4),
    }
