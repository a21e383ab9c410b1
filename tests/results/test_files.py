"""A whole event as a file, in and out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qisai.db.accounts import Role
from qisai.kernel.tournament_file import parse_tournament
from tests.results.conftest import Service, problem

OPEN284 = Path(__file__).parents[3] / "shared" / "data" / "open284.json"
IMPORT = "/api/v1/events/imports/json"


def small(**changes: Any) -> dict[str, Any]:
    """A small event that uses everything the file can hold."""
    document: dict[str, Any] = {
        "format": "qisai.tournament/1",
        "regulations": {"profile": "xiangqi", "rounds": 5, "lot_seed": 7, "forfeit_counts_as_met": True},
        "entrants": [
            {"number": 1, "name": "陈一", "club": "甲队", "seed": 1840, "members": ["陈一甲", "陈一乙"]},
            {"number": 2, "name": "林二", "fixed_board": 2},
            {"number": 3, "name": "黄三", "withdrawn_from": 3},
            {"number": 5, "name": "周五"},
            {"number": 9, "name": "吴九"},
        ],
        "forbidden_pairs": [{"entrants": [5, 2], "from_round": 2, "to_round": 4}],
        "lots": {"9": 17},
        "rounds": [
            {
                "number": 1,
                "boards": [
                    {"board": 1, "first": 1, "second": 2, "result": "first_win"},
                    {"board": 2, "first": 5, "second": 3, "result": "double_forfeit"},
                ],
                "byes": [{"entrant": 9, "kind": "pairing"}],
            },
            {"number": 2, "boards": [{"board": 4, "first": 9, "second": 1, "result": "adjourned"}]},
        ],
        "next": {"round": 3, "absent": [5], "byes": [{"entrant": 9, "kind": "half"}]},
    }
    return document | changes


@pytest.fixture
def organiser(service: Service) -> Any:
    return service.person(Role.ORGANISER, name="孔主办")


def test_a_whole_event_comes_out_as_it_went_in(organiser: Any) -> None:
    made = organiser.post(f"{IMPORT}?name=%E6%98%A5%E6%9D%AF", small())
    assert made.status_code == 201
    assert (made.json["name"], made.json["state"], made.json["entrants"], made.json["rounds"]) == (
        "春杯",
        "running",
        5,
        2,
    )
    assert made.headers["Location"] == f"/api/v1/events/{made.json['id']}"
    exported = organiser.get(f"/api/v1/events/{made.json['id']}/exports/json").json
    assert parse_tournament(exported) == parse_tournament(small())


def test_an_imported_event_has_its_whole_record(organiser: Any, service: Service) -> None:
    event_id = organiser.post(IMPORT, small()).json["id"]
    url = f"/api/v1/events/{event_id}"
    rounds = service.public().get(f"{url}/rounds").json["items"]
    assert [(item["state"], item["boards"], item["closed_by"]) for item in rounds] == [
        ("closed", 2, "孔主办"),
        ("closed", 1, "孔主办"),
    ]
    log = organiser.get(f"{url}/log?kind=result").json["items"]
    assert sorted((item["round"], item["new"]["result"], item["actor"]) for item in log) == [
        (1, "double_forfeit", "孔主办"),
        (1, "first_win", "孔主办"),
        (2, "adjourned", "孔主办"),
    ]
    query = """SELECT count(*) AS boards, count(l.id) AS logged FROM board b
               LEFT JOIN result_log l ON l.board_id = b.id AND l.version = b.version WHERE b.event_id = :id"""
    (counted,) = service.rows(query, id=event_id)
    assert (counted.boards, counted.logged) == (3, 3)
    keys = service.rows("SELECT sort_key FROM entrant WHERE event_id = :id ORDER BY number", id=event_id)
    assert [row.sort_key.split()[0] for row in keys] == ["chen", "lin", "huang", "zhou", "wu"]
    transitions = service.rows("SELECT to_state FROM transition WHERE event_id = :id ORDER BY id", id=event_id)
    assert [row.to_state for row in transitions] == [5, 5, 5, 6, 5, 5]
    (event,) = service.rows("SELECT * FROM event WHERE id = :id", id=event_id)
    assert event.frozen_at is not None
    assert event.regulations["tie_breaks"] == ["opponents", "progressive", "direct"]
    assert not {"direction", "seat_balance"} & set(event.regulations), "xiangqi does not use them"


def test_names_are_stored_composed(organiser: Any, service: Service) -> None:
    document = small(entrants=[{"number": 1, "name": "Vy\u0301"}], rounds=[], next=None, forbidden_pairs=[], lots={})
    event_id = organiser.post(IMPORT, document).json["id"]
    assert service.rows("SELECT name FROM entrant WHERE event_id = :id", id=event_id)[0].name == "V\u00fd"
    document["entrants"][0]["name"] = "\u0958" * 101  # each becomes two characters
    assert organiser.post(IMPORT, document).json["errors"][0]["pointer"] == "/entrants/0/name"


def test_an_event_without_rounds_is_ready_for_round_one(organiser: Any, service: Service) -> None:
    made = organiser.post(IMPORT, small(rounds=[], next=None)).json
    assert made["state"] == "closed"
    (event,) = service.rows("SELECT * FROM event WHERE id = :id", id=made["id"])
    assert event.frozen_at is None
    chief = service.person(Role.CHIEF_REFEREE, made["id"])
    assert chief.post(f"/api/v1/events/{made['id']}/rounds/1/draws").json["size"] == 5


def test_a_round_with_open_boards_stays_open(organiser: Any, service: Service) -> None:
    document = small(next=None)
    document["rounds"][1]["boards"][0]["result"] = None
    event_id = organiser.post(IMPORT, document).json["id"]
    round2 = service.public().get(f"/api/v1/events/{event_id}/rounds/2").json
    assert (round2["state"], round2["reported"]) == ("published", 0)


def test_the_public_sees_what_is_published_and_no_more(organiser: Any, service: Service) -> None:
    event_id = organiser.post(IMPORT, small()).json["id"]
    seen = service.public().get(f"/api/v1/events/{event_id}/exports/json").json
    assert (seen["forbidden_pairs"], seen["next"]) == ([], None)
    assert seen["rounds"] == organiser.get(f"/api/v1/events/{event_id}/exports/json").json["rounds"]
    hidden = organiser.post(f"{IMPORT}?is_public=false", small()).json["id"]
    problem(service.public().get(f"/api/v1/events/{hidden}/exports/json"), 404, "event-not-found")


def test_the_same_import_twice_under_one_key_makes_one_event(organiser: Any, service: Service) -> None:
    key = {"Idempotency-Key": "import-1"}
    first = organiser.post(IMPORT, small(), headers=key)
    again = organiser.post(IMPORT, small(), headers=key)
    assert (again.status_code, again.json) == (201, first.json)
    problem(organiser.post(IMPORT, small(lots={}), headers=key), 422, "idempotency-key-reused")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"format": "other/1"}, "/format"),
        ({"regulations": {"profile": "mahjong"}}, "/regulations/profile"),
        ({"regulations": {}}, "/regulations/profile"),
        ({"regulations": {"profile": "xiangqi", "points": {"win": 0.3}}}, "/regulations/points/win"),
        ({"regulations": {"profile": "xiangqi", "rounds": 1}}, "/rounds"),
        ({"regulations": {"profile": "xiangqi", "tie_breaks": ["opponents", "stars"]}}, "/regulations/tie_breaks/1"),
        ({"entrants": [{"number": 1, "name": "甲"}, {"number": 1, "name": "乙"}], "rounds": []}, "/entrants/1/number"),
        ({"entrants": [{"number": 1}], "rounds": []}, "/entrants/0/name"),
        ({"entrants": [{"number": 1, "name": "\u3164\u200b"}], "rounds": []}, "/entrants/0/name"),
        (
            {"entrants": [{"number": 1, "name": "甲", "members": ["乙", "\u2800"]}], "rounds": []},
            "/entrants/0/members/1",
        ),
        ({"entrants": [{"number": 100_000, "name": "甲"}], "rounds": []}, "/entrants/0/number"),
        ({"entrants": [{"number": 1, "name": "甲\x00"}], "rounds": []}, "/entrants/0/name"),
        ({"entrants": [], "rounds": []}, "/entrants"),
        ({"rounds": [{"number": 1, "boards": [{"board": 1, "first": 1, "second": 1}]}]}, "/rounds/0/boards/0"),
        ({"rounds": [{"number": 1, "boards": [{"board": 1, "first": 1, "second": 77}]}]}, "/rounds/0/boards/0/second"),
        ({"rounds": [{"number": 2}]}, "/rounds"),
        ({"next": {"round": 9}}, "/next/round"),
    ],
)
def test_a_file_with_a_fault_is_refused_with_its_place_and_leaves_nothing(
    organiser: Any, service: Service, change: dict[str, Any], pointer: str
) -> None:
    document = small(forbidden_pairs=[], lots={}, next=None) | change
    before = service.rows("SELECT count(*) AS n FROM event")[0].n
    answer = organiser.post(IMPORT, document)
    assert answer.status_code == 422, answer.json
    assert pointer in [fault["pointer"] for fault in answer.json["errors"]]
    assert service.rows("SELECT count(*) AS n FROM event")[0].n == before


@pytest.mark.parametrize(
    ("body", "slug"),
    [
        (b"", "not-json"),
        (b'{"format": "qisai.tourn', "not-json"),
        ("{}".encode("utf-16"), "not-utf8"),
        (b'{"format": 1, "format": 2}', "duplicate-name"),
        (b"[" * 100_000, "json-too-deep"),
        (b"[]", "invalid-tournament"),
        (b"null", "invalid-tournament"),
    ],
)
def test_a_body_that_is_no_tournament_is_refused(organiser: Any, body: bytes, slug: str) -> None:
    problem(organiser.post(IMPORT, data=body, content_type="application/octet-stream"), 422, slug)


def test_a_failure_in_the_middle_leaves_nothing(organiser: Any, service: Service) -> None:
    """The database refuses a seat in the middle of the import: neither event nor entrants remain."""
    with service.owner() as session:
        session.connection().exec_driver_sql(
            "ALTER TABLE seat ADD CONSTRAINT trap CHECK (place <> 'pairing') NOT VALID"
        )
    try:
        assert organiser.post(f"{IMPORT}?name=trapped", small()).status_code == 500
        assert service.rows("SELECT 1 FROM event WHERE name = 'trapped'") == []
    finally:
        with service.owner() as session:
            session.connection().exec_driver_sql("ALTER TABLE seat DROP CONSTRAINT trap")


@pytest.mark.skipif(not OPEN284.exists(), reason="../shared/data/open284.json is not here")
def test_the_open_of_284_is_the_same_after_the_round_trip_and_its_points_are_those_of_the_file(
    organiser: Any, service: Service
) -> None:
    document = json.loads(OPEN284.read_text(encoding="utf-8"))
    event_id = organiser.post(IMPORT, document).json["id"]
    exported = organiser.get(f"/api/v1/events/{event_id}/exports/json").json
    given = parse_tournament(document)
    assert parse_tournament(exported | {"next": None}) == given
    assert exported["next"] == {"round": 8, "absent": [], "byes": []}
    points = {entrant["number"]: 0.0 for entrant in document["entrants"]}
    worth = {"first_win": (1, 0), "second_win": (0, 1), "draw": (0.5, 0.5), "first_forfeit": (0, 1)}
    worth |= {"second_forfeit": (1, 0), "double_forfeit": (0, 0), "void": (0, 0), "adjourned": (0, 0)}
    bye_worth = {"pairing": 1, "full": 1, "half": 0.5, "zero": 0, "absent": 0}
    for round_ in document["rounds"]:
        for board in round_["boards"]:
            first, second = worth[board["result"]]
            points[board["first"]] += first
            points[board["second"]] += second
        for bye in round_["byes"]:
            points[bye["entrant"]] += bye_worth[bye["kind"]]
    shown = service.public().get(f"/api/v1/events/{event_id}/standings?after=7").json["rows"]
    assert {row["number"]: row["points"] for row in shown} == points
    names = {entrant["number"]: entrant["name"] for entrant in document["entrants"]}
    assert {row["number"]: row["name"] for row in shown} == names
