"""Steps of many: said before they are taken, and taken back while nobody was changed since."""

from __future__ import annotations

from typing import Any

import pytest

from qisai.db.accounts import Role
from tests.registration.conftest import Fair, Service, make_fair, ok, problem


def bulk(fair: Fair, to: str, *states: str, by: Any = None, **more: Any) -> dict[str, Any]:
    path = f"{fair.entrants_path}/bulk-transitions"
    answer: dict[str, Any] = ok((by or fair.organiser).post(path, {"to": to, "from": list(states), **more}))
    return answer


def undo(fair: Fair, step: dict[str, Any], *, by: Any = None) -> Any:
    return (by or fair.organiser).post(f"{fair.entrants_path}/bulk-transitions/{step['undo']}/undo", {})


def states(fair: Fair) -> dict[str, str]:
    return {one["name"]: one["state"] for one in ok(fair.desk.get(fair.entrants_path))["items"]}


@pytest.fixture
def three(fair: Fair) -> Fair:
    """甲 and 乙 are registered, 丙 is rejected."""
    for name in "甲乙丙":
        fair.add(name)
    (found,) = [one for one in ok(fair.desk.get(fair.entrants_path))["items"] if one["name"] == "丙"]
    fair.move(found, "rejected")
    return fair


def test_a_dry_run_says_what_the_step_does_and_does_nothing(three: Fair) -> None:
    before, numbers = states(three), three.numbers()
    said = bulk(three, "approved", "registered", "rejected", dry_run=True)
    assert (said["applied"], said["undo"], len(said["changed"])) == (False, None, 2)
    assert [row["slug"] for row in said["refused"]] == ["no-such-step"]
    assert (states(three), three.numbers()) == (before, numbers)
    done = bulk(three, "approved", "registered", "rejected")
    assert done["applied"]
    assert (done["changed"], done["refused"]) == (said["changed"], said["refused"])


def test_a_step_of_many_is_taken_back_for_all_whom_nobody_changed_since(three: Fair) -> None:
    done = bulk(three, "approved", "registered")
    (one,) = [one for one in ok(three.desk.get(three.entrants_path))["items"] if one["name"] == "甲"]
    three.move(one, "checked_in")
    back = ok(undo(three, done))
    assert states(three) == {"甲": "checked_in", "乙": "registered", "丙": "rejected"}
    assert [row["slug"] for row in back["refused"]] == ["stale"]
    assert [row["state"] for row in back["changed"]] == ["registered"]
    log = ok(three.desk.get(f"{three.entrants_path}/{back['changed'][0]['id']}/transitions"))["items"]
    assert (log[-1]["from"], log[-1]["to"]) == ("approved", "registered")
    assert log[-1]["reason"] == f"undo of step {done['undo']}"
    assert problem(undo(three, done), 409, "undone-already")["context"]["by"] == "李组织"


def test_taking_a_withdrawal_of_many_back_keeps_numbers_and_undoes_the_round(fair: Fair) -> None:
    fair.seated(3)
    fair.draw_lots({"mode": "seeding"})
    fair.publish_rounds(1)
    done = bulk(fair, "withdrawn", "seated")
    assert {one["withdrawn_from"] for one in ok(fair.desk.get(fair.entrants_path))["items"]} == {2}
    before = fair.numbers()[1]
    ok(undo(fair, done))
    listed = ok(fair.desk.get(fair.entrants_path))["items"]
    assert [(one["number"], one["state"], one["withdrawn_from"]) for one in listed] == [
        (number, "seated", None) for number in (1, 2, 3)
    ]
    assert fair.numbers()[1] == before + 1


def test_taking_a_withdrawal_back_restores_an_earlier_round_to_leave_from(fair: Fair) -> None:
    one, _two = fair.seated(2)
    fair.move(one, "withdrawn", from_round=4)
    done = bulk(fair, "seated", "withdrawn")
    ok(undo(fair, done))
    assert fair.entrant(one["id"])["withdrawn_from"] == 4


def test_numbers_given_back_are_taken_again_or_replaced_by_the_next(fair: Fair) -> None:
    one, two, three = fair.seated(3)
    fair.draw_lots({"mode": "seeding"})
    done = bulk(fair, "cancelled", "seated")
    assert {one["number"] for one in ok(fair.desk.get(fair.entrants_path))["items"]} == {None}
    ok(undo(fair, done))
    assert [fair.entrant(x["id"])["number"] for x in (one, two, three)] == [1, 2, 3]
    wanted = [{"id": two["id"], "version": fair.entrant(two["id"])["version"]}]
    path = f"{fair.entrants_path}/bulk-transitions"
    gone = ok(fair.desk.post(path, {"to": "checked_in", "entrants": wanted}))
    with fair.service.owner() as session:
        from tests import fields

        fields.add_entrant(session, fair.event_id, number=2)
    ok(undo(fair, gone, by=fair.desk))
    assert fair.entrant(two["id"])["number"] == 4


def test_check_in_and_seating_are_taken_back_too(fair: Fair) -> None:
    fair.add("甲")
    bulk(fair, "approved", "registered")
    came = ok(fair.desk.post(f"{fair.path}/check-in", {"all": True}))
    sat = ok(fair.desk.post(f"{fair.entrants_path}/seat", {"all": True}))
    ok(undo(fair, sat, by=fair.desk))
    assert states(fair) == {"甲": "checked_in"}
    again = ok(undo(fair, came, by=fair.desk))
    assert [row["slug"] for row in again["refused"]] == ["stale"]


def test_whose_place_was_given_away_stays_out(service: Service) -> None:
    fair = make_fair(service, capacity=1)
    fair.add("甲"), fair.add("乙")
    done = bulk(fair, "cancelled", "registered")
    assert states(fair) == {"甲": "cancelled", "乙": "registered"}
    back = ok(undo(fair, done))
    assert [row["slug"] for row in back["refused"]] == ["event-full"]
    assert states(fair) == {"甲": "cancelled", "乙": "registered"}


def test_taking_back_needs_the_right_that_the_step_needed(three: Fair) -> None:
    done = bulk(three, "approved", "registered")
    refused = ok(undo(three, done, by=three.desk))
    assert {row["slug"] for row in refused["refused"]} == {"step-not-yours"}
    assert refused["changed"] == []
    ok(undo(three, done))


def test_after_a_round_was_published_nothing_is_taken_back_in_bulk(fair: Fair) -> None:
    fair.seated(2)
    done = bulk(fair, "withdrawn", "seated")
    fair.publish_rounds(1)
    problem(undo(fair, done), 409, "round-published")


def test_a_step_that_is_none_or_of_another_event_is_not_found(three: Fair, service: Service) -> None:
    other = make_fair(service)
    other.add("甲")
    foreign = bulk(other, "approved", "registered")
    problem(undo(three, foreign), 404, "step-not-found")
    problem(undo(three, {"undo": 10**12}), 404, "step-not-found")


def test_a_step_that_moved_nobody_has_nothing_to_take_back(fair: Fair) -> None:
    assert bulk(fair, "approved", "registered")["undo"] is None


def test_the_chief_referee_takes_a_disqualification_back(fair: Fair) -> None:
    fair.seated(2)
    chief = fair.service.person(Role.CHIEF_REFEREE, fair.event_id)
    done = bulk(fair, "disqualified", "seated", by=chief)
    assert ok(undo(fair, done, by=fair.desk))["changed"] == []
    ok(undo(fair, done, by=chief))
    assert set(states(fair).values()) == {"seated"}
