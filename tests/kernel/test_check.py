"""`violations` finds every breach of rules 1 to 4, and knows nothing of the code that makes draws."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import qisai.kernel.check
from qisai.kernel.check import Breach, violations
from qisai.kernel.model import Draw, DrawnBoard, ForbiddenPair
from tests.kernel.short_events import event


def draw(*pairs, bye=None, round_number=1):
    boards = tuple(DrawnBoard(board=at, first=a, second=b) for at, (a, b) in enumerate(pairs, 1))
    return Draw(round=round_number, boards=boards, bye=bye, cost={}, cross_cap=0, optimal=False, proven=())


def breaches(tournament, drawn):
    return [(violation.breach, violation.entrants) for violation in violations(tournament, drawn)]


def test_a_legal_draw_has_no_violation():
    assert breaches(event(5, "1=2 3=4 5U"), draw((1, 3), (2, 5), bye=4, round_number=2)) == []


def test_missing_twice_unknown_and_against_itself():
    assert breaches(event(4), draw((1, 2))) == [(Breach.MISSING, (3,)), (Breach.MISSING, (4,))]
    assert breaches(event(4), draw((1, 2), (3, 1))) == [(Breach.MISSING, (4,)), (Breach.TWICE, (1,))]
    assert breaches(event(2), draw((1, 2), (8, 9))) == [(Breach.NOT_PRESENT, (8,)), (Breach.NOT_PRESENT, (9,))]
    assert breaches(event(2), draw((1, 1))) == [(Breach.MISSING, (2,)), (Breach.TWICE, (1,))]
    assert breaches(event(3), draw((1, 2), bye=2)) == [(Breach.MISSING, (3,)), (Breach.TWICE, (2,))]


@pytest.mark.parametrize(
    ("tournament", "words"),
    [
        (event(3, entrants={3: {"withdrawn_from": 1}}), "withdrawn from round 1 on"),
        (event(3, absent=[3]), "absent"),
        (event(3, byes="3H"), "requested bye"),
    ],
)
def test_who_is_away_may_not_appear(tournament, words):
    found = violations(tournament, draw((1, 2), bye=3))
    assert (found[0].breach, found[0].entrants) == (Breach.NOT_PRESENT, (3,))
    assert words in found[0].detail
    assert breaches(tournament, draw((1, 2))) == []


def test_withdrawal_from_a_later_round_does_not_count_yet():
    assert breaches(event(2, entrants={1: {"withdrawn_from": 2}}), draw((1, 2))) == []


def test_rematch_and_what_is_no_meeting():
    second = draw((1, 2), (3, 4), round_number=2)
    assert breaches(event(4, "2=1 3/4"), second) == [(Breach.REMATCH, (1, 2))]
    assert breaches(event(4, "1[2 3x4"), second) == []
    counted = event(4, "1[2 3x4", forfeit_counts_as_met=True)
    assert breaches(counted, second) == [(Breach.REMATCH, (1, 2)), (Breach.REMATCH, (3, 4))]
    assert breaches(event(4, "1/2 3=4", forfeit_counts_as_met=True), second) == [(Breach.REMATCH, (3, 4))]
    assert breaches(event(4, "1~2 3/4"), second) == [(Breach.REMATCH, (1, 2))]


def test_rematch_names_round_and_board():
    found = violations(event(4, "1=2 3=4", "1=3 2=4"), draw((1, 4), (3, 1), (2, 1), round_number=3))
    rematch = [(v.entrants, v.board, v.context["round"]) for v in found if v.breach is Breach.REMATCH]
    assert ((1, 2), 3, 1) in rematch


def test_forbidden_pairs_bind_in_their_rounds_only():
    ban = ForbiddenPair(entrants=(1, 2), from_round=2, to_round=3)
    one = draw((2, 1), (3, 4))
    assert breaches(event(4, forbidden=[ban]), one) == []
    assert breaches(event(4, "1=3 2=4", forbidden=[ban]), replace(one, round=2)) == [(Breach.FORBIDDEN_PAIR, (1, 2))]
    assert breaches(event(4, "1/3 2/4", "1/4 2/3", "1/3 2/4", forbidden=[ban]), replace(one, round=4)) == []
    assert breaches(event(4, "1/3 2/4", "1/4 2/3", forbidden=[ban]), replace(one, round=3)) == [
        (Breach.FORBIDDEN_PAIR, (1, 2))
    ]
    open_end = ForbiddenPair(entrants=(1, 2))
    assert breaches(event(4, "1=3 2=4", forbidden=[open_end]), replace(one, round=2)) == [
        (Breach.FORBIDDEN_PAIR, (1, 2))
    ]


def test_byes():
    assert breaches(event(3), draw((1, 2))) == [(Breach.MISSING, (3,)), (Breach.NO_BYE, ())]
    assert breaches(event(4), draw((1, 2), bye=3)) == [(Breach.MISSING, (4,)), (Breach.BYE_IN_EVEN_FIELD, (3,))]
    assert breaches(event(3, allow_bye=False), draw((1, 2), bye=3)) == [(Breach.BYES_OFF, (3,))]


@pytest.mark.parametrize("had", ["3U 1=2", "3F 1=2", "3]1 2A", "1[3 2H"])
def test_a_bye_out_of_turn_is_found_whatever_the_first_one_was(had):
    found = violations(event(3, had), draw((1, 2), bye=3, round_number=2))
    assert Breach.BYE_OUT_OF_TURN in [violation.breach for violation in found]


@pytest.mark.parametrize("had", ["3H 1]2", "3Z 1]2", "3A 1]2", "1]3 2U"])
def test_other_free_rounds_do_not_count_as_byes(had):
    found = violations(event(3, had), draw((1, 2), bye=3, round_number=2))
    assert Breach.BYE_OUT_OF_TURN not in [violation.breach for violation in found]


def test_bye_counts_compare_with_those_present_only():
    tournament = event(3, "1U 2=3", "2U 3]1", entrants={3: {"withdrawn_from": 3}}, absent=[])
    everybody_had_one = event(4, "1U 2=3 4A", "2U 3]1 4A", absent=[4])
    assert breaches(everybody_had_one, draw((2, 3), bye=1, round_number=3)) == [(Breach.REMATCH, (2, 3))]
    assert Breach.NO_BYE not in [found[0] for found in breaches(tournament, draw((1, 2), round_number=3))]


@pytest.mark.parametrize("bye", [1, 2, 3])
def test_a_bye_and_a_forfeit_win_weigh_the_same(bye):
    everybody_once = event(3, "1U 2]3", "3]2 1A")
    others = tuple({1, 2, 3} - {bye})
    assert breaches(everybody_once, draw(others, bye=bye, round_number=3)) == []
    other_way = event(3, "1U 3[2", "2[3 1A")
    assert breaches(other_way, draw(others, bye=bye, round_number=3)) == []


def test_empty_pool_and_wrong_round():
    assert breaches(event(1, absent=[1]), draw()) == [(Breach.EMPTY_POOL, ())]
    assert breaches(event(2), draw((1, 2), round_number=2)) == [(Breach.WRONG_ROUND, ())]


def test_one_board_number_for_two_pairs():
    drawn = draw((1, 2), (3, 4))
    same = replace(drawn, boards=tuple(replace(board, board=1) for board in drawn.boards))
    found = violations(event(4), same)
    assert [(violation.breach, violation.board) for violation in found] == [(Breach.BOARD_TWICE, 1)]


def test_the_check_imports_nothing_of_the_solver():
    source = Path(qisai.kernel.check.__file__).read_text(encoding="utf-8")
    imported = {
        node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.module
    } | {alias.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for alias in node.names}
    assert not {name for name in imported if "pairing" in name or "sides" in name or "first_round" in name}
    assert {name for name in imported if name.startswith("qisai")} == {"qisai.kernel.model", "qisai.kernel.outcomes"}
