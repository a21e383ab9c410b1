"""The rules of registration that an event sets: deadline, late entry, byes that may be asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from tests.registration.conftest import Fair, Service, make_fair, ok, problem


def moment(**from_now: int) -> str:
    return (datetime.now(UTC) + timedelta(**from_now)).isoformat()


@pytest.mark.parametrize(
    "body",
    [
        {"late_entry_until": 0},
        {"late_entry_until": 101},
        {"max_byes": -1},
        {"max_byes": True},
        {"byes_until_round": 0},
        {"byes_until_round": "3"},
    ],
)
def test_a_rule_that_cannot_be_is_refused_at_its_place(fair: Fair, body: dict[str, Any]) -> None:
    answer = fair.organiser.patch(fair.path, body, version=fair.event()["version"])
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json["errors"]] == [f"/{next(iter(body))}"]  # type: ignore[index]


def test_after_the_deadline_the_event_says_so_and_the_desk_may_still_enter_somebody(service: Service) -> None:
    fair = make_fair(service, registration_until=moment(seconds=-1))
    assert fair.event()["state"] == "open"
    assert fair.event()["registration"]["closed_by"] == "deadline"
    problem(
        service.public().post(f"{fair.path}/registrations", {"name": "陈一"}), 409, "registration-closed"
    )  # fmt: skip
    assert fair.add("陈一")["state"] == "registered"
    later = ok(fair.organiser.patch(fair.path, {"registration_until": moment(hours=1)}, version=2))
    assert later["registration"] | {"until": None} == {
        "is_open": True, "closed_by": None, "until": None, "places": None, "free": None, "waiting": 0,
    }  # fmt: skip


def test_late_entries_end_where_the_event_says_and_who_withdrew_may_return(service: Service) -> None:
    fair = make_fair(service, late_entry_until=2, needs_approval=False, needs_check_in=False)
    one, *_rest = fair.seated(4)
    fair.draw_lots({"mode": "seeding"})
    fair.publish_rounds(1)
    second = fair.move(fair.add("晚来"), "seated")
    assert (second["number"], second["entered_round"]) == (5, 2)
    with service.owner() as session:
        statement = "INSERT INTO round (event_id, number, state) VALUES (:event, 2, 'published')"
        session.execute(sa.text(statement), {"event": fair.event_id})
    third = fair.add("更晚")
    body = problem(fair.try_move(third, "seated"), 409, "late-entry-over")
    assert body["context"]["until_round"] == 2
    bulk = ok(fair.desk.post(f"{fair.entrants_path}/seat", {"all": True}))
    assert [row["slug"] for row in bulk["refused"]] == ["late-entry-over"]
    fair.move(one, "withdrawn")
    assert fair.move(one, "seated")["state"] == "seated"


def test_byes_with_points_are_limited_in_number_and_in_rounds_and_absences_are_not(service: Service) -> None:
    fair = make_fair(service, max_byes=1, byes_until_round=3, regulations={"rounds": 6})
    one, _two = fair.seated(2)

    def bye(round_no: int, kind: str) -> Any:
        return fair.desk.put(f"{fair.path}/byes/{round_no}/{one['id']}", {"kind": kind})

    ok(bye(1, "half"))
    problem(bye(2, "half"), 409, "too-many-byes")
    problem(bye(2, "full"), 409, "too-many-byes")
    ok(bye(1, "full"))
    ok(bye(2, "zero"))
    problem(bye(4, "half"), 409, "byes-over")
    ok(bye(4, "zero"))
    ok(fair.desk.put(f"{fair.path}/absences/5/{one['id']}", {}))
    fair.desk.delete(f"{fair.path}/byes/1/{one['id']}")
    ok(bye(2, "half"))
    assert fair.entrant(one["id"])["byes"] == [{"round": 2, "kind": "half"}, {"round": 4, "kind": "zero"}]


def test_no_byes_with_points_at_all(service: Service) -> None:
    fair = make_fair(service, max_byes=0)
    (one,) = fair.seated(1)
    path = f"{fair.path}/byes/1/{one['id']}"
    problem(fair.desk.put(path, {"kind": "half"}), 409, "too-many-byes")
    ok(fair.desk.put(path, {"kind": "zero"}))


def test_somebody_seated_between_the_draw_of_lots_and_round_1_gets_the_next_number(fair: Fair) -> None:
    field = fair.seated(3)
    fair.draw_lots({"mode": "machine", "seed": 7})
    late = fair.add("晚来")
    for to in ("approved", "checked_in"):
        fair.move(late, to)
    seated = fair.move(late, "seated")
    assert (seated["number"], seated["entered_round"]) == (4, 1)
    lots = ok(fair.desk.get(f"{fair.path}/lots"))
    assert sorted(lots["order"]) == sorted(one["id"] for one in field)
    assert (lots["appended"], lots["replayed"], lots["frozen"]) == ([late["id"]], True, False)


def test_clubs_are_kept_apart_and_let_meet_again(fair: Fair) -> None:
    clubs = {"甲": "甲队", "乙": "甲队", "丙": "甲队", "丁": "乙队", "戊": "乙队", "己": "", "庚": ""}
    added = {name: fair.add(name, club=club)["id"] for name, club in clubs.items()}
    path = f"{fair.path}/forbidden-pairs"
    ok(fair.desk.post(path, {"entrants": [added["甲"], added["丁"]]}), 201)
    ok(fair.desk.post(path, {"entrants": [added["甲"], added["乙"]], "from_round": 3}), 201)
    made = ok(fair.desk.post(f"{path}/same-club", {"to_round": 2}))
    assert made == {
        "added": 4,
        "clubs": [{"club": "乙队", "entrants": 2, "added": 1}, {"club": "甲队", "entrants": 3, "added": 3}],
    }
    before = fair.numbers()
    assert ok(fair.desk.post(f"{path}/same-club", {"to_round": 2}))["added"] == 0
    assert fair.numbers() == before
    fair.add("辛", club="乙队")
    assert ok(fair.desk.post(f"{path}/same-club", {"to_round": 2}))["added"] == 2
    pairs = ok(fair.desk.get(path))["items"]
    assert {(pair["from_round"], pair["to_round"]) for pair in pairs} == {(1, None), (3, None), (1, 2)}
    assert ok(fair.desk.delete(f"{path}/same-club")) == {"removed": 6}
    left = [pair["entrants"] for pair in ok(fair.desk.get(path))["items"]]
    assert left == [[added["甲"], added["丁"]], [added["甲"], added["乙"]]], "none that was made one by one goes"


def test_only_some_clubs_are_kept_apart_and_never_too_many_pairs(fair: Fair) -> None:
    for name in ("甲", "乙"):
        for club in ("一社", "二社"):
            fair.add(name + club, club=club)
    path = f"{fair.path}/forbidden-pairs/same-club"
    assert [one["club"] for one in ok(fair.desk.post(path, {"clubs": ["二社"]}))["clubs"]] == ["二社"]
    with fair.service.owner() as session:
        crowd = """INSERT INTO entrant (event_id, name, club, state)
                   SELECT :event, 'x' || n, '大社', 5 FROM generate_series(1, 250) n"""
        session.execute(sa.text(crowd), {"event": fair.event_id})
    body = problem(fair.desk.post(path), 409, "too-many-pairs")
    assert body["context"]["pairs"] == 250 * 249 // 2 + 2
    assert fair.desk.post(path, {"from_round": 3, "to_round": 2}).status_code == 422
