"""How many rounds to play: the figures of docs/rules.md section 2."""

from __future__ import annotations

import pytest

from qisai.errors import Invalid
from qisai.kernel.rounds_advice import RoundsWarning, advise_rounds, check_rounds


@pytest.mark.parametrize(
    ("entrants", "single_winner", "proposed", "safe", "possible"),
    [
        (64, 6, 7, 32, 63),
        (65, 7, 8, 33, 65),
        (90, 7, 8, 45, 89),
        (128, 7, 8, 64, 127),
        (284, 9, 10, 142, 283),
        (8, 3, 4, 4, 7),
        (7, 3, 4, 4, 7),
        (6, 3, 3, 3, 5),
        (5, 3, 3, 3, 5),
        (4, 2, 2, 2, 3),
        (3, 2, 2, 2, 3),
        (2, 1, 1, 1, 1),
    ],
)
def test_the_proposal_is_one_more_than_singles_out_a_winner_and_never_above_half_the_field(
    entrants: int, single_winner: int, proposed: int, safe: int, possible: int
) -> None:
    found = advise_rounds(entrants)
    assert (found.single_winner, found.proposed, found.safe, found.possible) == (
        single_winner,
        proposed,
        safe,
        possible,
    )


def test_above_half_the_field_it_warns_and_above_everybody_it_refuses() -> None:
    assert check_rounds(3, entrants=6) == ()
    assert check_rounds(4, entrants=6) == (RoundsWarning.MAY_RUN_DRY,)
    assert check_rounds(7, entrants=8) == (RoundsWarning.MAY_RUN_DRY,)
    assert check_rounds(5, entrants=5) == (RoundsWarning.MAY_RUN_DRY,)
    for rounds, entrants in ((6, 6), (6, 5), (8, 8), (1, 0)):
        with pytest.raises(Invalid, match="is the most"):
            check_rounds(rounds, entrants=entrants)


def test_too_few_rounds_for_one_winner_are_warned_about() -> None:
    assert check_rounds(5, entrants=64) == (RoundsWarning.NO_SINGLE_WINNER,)
    assert check_rounds(6, entrants=64) == ()


def test_fields_of_one_or_none_have_nothing_to_propose() -> None:
    assert advise_rounds(0).proposed == advise_rounds(1).proposed == 0
