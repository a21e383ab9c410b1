"""The file `qisai.draw/1`: round trips, and refusals with their place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qisai.errors import Invalid
from qisai.kernel.draw_file import draw_to_json, parse_draw
from qisai.kernel.model import Draw, DrawnBoard, LookAhead, Source, Stage

DRAW = Draw(
    round=2,
    boards=(DrawnBoard(board=1, first=4, second=1), DrawnBoard(board=2, first=3, second=7)),
    bye=9,
    cost={"bye_score": 0, "max_gap": 1},
    cross_cap=1,
    optimal=True,
    proven=("bye_score", "max_gap"),
    relaxed=("sides",),
    look_ahead=LookAhead.KEPT,
    stage=Stage.OPTIMAL,
    source=Source.EDITED,
    budget_used={"steps": 812},
    edits=({"what": "swap", "why": "父子"},),
    tournament_sha256="0" * 64,
    flags=({"flag": "fixed_board", "board": 1},),
)


def test_a_draw_comes_back_equal() -> None:
    value = json.loads(json.dumps(draw_to_json(DRAW)))
    assert value["format"] == "qisai.draw/1"
    assert parse_draw(value) == DRAW


def test_a_hand_written_draw_needs_only_round_and_boards() -> None:
    found = parse_draw({"format": "qisai.draw/1", "round": 1, "boards": [{"board": 1, "first": 1, "second": 2}]})
    assert (found.bye, found.source, found.optimal, found.cost) == (None, Source.MANUAL, False, {})


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"format": "qisai.tournament/1"}, "/format"),
        ({"algorithm": "qisai/2"}, "/algorithm"),
        ({"round": 0}, "/round"),
        ({"boards": None}, "/boards"),
        ({"boards": [{"board": 1, "first": 1}]}, "/boards/0/second"),
        ({"boards": [{"board": 1, "first": 1, "second": 2, "result": None}]}, "/boards/0/result"),
        ({"bye": "9"}, "/bye"),
        ({"cost": {"max_gap": 0.5}}, "/cost/max_gap"),
        ({"cost": []}, "/cost"),
        ({"stage": "best"}, "/stage"),
        ({"source": None}, "/source"),
        ({"edits": ["swap"]}, "/edits/0"),
        ({"remark": ""}, "/remark"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(change: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_draw(draw_to_json(DRAW) | change)
    assert pointer in [error.pointer for error in caught.value.errors]


def test_what_is_no_draw_is_refused() -> None:
    for value in (None, [], "draw", {}, {"format": "qisai.draw/1"}):
        with pytest.raises(Invalid):
            parse_draw(value)
