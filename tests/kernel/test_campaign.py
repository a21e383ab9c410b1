"""A seeded 200 of the campaign, and that the campaign notices what it is there to notice."""

from dataclasses import replace

import pytest

from bench.campaign import main, outcomes, play_one
from qisai.errors import Conflict
from qisai.kernel import pair_round
from qisai.kernel.model import DrawnBoard


@pytest.fixture(scope="module")
def campaign():
    return list(outcomes(range(200), largest=60, workers=1))


def test_two_hundred_tournaments_without_a_failure(campaign):
    assert [(outcome.seed, outcome.failures) for outcome in campaign if outcome.failures] == []


def test_the_campaign_meets_dead_ends_and_look_ahead(campaign):
    assert sum(outcome.counts["dead ends confirmed by trying every draw"] for outcome in campaign) > 5
    assert sum(outcome.counts["rounds with look-ahead kept"] for outcome in campaign) > 50
    assert sum(outcome.counts["finished"] for outcome in campaign) > 100
    assert sum(outcome.counts["draws not proven optimal"] for outcome in campaign) == 0


def test_an_entrant_left_out_is_noticed():
    def careless(tournament):
        draw = pair_round(tournament)
        return replace(draw, boards=draw.boards[1:])

    found = play_one(3, largest=12, pair=careless).failures
    assert any("violation" in failure for failure in found)
    assert any("judge" in failure for failure in found)


def test_a_repeated_round_is_noticed():
    def forgetful(tournament):
        played = tournament.rounds[-1].boards if tournament.rounds else ()
        if not played:
            return pair_round(tournament)
        again = [DrawnBoard(board=board.board, first=board.second, second=board.first) for board in played]
        return replace(pair_round(tournament), boards=tuple(again))

    noticed = [play_one(seed, largest=12, pair=forgetful).failures for seed in range(10)]
    assert any("met" in failure for failures in noticed for failure in failures)


def test_a_refusal_where_a_draw_exists_is_noticed():
    def timid(tournament):
        raise Conflict("no-legal-draw", "would rather not")

    assert any("maximum matching" in failure for failure in play_one(3, largest=12, pair=timid).failures)


def test_main_ends_with_zero_and_a_summary(capsys):
    assert main(["--tournaments", "5", "--largest", "8", "--workers", "1"]) == 0
    assert "0 tournaments failed" in capsys.readouterr().out
