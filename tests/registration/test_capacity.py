"""A full event: who waits, and who moves up when a place becomes free."""

from __future__ import annotations

import pytest

from tests.registration.conftest import Fair, Service, make_fair, ok, problem


@pytest.fixture
def full(service: Service) -> Fair:
    """Two places, taken by 甲 and 乙; 丙 and 丁 wait."""
    fair = make_fair(service, capacity=2)
    for name in "甲乙丙丁":
        fair.add(name)
    return fair


def states(fair: Fair) -> dict[str, str]:
    listed = ok(fair.desk.get(f"{fair.entrants_path}?limit=1000"))["items"]
    return {one["name"]: one["state"] for one in listed}


def named(fair: Fair, name: str) -> dict[str, object]:
    (one,) = ok(fair.desk.get(f"{fair.entrants_path}?q={name}"))["items"]
    found: dict[str, object] = one
    return found


def test_beyond_the_capacity_entries_wait(full: Fair) -> None:
    assert states(full) == {"甲": "registered", "乙": "registered", "丙": "waiting", "丁": "waiting"}


def test_a_freed_place_goes_to_whoever_waited_longest_by_itself(full: Fair) -> None:
    full.move(named(full, "甲"), "cancelled")
    assert states(full) == {"甲": "cancelled", "乙": "registered", "丙": "registered", "丁": "waiting"}
    log = ok(full.desk.get(f"{full.entrants_path}/{named(full, '丙')['id']}/transitions"))["items"]
    assert (log[-1]["from"], log[-1]["to"], log[-1]["reason"]) == ("waiting", "registered", "a place became free")


def test_who_comes_back_waits_behind_those_who_waited(full: Fair) -> None:
    full.move(named(full, "丙"), "cancelled")
    full.move(named(full, "丙"), "waiting")
    full.move(named(full, "甲"), "rejected")
    assert states(full) == {"甲": "rejected", "乙": "registered", "丙": "waiting", "丁": "registered"}


def test_the_desk_sees_the_order_of_those_who_wait(full: Fair) -> None:
    def waiting() -> dict[str, int]:
        listed = ok(full.desk.get(f"{full.entrants_path}?limit=1000"))["items"]
        return {one["name"]: one["waiting_place"] for one in listed if one["waiting_place"] is not None}

    assert waiting() == {"丙": 1, "丁": 2}
    full.move(named(full, "丙"), "cancelled")
    assert waiting() == {"丁": 1}
    full.move(named(full, "丙"), "waiting")
    assert waiting() == {"丁": 1, "丙": 2}


def test_a_larger_capacity_lets_those_who_wait_move_up(full: Fair) -> None:
    event = full.event()
    ok(full.organiser.patch(full.path, {"capacity": 3}, version=event["version"]))
    assert states(full)["丙"] == "registered"
    ok(full.organiser.patch(full.path, {"capacity": None}, version=full.event()["version"]))
    assert "waiting" not in states(full).values()


def test_a_smaller_capacity_turns_nobody_out_and_lets_nobody_in(full: Fair) -> None:
    ok(full.organiser.patch(full.path, {"capacity": 1}, version=full.event()["version"]))
    full.move(named(full, "甲"), "cancelled")
    assert states(full) == {"甲": "cancelled", "乙": "registered", "丙": "waiting", "丁": "waiting"}


def test_without_approval_who_moves_up_is_approved(service: Service) -> None:
    fair = make_fair(service, capacity=1, needs_approval=False)
    one, two = fair.add("甲"), fair.add("乙")
    assert (one["state"], two["state"]) == ("approved", "waiting")
    fair.move(one, "cancelled")
    assert states(fair)["乙"] == "approved"


def test_a_bulk_step_gives_free_places_to_those_in_front_and_names_the_rest(full: Fair) -> None:
    path = f"{full.entrants_path}/bulk-transitions"
    ok(full.organiser.post(path, {"to": "cancelled", "from": ["registered", "waiting"]}))
    back = ok(full.organiser.post(path, {"to": "registered", "from": ["cancelled"]}))
    assert len(back["changed"]) == 2
    assert [one["name"] for one in back["refused"]] == ["丙", "丁"]
    assert {one["slug"] for one in back["refused"]} == {"event-full"}
    problem(full.try_move(named(full, "丙"), "registered"), 409, "event-full")


def test_an_import_fills_the_places_and_the_rest_waits(service: Service) -> None:
    fair = make_fair(service, capacity=2)
    content = "姓名\n甲\n乙\n丙\n".encode()
    ok(fair.desk.post(f"{fair.entrants_path}/import?dry_run=false", data=content, content_type="text/csv"))
    assert states(fair) == {"甲": "registered", "乙": "registered", "丙": "waiting"}
