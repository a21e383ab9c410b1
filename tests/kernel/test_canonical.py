"""The hash of a tournament: equal for what pairs alike by the file's definition, different for everything else."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from qisai.kernel.canonical import canonical_bytes, tournament_sha256
from qisai.kernel.tournament_file import parse_tournament, tournament_to_json
from tests.kernel.random_tournaments import tournaments

EVENT: dict[str, Any] = {
    "format": "qisai.tournament/1",
    "regulations": {"rounds": 3},
    "entrants": [
        {"number": 1, "name": "陈一", "club": "甲队", "seed": 1800},
        {"number": 2, "name": "王二", "club": "乙队"},
        {"number": 3, "name": "张三", "club": "甲队"},
        {"number": 4, "name": "李四"},
        {"number": 5, "name": "赵五"},
    ],
    "forbidden_pairs": [{"entrants": [1, 5]}, {"entrants": [1, 2]}],
    "rounds": [
        {
            "number": 1,
            "boards": [
                {"board": 1, "first": 1, "second": 3, "result": "draw"},
                {"board": 2, "first": 4, "second": 2, "result": "first_win"},
            ],
            "byes": [{"entrant": 5, "kind": "pairing"}],
        }
    ],
    "next": {"round": 2, "absent": [4, 2], "byes": [{"entrant": 3, "kind": "half"}]},
}


def sha(obj: dict[str, Any]) -> str:
    return tournament_sha256(parse_tournament(obj))


def edited(**changes: Any) -> dict[str, Any]:
    obj = copy.deepcopy(EVENT)
    for name, value in changes.items():
        obj[name] = value
    return obj


def test_the_canonical_form_is_what_the_file_says_it_is() -> None:
    tiny = {"format": "qisai.tournament/1", "entrants": [{"number": 2, "name": "乙", "club": "甲队"}, {"number": 1}]}
    assert canonical_bytes(parse_tournament(tiny)).decode() == (
        '{"algorithm":"qisai/1","entrants":[{"fixed_board":null,"number":1,"seed":null,"withdrawn_from":null},'
        '{"fixed_board":null,"number":2,"seed":null,"withdrawn_from":null}],"forbidden_pairs":[],'
        '"format":"qisai.tournament/1","lots":{},"next":{"absent":[],"byes":[],"round":1},'
        '"regulations":{"allow_bye":true,"balance_sides":true,"bye_compensation":{"kind":"zero","points":null},'
        '"direction":"Z","first_move":true,"first_round":{"avoid_same_club":false,"mode":"fold"},'
        '"forfeit_counts_as_met":false,"late_entry":"zero","limits":{"max_depth":null,"max_steps":null},"lot_seed":0,'
        '"points":{"bye":2,"draw":1,"loss":0,"win":2},"profile":null,"rounds":null,"seat_balance":false,'
        '"side_priority":"over_score","system":"score_group","tie_breaks":["opponents","progressive","direct"],'
        '"within_group":"adjacent"},"rounds":[]}'
    )


def test_the_hash_is_sha256_of_the_canonical_form() -> None:
    event = parse_tournament(EVENT)
    assert tournament_sha256(event) == hashlib.sha256(canonical_bytes(event)).hexdigest()


def test_the_order_of_every_list_is_left_out() -> None:
    obj = copy.deepcopy(EVENT)
    for items in (
        obj["entrants"],
        obj["forbidden_pairs"],
        obj["rounds"][0]["boards"],
        obj["next"]["absent"],
    ):
        items.reverse()
    assert sha(obj) == sha(EVENT)


def test_values_that_never_were_a_file_hash_like_the_file() -> None:
    event = parse_tournament(EVENT)
    assert event.next is not None
    turned = replace(
        event,
        entrants=event.entrants[::-1],
        forbidden_pairs=event.forbidden_pairs[::-1],
        rounds=tuple(replace(r, boards=r.boards[::-1], byes=r.byes[::-1]) for r in event.rounds),
        next=replace(event.next, absent=event.next.absent[::-1]),
    )
    assert tournament_sha256(turned) == tournament_sha256(event)


def test_names_members_and_clubs_are_left_out() -> None:
    obj = copy.deepcopy(EVENT)
    obj["entrants"][0].update(name="陈壹", club="丙队", members=["某"])
    assert sha(obj) == sha(EVENT)


def test_clubs_are_numbers_by_first_appearance_where_round_1_reads_them() -> None:
    avoiding = edited(regulations={"rounds": 3, "first_round": {"avoid_same_club": True}})
    renamed = copy.deepcopy(avoiding)
    for entrant in renamed["entrants"]:
        if "club" in entrant:
            entrant["club"] += "俱乐部"
    assert sha(renamed) == sha(avoiding), "another name for the same clubs"
    clubs = [entrant["club"] for entrant in json.loads(canonical_bytes(parse_tournament(avoiding)))["entrants"]]
    assert clubs == [1, 2, 1, None, None]
    renamed["entrants"][1]["club"] = renamed["entrants"][0]["club"]
    assert sha(renamed) != sha(avoiding)


def test_what_is_not_said_equals_its_default_said() -> None:
    event = parse_tournament(EVENT)
    assert sha(tournament_to_json(event)) == sha(EVENT)
    assert sha(edited(next=None)) == sha(edited(next={"round": 2}))
    obj = copy.deepcopy(EVENT)
    obj["rounds"][0]["byes"] = []
    absent = copy.deepcopy(obj)
    absent["rounds"][0]["byes"] = [{"entrant": 5, "kind": "absent"}]
    assert sha(obj) == sha(absent), "an entrant missing from a round had an absent bye"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("entrants/0/seed", 1801),
        ("entrants/0/withdrawn_from", 2),
        ("entrants/0/fixed_board", 1),
        ("entrants/0/number", 9),
        ("rounds/0/boards/0/result", "adjourned"),
        ("rounds/0/boards/0/board", 7),
        ("rounds/0/byes/0/kind", "full"),
        ("next/absent", [4]),
        ("next/byes", [{"entrant": 3, "kind": "zero"}]),
        ("forbidden_pairs/0/to_round", 3),
        ("lots", {"1": 1}),
        ("regulations/lot_seed", 1),
        ("regulations/points", {"win": 3, "draw": 1}),
        ("regulations/rounds", 4),
        ("regulations/tie_breaks", []),
    ],
)
def test_everything_else_changes_the_hash(path: str, value: Any) -> None:
    obj = copy.deepcopy(EVENT)
    *parents, last = path.split("/")
    target: Any = obj
    for name in parents:
        target = target[int(name)] if isinstance(target, list) else target[name]
    target[last] = value
    if path == "entrants/0/number":
        obj["rounds"][0]["boards"][0]["first"] = 9
        obj["forbidden_pairs"] = []
        assert sha(obj) != sha(edited(forbidden_pairs=[]))
    else:
        assert sha(obj) != sha(EVENT)


def test_another_algorithm_is_another_hash() -> None:
    event = parse_tournament(EVENT)
    assert tournament_sha256(replace(event, algorithm="qisai/2")) != tournament_sha256(event)


@settings(max_examples=60, deadline=None)
@given(tournaments(smallest=1, largest=9))
def test_shuffling_and_renaming_never_change_the_hash(obj: dict[str, Any]) -> None:
    before = sha(obj)
    rng = random.Random(before)
    for round_ in obj["rounds"]:
        rng.shuffle(round_["boards"])
        rng.shuffle(round_["byes"])
    for name in ("entrants", "forbidden_pairs", "rounds"):
        rng.shuffle(obj[name])
    for entrant in obj["entrants"]:
        entrant["name"] = f"somebody {rng.random()}"
    assert sha(obj) == before
