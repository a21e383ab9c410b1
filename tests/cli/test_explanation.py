"""An explanation in words: every code has some, and each kind of reason is told with what it needs."""

from __future__ import annotations

from qisai.cli.explanation import SIDE, WHY, sentences
from qisai.kernel.pairing.explain import ByeReason, Explanation, FloatReason, RuledOut, SideReason
from qisai.kernel.pairing.what_if import Why
from qisai.kernel.sides import SideRule

NAMES = {3: "陈一", 5: "王二", 7: "李三"}


def test_every_code_has_words() -> None:
    assert set(WHY) == set(Why)
    assert set(SIDE) == set(SideRule)


def test_a_floater_is_told_who_was_better_and_what_stood_against_it() -> None:
    found = Explanation(
        number=3,
        round=6,
        score=7,
        opponent=5,
        board=2,
        ideal=7,
        better_count=4,
        better=(
            RuledOut(number=7, why=Why.MET, round=2),
            RuledOut(number=8, why=Why.COSTS_MORE, criterion="order", value=3, otherwise=9),
            RuledOut(number=9, why=Why.FORBIDDEN),
        ),
        floated=FloatReason(direction="down", gap=1, why=Why.NO_DRAW_LEFT),
        side=SideReason(
            side="first", rule=SideRule.SURPLUS, surplus=-1, opponent_surplus=1, sides=(-1,), opponent_sides=(1,)
        ),
    )
    assert sentences(found, NAMES) == [
        "3 陈一, 3.5 points, round 6",
        "meets 5 王二 on board 2",
        "floats down by 0.5; staying in the group: the others could then not all be paired",
        "ideal partner: 7 李三",
        "  not 7 李三: they met in round 2",
        "  not 8: it would cost more (order 9 instead of 3)",
        "  not 9: the pair is forbidden in this round",
        "  … and 1 more that would have been better",
        "side: first, because the smaller surplus moves first",
    ]


def test_who_has_the_bye_is_told_why() -> None:
    found = Explanation(
        number=5,
        round=2,
        score=0,
        opponent=None,
        board=None,
        ideal=None,
        better_count=0,
        better=(),
        bye=ByeReason(had=0, eligible=1, why=Why.ONLY_ONE_ELIGIBLE),
    )
    lines = sentences(found, NAMES)
    assert lines[1].startswith("has the bye: had 0 byes or wins by forfeit")
    assert "nobody else present had as few byes" in lines[1]
    assert lines[2] == "ideal partner: none, the group leaves this entrant over"
