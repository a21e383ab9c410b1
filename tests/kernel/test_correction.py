"""What a correction moves: the table, and what each later round would have been (rules.md section 8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qisai.errors import Invalid
from qisai.kernel.check import Breach
from qisai.kernel.correction import before_round, corrected, later_round, moves
from qisai.kernel.model import Board, Result, Tournament
from qisai.kernel.pairing import pair_round
from qisai.kernel.simulation import Plan, simulate
from qisai.kernel.standings import standings

BUSY = {"absent": 0.05, "half_bye": 0.05, "zero_bye": 0.03, "withdraw": 0.03, "forfeit": 0.05, "late": 0.1}


def played(seed: int, **more: Any) -> Tournament:
    plan = Plan(entrants=24, rounds=5, seed=seed, **more)
    return replace(simulate(plan, pair=pair_round), next=None)


def turned(tournament: Tournament, round_no: int, board: int) -> Tournament:
    """The other one won."""
    there = next(one for one in tournament.rounds[round_no - 1].boards if one.board == board)
    other = Result.SECOND_WIN if there.result is Result.FIRST_WIN else Result.FIRST_WIN
    return corrected(tournament, round_no=round_no, board=replace(there, result=other))


@pytest.mark.parametrize("seed", range(6))
def test_every_published_round_comes_out_again_from_what_it_was_drawn_from(seed: int) -> None:
    """Withdrawals, absences, requested byes and late entries included: else nothing could be said of corrections."""
    tournament = played(seed, **BUSY)
    for number in range(2, len(tournament.rounds) + 1):
        same = later_round(tournament, tournament, number, budget=None)
        assert (same.paired_again, same.agreed_before, same.differs, same.bye, same.breaks) == (
            True,
            True,
            (),
            None,
            (),
        )


def test_a_correction_moves_lines_and_shows_which_boards_would_have_been_others() -> None:
    tournament = played(3)
    after = turned(tournament, 1, 1)
    there = tournament.rounds[0].boards[0]
    moved = {move.after.number: move for move in moves(standings(tournament), standings(after))}
    assert {there.first, there.second} <= moved.keys()
    winner = moved[there.second if there.result is Result.FIRST_WIN else there.first]
    assert winner.after.points > winner.before.points
    later = [later_round(tournament, after, number, budget=None) for number in (2, 3)]
    for one in later:
        again = pair_round(before_round(after, one.number))
        now = {frozenset((board.first, board.second)) for board in again.boards}
        published = tournament.rounds[one.number - 1].boards
        assert one.differs == tuple(b for b in published if frozenset((b.first, b.second)) not in now)
    assert later[0].differs


def test_a_forfeit_that_becomes_a_game_shows_the_rule_that_the_published_round_breaks() -> None:
    """1 and 3 met only by forfeit in round 1 and were paired again; with a real game in round 1 that is a rematch."""
    tournament = played(0)
    first = Board(board=1, first=1, second=3, result=Result.FIRST_FORFEIT)
    boards = (first, Board(board=2, first=2, second=4, result=Result.DRAW))
    again = (replace(first, result=Result.DRAW), replace(boards[1], first=4, second=2))
    field = tuple(entrant for entrant in tournament.entrants if entrant.number <= 4)
    rounds = tuple(replace(tournament.rounds[at], boards=made, byes=()) for at, made in enumerate((boards, again)))
    small = replace(tournament, entrants=field, rounds=rounds, forbidden_pairs=(), lots={})
    game = corrected(small, round_no=1, board=replace(first, result=Result.DRAW))
    (breach,) = later_round(small, game, 2, budget=0).breaks
    assert (breach.breach, breach.entrants) == (Breach.REMATCH, (1, 3))


def test_a_result_taken_back_leaves_later_rounds_unpaired() -> None:
    tournament = played(1)
    there = tournament.rounds[0].boards[0]
    open_board = corrected(tournament, round_no=1, board=replace(there, result=None))
    found = later_round(tournament, open_board, 2, budget=None)
    assert (found.paired_again, found.agreed_before) == (False, None)


@pytest.mark.parametrize(("round_no", "board"), [(0, 1), (9, 1), (1, 99)])
def test_what_is_not_there_cannot_be_corrected(round_no: int, board: int) -> None:
    with pytest.raises(Invalid):
        corrected(played(1), round_no=round_no, board=Board(board=board, first=1, second=2))
