"""Look-ahead is decided soon also where the planned rounds are nearly, or not quite, a round robin.

Without the counts that these fields need, each takes minutes: everything short of the last rounds has a great many
draws.
"""

import random
from collections import Counter

import pytest

from qisai.kernel import pair_round
from qisai.kernel.model import ForbiddenPair
from qisai.kernel.pairing.edit import drawing_of
from qisai.kernel.pairing.look_ahead import Continuations, looks_ahead
from qisai.kernel.pairing.small_fields import draws_best_first
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.agreement import disagreement
from tests.kernel.hostile_small_fields import hostile_small_field
from tests.kernel.oracle import best_draw, read
from tests.kernel.short_events import event as short_event


def event(entrants, *, rounds, forbidden=(), played=(), leaving=None, absent=(), system="score_group"):
    """`forbidden` is (entrants, from_round, to_round); `leaving` maps an entrant to `withdrawn_from`."""
    boards = [{"board": i, "first": a, "second": b, "result": "draw"} for i, (a, b) in enumerate(played, start=1)]
    return parse_tournament(
        {
            "format": "qisai.tournament/1",
            "regulations": {"rounds": rounds, "first_move": False, "system": system},
            "entrants": [
                {"number": number, "withdrawn_from": (leaving or {}).get(number)} for number in range(1, entrants + 1)
            ],
            "forbidden_pairs": [
                {"entrants": pair, "from_round": start, "to_round": end} for pair, start, end in forbidden
            ],
            "rounds": [{"number": 1, "boards": boards, "byes": []}] if boards else [],
            "next": {"round": 2 if boards else 1, "absent": list(absent), "byes": []},
        }
    )


@pytest.mark.timeout(10)
def test_twelve_who_would_all_have_to_meet_and_two_of_them_may_not():
    played = [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10), (11, 12)]
    assert pair_round(event(12, rounds=11, forbidden=[((1, 3), 1, None)], played=played)).look_ahead == "none"


@pytest.mark.timeout(10)
def test_nine_one_of_whom_would_need_more_byes_than_are_its_turn():
    assert pair_round(event(9, rounds=8, forbidden=[((1, other), 1, None) for other in (2, 3, 4)])).look_ahead == "none"


@pytest.mark.timeout(10)
def test_nine_who_can_just_play_eight_rounds():
    assert pair_round(event(9, rounds=8, forbidden=[((1, 2), 1, None)])).look_ahead in ("kept", "excluded")


@pytest.mark.timeout(10)
def test_eleven_one_of_whom_leaves_and_the_others_would_run_out_of_pairs():
    assert pair_round(event(11, rounds=10, leaving={7: 5}, system="draw_number")).look_ahead == "none"


@pytest.mark.timeout(10)
def test_nine_two_of_whom_miss_the_first_of_nine_rounds_with_bans_in_some_of_them():
    bans = [((5, 6), 3, 3), ((2, 5), 7, None)]
    drawn = pair_round(event(9, rounds=9, forbidden=bans, absent=(8, 9), system="draw_number"))
    assert drawn.look_ahead in ("kept", "excluded")


def test_nine_two_of_whom_would_each_need_the_one_second_bye():
    bans = [ForbiddenPair(entrants=(5, 4)), ForbiddenPair(entrants=(3, 8), from_round=3)]
    continuations = Continuations(short_event(9, "2=8 9[3 1=4 5=7 6U", forbidden=bans, rounds=9))
    assert not continuations.exist()
    assert continuations.steps < 10


def test_eleven_three_of_whom_leave_and_whose_last_bye_decides_who_has_to_meet_everybody_left():
    rounds = (
        "3=7 11=10 6=4 8[5 1=9 2U",
        "3=8 1=6 9=2 5=11 4=7 10U",
        "3=1 9=8 5=6 4=2 10=7 11U",
        "3=9 5=1 4=8 10=2 7=11 6U",
    )
    leaving = {1: {"withdrawn_from": 11}, 3: {"withdrawn_from": 9}, 9: {"withdrawn_from": 10}}
    continuations = Continuations(short_event(11, *rounds, entrants=leaving, rounds=11))
    assert not continuations.exist()
    assert continuations.steps < 300


def test_hostile_small_fields_agree_with_brute_force():
    kinds: Counter[tuple[str | None, bool]] = Counter()
    for largest, seeds in ((6, range(300)), (7, range(17, 70))):
        for seed in seeds:
            tournament = hostile_small_field(random.Random(seed), largest=largest)
            assert disagreement(tournament) is None, (largest, seed)
            answer = best_draw(read(tournament))
            leaves = any("withdrawn_from" in entrant for entrant in tournament["entrants"])
            kinds[answer.look_ahead if answer else None, leaves] += 1
    assert all(kinds[kind, leaves] > 1 for kind in ("none", "kept", "excluded") for leaves in (True, False)), kinds


@pytest.mark.parametrize("chunk", range(4))
def test_hostile_small_fields_are_decided_in_few_steps(chunk):
    """Counts, not seconds: a step takes about a millisecond."""
    most = 0
    for seed in range(chunk, 300, 4):
        tournament = parse_tournament(hostile_small_field(random.Random(seed), smallest=8))
        if not looks_ahead(tournament):
            continue
        drawing = drawing_of(tournament)
        continuations = Continuations(tournament, drawing.field)
        continuations.first_of(draws_best_first(drawing.view, drawing.system))
        most = max(most, continuations.steps)
    assert 20 < most < 1_000
