"""Reading `qisai.tournament/1`: defaults, round trips, and a refusal with its place for everything that is wrong."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qisai.errors import Invalid
from qisai.kernel.json_text import parse_json
from qisai.kernel.model import (
    ByeKind,
    FirstRoundMode,
    Points,
    Regulations,
    Result,
    System,
)
from qisai.kernel.profiles import PROFILES
from qisai.kernel.regulations_file import parse_regulations, regulations_to_json
from qisai.kernel.tournament_file import MAX_ENTRANTS, parse_tournament, tournament_to_json
from tests.kernel.random_tournaments import tournaments

OPEN284 = Path(__file__).parents[2].parent / "shared" / "data" / "open284.json"

FULL: dict[str, Any] = {
    "format": "qisai.tournament/1",
    "algorithm": "qisai/1",
    "regulations": {"profile": None, "system": "score_group", "points": {"win": 1, "draw": 0.5, "loss": 0, "bye": 1}},
    "entrants": [
        {"number": 1, "name": "陈一", "club": "甲队", "seed": 1840, "members": ["陈一", "林二"]},
        {"number": 2, "name": "王三", "fixed_board": 2},
        {"number": 3, "name": "李四", "withdrawn_from": 2},
    ],
    "forbidden_pairs": [{"entrants": [3, 2], "from_round": 1, "to_round": 4}],
    "lots": {"1": 17},
    "rounds": [
        {
            "number": 1,
            "boards": [{"board": 1, "first": 1, "second": 2, "result": "first_win"}],
            "byes": [{"entrant": 3, "kind": "pairing"}],
        }
    ],
    "next": {"round": 2, "absent": [1], "byes": [{"entrant": 2, "kind": "half"}]},
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The full file with one value put at a JSON pointer."""
    obj = copy.deepcopy(FULL)
    *parents, last = path.strip("/").split("/")
    target: Any = obj
    for name in parents:
        target = target[int(name)] if isinstance(target, list) else target[name]
    if isinstance(target, list):
        target[int(last) : int(last) + 1] = [value]
    else:
        target[last] = value
    return obj


def refusal(obj: Any) -> dict[str, str]:
    """Pointers and details of a refusal."""
    with pytest.raises(Invalid) as caught:
        parse_tournament(obj)
    return {error.pointer: error.detail for error in caught.value.errors}


def test_a_file_comes_back_equal_after_writing_and_reading() -> None:
    once = parse_tournament(FULL)
    written = json.loads(json.dumps(tournament_to_json(once)))
    assert parse_tournament(written) == once
    assert once.entrants[0].members == ("陈一", "林二")
    assert once.forbidden_pairs[0].entrants == (2, 3), "the smaller number first"
    assert once.rounds[0].byes[0].kind is ByeKind.PAIRING


def test_everything_but_format_entrants_and_numbers_has_a_default() -> None:
    found = parse_tournament({"format": "qisai.tournament/1", "entrants": [{"number": 7}]})
    assert found.regulations == Regulations()
    assert (found.entrants[0].name, found.entrants[0].seed, found.rounds, found.next) == ("", None, (), None)


def test_a_named_profile_gives_the_defaults() -> None:
    obj = {"format": "qisai.tournament/1", "regulations": {"profile": "shengji"}, "entrants": []}
    found = parse_tournament(obj).regulations
    assert found == PROFILES["shengji"].regulations()
    assert (found.system, found.points.win, found.first_round.mode) == (
        System.DRAW_NUMBER,
        4,
        FirstRoundMode.SYSTEM,
    )


@pytest.mark.parametrize(
    ("regulations", "mode"),
    [
        ({}, "fold"),
        ({"system": "draw_number"}, "system"),
        ({"profile": "xiangqi", "system": "draw_number"}, "system"),
        ({"profile": "shengji", "system": "score_group"}, "fold"),
        ({"system": "draw_number", "first_round": {"mode": "slide"}}, "slide"),
        ({"system": "draw_number", "first_round": {"avoid_same_club": True}}, "system"),
    ],
)
def test_the_first_round_mode_follows_the_system_unless_set(regulations: dict[str, Any], mode: str) -> None:
    assert parse_regulations(regulations).first_round.mode == mode


def test_a_bye_is_worth_a_win_unless_set() -> None:
    assert parse_regulations({"points": {"win": 3, "draw": 1}}).points == Points(win=6, draw=2, loss=0, bye=6)
    assert parse_regulations({"points": {"win": 3, "draw": 1, "bye": 1.5}}).points.bye == 3
    assert parse_regulations({"profile": "shengji", "points": {"draw": 0.5}}).points.bye == 4


def test_regulations_come_back_equal_and_take_the_defaults_of_the_event() -> None:
    base = PROFILES["weiqi"].regulations()
    found = parse_regulations({"rounds": 7, "lot_seed": 5}, profile_defaults=base)
    assert (found.profile, found.rounds, found.tie_breaks) == ("weiqi", 7, ("opponents", "sodos", "direct"))
    assert parse_regulations(regulations_to_json(found), profile_defaults=base) == found
    with pytest.raises(Invalid) as caught:
        parse_regulations({"profile": "chess", "rounds": 0}, profile_defaults=base, pointer="/regulations")
    assert [error.pointer for error in caught.value.errors] == ["/regulations/profile", "/regulations/rounds"]


REFUSED = [
    ("/format", "qisai.draw/1"),
    ("/algorithm", "qisai/2"),
    ("/algorithm", None),
    ("/entrants/1/number", 1),
    ("/entrants/1/number", 0),
    ("/entrants/1/number", "2"),
    ("/entrants/1/number", True),
    ("/entrants/1/number", 2.0),
    ("/entrants/0/colour", "red"),
    ("/entrants/0/name", 5),
    ("/entrants/0/name", "x" * 201),
    ("/entrants/0/name", "陈\n一"),
    ("/entrants/0/name", "陈\ud800"),
    ("/entrants/0/seed", 4001),
    ("/entrants/0/seed", -1),
    ("/entrants/0/seed", 1840.5),
    ("/entrants/0/withdrawn_from", 0),
    ("/entrants/0/members/0", None),
    ("/entrants/2", [1]),
    ("/extra", 1),
    ("/rounds", {"1": []}),
    ("/rounds/0/boards/0/second", 1),
    ("/rounds/0/boards/0/second", 9),
    ("/rounds/0/boards/0/result", "1-0"),
    ("/rounds/0/boards/0/result", ""),
    ("/rounds/0/boards/0/board", None),
    ("/rounds/0/byes/0/kind", "rest"),
    ("/rounds/0/byes/0/entrant", 1),
    ("/rounds/0/number", 2),
    ("/rounds/0/number", "1"),
    ("/forbidden_pairs/0/entrants", [1, 1]),
    ("/forbidden_pairs/0/entrants", [1]),
    ("/forbidden_pairs/0/entrants", [1, 8]),
    ("/forbidden_pairs/0/to_round", 0),
    ("/lots", [1]),
    ("/lots/1", "x"),
    ("/lots/9", 3),
    ("/lots/01", 3),
    ("/next/round", 3),
    ("/next/round", 1),
    ("/next/absent/0", 8),
    ("/next/byes/0/entrant", 1),
    ("/next/byes/0/kind", "pairing"),
    ("/next/byes/0/kind", "absent"),
    ("/regulations/profile", "go-moku"),
    ("/regulations/system", "swiss"),
    ("/regulations/direction", "z"),
    ("/regulations/rounds", 0),
    ("/regulations/rounds", 101),
    ("/regulations/lot_seed", 1.0),
    ("/regulations/balance_sides", 1),
    ("/regulations/tie_breaks", ["opponents", "sudden_death"]),
    ("/regulations/tie_breaks", ["opponents", "opponents"]),
    ("/regulations/tie_breaks", "opponents"),
    ("/regulations/points/win", 0.75),
    ("/regulations/points/win", float("nan")),
    ("/regulations/points/win", float("inf")),
    ("/regulations/points/win", True),
    ("/regulations/points/win", "1"),
    ("/regulations/points/win", -1),
    ("/regulations/points/draw", 2),
    ("/regulations/points/bye", 1.5),
    ("/regulations/bye_compensation", {"kind": "fixed"}),
    ("/regulations/bye_compensation", {"kind": "lowest", "points": 1}),
    ("/regulations/limits", {"max_depth": 0}),
    ("/regulations/limits", {"max_steps": "all"}),
]


@pytest.mark.parametrize(("path", "value"), REFUSED, ids=[f"{path}={str(value)[:20]!r}" for path, value in REFUSED])
def test_a_wrong_value_is_refused_with_its_place(path: str, value: Any) -> None:
    places = refusal(changed(path, value))
    assert any(place.startswith(path) or path.startswith(place) for place in places), places


def test_an_entrant_has_one_place_in_a_round() -> None:
    assert "/rounds/0/byes/0/entrant" in refusal(changed("/rounds/0/boards/0/second", 3))
    twice = {"board": 2, "first": 2, "second": 3, "result": "draw"}
    assert "/rounds/0/boards/1/first" in refusal(changed("/rounds/0/boards/1", twice))
    assert "/next/byes/0/entrant" in refusal(changed("/next/absent", [2]))


def test_numbers_of_boards_and_rounds_are_not_used_twice() -> None:
    twice = changed("/rounds/0/byes", [])
    twice["entrants"].append({"number": 4})
    twice["rounds"][0]["boards"].append({"board": 1, "first": 3, "second": 4, "result": "draw"})
    assert "board 1 stands twice" in refusal(twice)["/rounds/0/boards/1/board"]
    assert "round 1 stands twice" in refusal(changed("/rounds/1", FULL["rounds"][0]))["/rounds/1/number"]


def test_an_entrant_against_itself_is_called_that() -> None:
    assert "against itself" in refusal(changed("/rounds/0/boards/0/second", 1))["/rounds/0/boards/0"]


def test_a_forbidden_pairs_last_round_is_not_before_its_first() -> None:
    pair = {"entrants": [1, 2], "from_round": 3, "to_round": 2}
    assert refusal(changed("/forbidden_pairs/0", pair)).keys() == {"/forbidden_pairs/0/to_round"}


def test_all_errors_are_told_at_once() -> None:
    obj = changed("/entrants/0/seed", 9999)
    obj["rounds"][0]["boards"][0]["result"] = "won"
    obj["regulations"]["points"]["draw"] = 0.3
    assert refusal(obj).keys() == {"/entrants/0/seed", "/rounds/0/boards/0/result", "/regulations/points/draw"}


def test_one_wrong_value_is_one_complaint() -> None:
    for path, value in (("/entrants/2/number", "3"), ("/rounds/0/number", "1"), ("/next/byes/0/kind", "rest")):
        obj = changed(path, value)
        obj["forbidden_pairs"], obj["rounds"][0]["byes"] = [], []
        if path.startswith("/rounds"):
            del obj["next"]
        assert list(refusal(obj)) == [path]


def test_gaps_in_rounds_and_rounds_beyond_the_end_are_refused() -> None:
    third = {"number": 3, "boards": [], "byes": []}
    assert "round 2 is missing" in refusal(changed("/rounds", [FULL["rounds"][0], third]))["/rounds"]
    obj = changed("/regulations/rounds", 1)
    assert refusal(obj).keys() == {"/next/round"}
    obj = changed("/regulations/rounds", 1)
    obj["rounds"].append({"number": 2})
    assert "/rounds" in refusal(obj)


def test_a_past_board_without_a_result_can_be_read() -> None:
    found = parse_tournament(changed("/rounds/0/boards/0/result", None))
    assert found.rounds[0].boards[0].result is None


def test_too_many_entrants_are_refused_without_reading_them() -> None:
    assert "/entrants" in refusal({"format": "qisai.tournament/1", "entrants": [{}] * (MAX_ENTRANTS + 1)})


def test_the_order_of_the_lists_does_not_matter() -> None:
    obj = changed("/rounds", [{"number": 2, "boards": [], "byes": []}, FULL["rounds"][0]])
    obj["next"]["round"] = 3
    obj["entrants"].reverse()
    found = parse_tournament(obj)
    assert [round_.number for round_ in found.rounds] == [1, 2]
    assert [entrant.number for entrant in found.entrants] == [1, 2, 3]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
PLACES = [path for path, _ in REFUSED if path != "/format"]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PLACES), JSON_VALUES)
def test_no_value_anywhere_crashes_the_reader(path: str, value: Any) -> None:
    obj = changed(path, value)
    try:
        found = parse_tournament(obj)
    except Invalid:
        assert refusal(obj), "a refusal names its places"
    else:
        assert parse_tournament(tournament_to_json(found)) == found


@settings(max_examples=60, deadline=None)
@given(tournaments(smallest=1, largest=9))
def test_random_tournaments_come_back_equal(obj: dict[str, Any]) -> None:
    found = parse_tournament(obj)
    assert parse_tournament(json.loads(json.dumps(tournament_to_json(found)))) == found


@pytest.mark.skipif(not OPEN284.exists(), reason="shared data not present")
def test_the_open_event_of_284_reads_whole() -> None:
    found = parse_tournament(parse_json(OPEN284.read_bytes()))
    assert (len(found.entrants), len(found.rounds), found.regulations.rounds) == (284, 7, 8)
    assert sum(len(round_.boards) for round_ in found.rounds) == 980
    assert found.rounds[0].boards[0].result is Result.FIRST_WIN
