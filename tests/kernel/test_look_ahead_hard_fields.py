"""Look-ahead is decided at once where a count shows that the planned rounds cannot all be drawn.

Without that count both fields below take minutes: everything short of the last rounds has a great many draws.
"""

import pytest

from qisai.kernel import pair_round
from qisai.kernel.tournament_file import parse_tournament


def event(entrants, *, rounds, forbidden, played=()):
    boards = [{"board": i, "first": a, "second": b, "result": "draw"} for i, (a, b) in enumerate(played, start=1)]
    return parse_tournament(
        {
            "format": "qisai.tournament/1",
            "regulations": {"rounds": rounds, "first_move": False},
            "entrants": [{"number": number} for number in range(1, entrants + 1)],
            "forbidden_pairs": [{"entrants": pair} for pair in forbidden],
            "rounds": [{"number": 1, "boards": boards, "byes": []}] if boards else [],
        }
    )


@pytest.mark.timeout(10)
def test_twelve_who_would_all_have_to_meet_and_two_of_them_may_not():
    played = [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10), (11, 12)]
    assert pair_round(event(12, rounds=11, forbidden=[(1, 3)], played=played)).look_ahead == "none"


@pytest.mark.timeout(10)
def test_nine_one_of_whom_would_need_more_byes_than_are_its_turn():
    assert pair_round(event(9, rounds=8, forbidden=[(1, 2), (1, 3), (1, 4)])).look_ahead == "none"


@pytest.mark.timeout(10)
def test_nine_who_can_just_play_eight_rounds():
    assert pair_round(event(9, rounds=8, forbidden=[(1, 2)])).look_ahead in ("kept", "excluded")
