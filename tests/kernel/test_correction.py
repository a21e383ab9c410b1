"""What a correction moves: the table, and what each later round would have been (rules.md section 8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qisai.errors import Invalid
from qisai.kernel.check import Breach
from qisai.kernel.correction import before_round, corrected, later_round, moves
from qisai.kernel.model import Board, ByeKind, Result, Tournament
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


def small(*pairs: tuple[int, int]) -> Tournament:
    """Round 1 as drawn (1–3, 7–2, 8–4, 5–6; the first ones won), round 2 with these pairs, as made by hand."""
    plan = Plan(entrants=8, rounds=2, seed=1)
    drawn = replace(simulate(plan, pair=pair_round), next=None)
    boards = tuple(
        Board(board=place, first=first, second=second, result=Result.DRAW)
        for place, (first, second) in enumerate(pairs, start=1)
    )
    return replace(drawn, rounds=(drawn.rounds[0], replace(drawn.rounds[1], boards=boards)))


def with_result(tournament: Tournament, board: int, result: Result) -> Tournament:
    there = next(one for one in tournament.rounds[0].boards if one.board == board)
    return corrected(tournament, round_no=1, board=replace(there, result=result))


DRAWN = ((1, 5), (7, 8), (3, 2), (6, 4))


def test_of_a_round_made_by_hand_every_board_that_would_be_another_is_shown() -> None:
    """1–8 and 7–5 are not drawn from these results either, 3–2 is, and 6–4 whatever board 1 says."""
    by_hand = small((1, 8), (7, 5), (3, 2), (6, 4))
    found = later_round(by_hand, with_result(by_hand, 1, Result.SECOND_WIN), 2, budget=None)
    assert [board.board for board in found.differs] == [1, 2, 3]
    assert (found.agreed_before, found.differed_before) == (False, {1, 2})


def test_a_round_by_hand_that_differs_only_as_before_is_still_not_the_same() -> None:
    by_hand = small((1, 8), (7, 5), (3, 2), (6, 4))
    found = later_round(by_hand, with_result(by_hand, 2, Result.FIRST_WIN), 2, budget=None)
    assert ([board.board for board in found.differs], found.differed_before) == ([1, 2], {1, 2})


def test_nothing_differs_where_the_correction_makes_the_round_what_the_results_give() -> None:
    """By today's results the round would have been another; by the corrected ones it is as published."""
    drawn = small(*DRAWN)
    wrong = with_result(drawn, 1, Result.SECOND_WIN)
    found = later_round(wrong, drawn, 2, budget=None)
    assert (found.agreed_before, found.differs, found.differed_before, found.bye) == (False, (), frozenset(), None)


def test_a_second_correction_shows_what_the_first_one_made_different_too() -> None:
    drawn = small(*DRAWN)
    once = with_result(drawn, 1, Result.SECOND_WIN)
    first = later_round(drawn, once, 2, budget=None)
    assert ([board.board for board in first.differs], first.differed_before) == ([1, 3], frozenset())
    second = later_round(once, with_result(once, 4, Result.SECOND_WIN), 2, budget=None)
    assert {1, 3} <= {board.board for board in second.differs}
    assert (second.agreed_before, second.differed_before) == (False, {1, 3})
    again = pair_round(before_round(with_result(once, 4, Result.SECOND_WIN), 2))
    now = {frozenset((board.first, board.second)) for board in again.boards}
    assert [(b.first, b.second) for b in second.differs] == [pair for pair in DRAWN if frozenset(pair) not in now]


def test_a_bye_given_by_hand_is_no_reason_to_say_nothing_of_it() -> None:
    """Seven entrants: the bye of round 2 is moved by hand to somebody whom neither history gives it."""
    plan = Plan(entrants=7, rounds=2, seed=1)
    drawn = replace(simulate(plan, pair=pair_round), next=None)
    after = turned(drawn, 1, 1)
    due = {pair_round(before_round(history, 2)).bye for history in (drawn, after)}
    there = drawn.rounds[1]
    (bye,) = [one for one in there.byes if one.kind is ByeKind.PAIRING]
    had = {one.entrant for one in drawn.rounds[0].byes}
    board = next(one for one in there.boards if one.first not in due | had)
    boards = tuple(replace(one, first=bye.entrant) if one is board else one for one in there.boards)
    by_hand = replace(there, boards=boards, byes=(replace(bye, entrant=board.first),))
    published = replace(drawn, rounds=(drawn.rounds[0], by_hand))
    found = later_round(published, turned(published, 1, 1), 2, budget=None)
    assert found.bye == (board.first, pair_round(before_round(turned(published, 1, 1), 2)).bye)
    assert found.bye_differed_before
    assert board.board in found.differed_before


@pytest.mark.parametrize("is_today", [True, False], ids=["today's", "the corrected"])
def test_which_of_the_two_histories_has_no_legal_draw_is_told_apart(is_today: bool) -> None:
    """Four entrants have all met by round 3, but 2 and 3, and 1 and 4 where that was a forfeit: these may meet then."""
    base = played(0)
    pairs = (((1, 2), (3, 4)), ((1, 3), (2, 4)), ((1, 4), (2, 3)), ((1, 4), (2, 3)))
    results = {(3, 2): Result.FIRST_FORFEIT}
    rounds = tuple(
        replace(
            base.rounds[number - 1],
            byes=(),
            boards=tuple(
                Board(board=place, first=first, second=second, result=results.get((number, place), Result.DRAW))
                for place, (first, second) in enumerate(there, start=1)
            ),
        )
        for number, there in enumerate(pairs, start=1)
    )
    field = tuple(entrant for entrant in base.entrants if entrant.number <= 4)
    met = replace(base, entrants=field, rounds=rounds, forbidden_pairs=(), lots={})
    forfeit = Board(board=1, first=1, second=4, result=Result.FIRST_FORFEIT)
    not_met = corrected(met, round_no=3, board=forfeit)
    before, after = (met, not_met) if is_today else (not_met, met)
    found = later_round(before, after, 4, budget=None)
    assert (found.no_legal_draw, found.agreed_before, found.differs) == (not is_today, not is_today, ())
