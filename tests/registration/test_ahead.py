"""What is noted ahead of rounds, and that pairing reads it."""

from __future__ import annotations

from typing import Any

import pytest

from qisai.db.session import Database
from qisai.db.snapshot import read_tournament
from qisai.kernel.model import Tournament
from tests.registration.conftest import Fair, Service, make_fair, ok, problem


def tournament(fair: Fair) -> Tournament:
    """The event as pairing reads it."""
    connected = Database(fair.service.database.url("pairing"), application="test", pool_size=1)
    try:
        with connected.snapshot() as session:
            return read_tournament(session, fair.event_id, with_next=True).tournament
    finally:
        connected.close()


@pytest.fixture
def drawn(fair: Fair) -> tuple[Fair, list[dict[str, Any]]]:
    """Four entrants with numbers 1 … 4."""
    field = fair.seated(4)
    fair.draw_lots({"mode": "seeding"})
    return fair, [fair.entrant(one["id"]) for one in field]


def test_absences_and_byes_are_what_pairing_reads(drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, two, three, _four) = drawn
    ok(fair.desk.put(f"{fair.path}/absences/1/{one['id']}", {}))
    ok(fair.desk.put(f"{fair.path}/byes/1/{two['id']}", {"kind": "half"}))
    ok(fair.desk.put(f"{fair.path}/byes/2/{three['id']}", {"kind": "zero"}))
    upcoming = tournament(fair).next
    assert upcoming is not None
    assert (upcoming.absent, [(bye.entrant, bye.kind) for bye in upcoming.byes]) == ((1,), [(2, "half")])
    seen = fair.entrant(two["id"])
    assert (seen["absences"], seen["byes"]) == ([], [{"round": 1, "kind": "half"}])
    assert fair.entrant(one["id"])["absences"] == [1]


def test_they_can_be_changed_and_taken_back(drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, *_rest) = drawn
    absence, bye = f"{fair.path}/absences/1/{one['id']}", f"{fair.path}/byes/1/{one['id']}"
    ok(fair.desk.put(absence, {}))
    ok(fair.desk.put(bye, {"kind": "half"}))
    ok(fair.desk.put(bye, {"kind": "full"}))
    assert fair.entrant(one["id"])["byes"] == [{"round": 1, "kind": "full"}]
    assert fair.desk.delete(absence).status_code == 204
    assert fair.desk.delete(bye).status_code == 204
    seen = fair.entrant(one["id"])
    assert (seen["absences"], seen["byes"]) == ([], [])


def test_saying_the_same_twice_writes_nothing(drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, *_rest) = drawn
    path = f"{fair.path}/absences/1/{one['id']}"
    ok(fair.desk.put(path, {}))
    before = fair.numbers()
    ok(fair.desk.put(path, {}))
    fair.desk.delete(f"{fair.path}/byes/1/{one['id']}")
    assert fair.numbers() == before


def test_each_note_is_logged_and_makes_drafts_stale(drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, *_rest) = drawn
    before = fair.numbers()[1]
    ok(fair.desk.put(f"{fair.path}/byes/1/{one['id']}", {"kind": "half"}))
    assert fair.numbers()[1] == before + 1
    query = "SELECT old, new FROM audit_log WHERE event_id = :id AND action = 'entrant.bye'"
    (row,) = fair.service.rows(query, id=fair.event_id)
    assert (row.old, row.new) == ({"kind": None, "round": 1}, {"kind": "half", "round": 1})


@pytest.mark.parametrize("kind", ["pairing", "absent", "holiday", None, 1])
def test_only_half_full_and_zero_can_be_asked_for(drawn: tuple[Fair, list[dict[str, Any]]], kind: Any) -> None:
    fair, (one, *_rest) = drawn
    assert fair.desk.put(f"{fair.path}/byes/1/{one['id']}", {"kind": kind}).status_code == 422


def test_a_round_that_is_published_or_beyond_the_last_is_refused(service: Service) -> None:
    fair = make_fair(service, regulations={"rounds": 3})
    (one, _two) = fair.seated(2)
    fair.publish_rounds(1)
    for thing, body in (("absences", {}), ("byes", {"kind": "half"})):
        problem(fair.desk.put(f"{fair.path}/{thing}/1/{one['id']}", body), 409, "round-published")
        problem(fair.desk.put(f"{fair.path}/{thing}/4/{one['id']}", body), 422, "round-beyond")
        assert fair.desk.put(f"{fair.path}/{thing}/101/{one['id']}", body).status_code == 422
        ok(fair.desk.put(f"{fair.path}/{thing}/2/{one['id']}", body))


def test_forbidden_pairs_are_what_pairing_reads(drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, two, three, _four) = drawn
    body = {"entrants": [three["id"], one["id"]], "from_round": 1, "to_round": 4}
    made = fair.desk.post(f"{fair.path}/forbidden-pairs", body)
    pair = ok(made, 201)
    assert pair["entrants"] == [one["id"], three["id"]]
    assert made.headers["Location"] == f"{fair.path}/forbidden-pairs/{pair['id']}"
    ok(fair.desk.post(f"{fair.path}/forbidden-pairs", {"entrants": [one["id"], two["id"]]}), 201)
    found = [(found.entrants, found.from_round, found.to_round) for found in tournament(fair).forbidden_pairs]
    assert found == [((1, 2), 1, None), ((1, 3), 1, 4)]
    assert len(ok(fair.desk.get(f"{fair.path}/forbidden-pairs"))["items"]) == 2
    assert fair.desk.delete(f"{fair.path}/forbidden-pairs/{pair['id']}").status_code == 204
    assert len(tournament(fair).forbidden_pairs) == 1
    problem(fair.desk.delete(f"{fair.path}/forbidden-pairs/{pair['id']}"), 404, "pair-not-found")


def test_a_pair_that_cannot_be_is_refused(service: Service, drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, two, *_rest) = drawn
    path, stranger = f"{fair.path}/forbidden-pairs", make_fair(service).add("林二")
    problem(fair.desk.post(path, {"entrants": [one["id"], stranger["id"]]}), 422, "invalid-pair")
    pair = [one["id"], two["id"]]
    for body in (
        {"entrants": [one["id"], one["id"]]},
        {"entrants": [one["id"]]},
        {"entrants": pair, "from_round": 3, "to_round": 2},
        {"entrants": pair, "from_round": 0},
    ):
        assert fair.desk.post(path, body).status_code == 422, body
    ok(fair.desk.post(path, {"entrants": pair}), 201)
    problem(fair.desk.post(path, {"entrants": pair[::-1]}), 409, "pair-forbidden")


def test_who_is_kept_apart_is_for_staff_and_not_in_the_feed(drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, two, *_rest) = drawn
    ok(fair.desk.post(f"{fair.path}/forbidden-pairs", {"entrants": [one["id"], two["id"]]}), 201)
    problem(fair.service.public().get(f"{fair.path}/forbidden-pairs"), 401, "sign-in-needed")
    query = "SELECT kind, data FROM feed_entry WHERE event_id = :id ORDER BY feed_no DESC LIMIT 1"
    (row,) = fair.service.rows(query, id=fair.event_id)
    assert (row.kind, row.data) == ("pairs.changed", {})


def test_a_fixed_board_is_part_of_the_entrant(drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, *_rest) = drawn
    path = f"{fair.path}/fixed-boards/{one['id']}"
    fixed = ok(fair.desk.put(path, {"board": 7}, version=one["version"]))
    assert (fixed["fixed_board"], fixed["version"]) == (7, one["version"] + 1)
    assert tournament(fair).entrants[0].fixed_board == 7
    problem(fair.desk.put(path, {"board": 8}, version=one["version"]), 412, "stale")
    assert ok(fair.desk.put(path, {"board": None}, version=fixed["version"]))["fixed_board"] is None
    assert fair.desk.put(path, {"board": 0}, version=fixed["version"] + 1).status_code == 422


def test_withdrawn_and_late_entrants_are_what_pairing_reads(drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, *_rest) = drawn
    fair.move(one, "withdrawn", from_round=2)
    assert [entrant.withdrawn_from for entrant in tournament(fair).entrants] == [2, None, None, None]
    fair.publish_rounds(1)
    late = fair.add("晚来")
    for to in ("approved", "checked_in", "seated"):
        fair.move(late, to)
    assert tournament(fair).entrants[4].number == 5
    assert [(bye.entrant, bye.kind) for bye in tournament(fair).rounds[0].byes] == [(5, "zero")]
