"""Many entrants at once: in one transaction, with a number of statements that does not grow."""

from __future__ import annotations

import time

from qisai.db.entrants import EntrantState as S
from tests import fields
from tests.registration.conftest import Fair, Service, make_fair, ok
from tests.results import asked


def with_field(service: Service, count: int, state: S) -> Fair:
    fair = make_fair(service)
    with service.owner() as session:
        for _ in range(count):
            fields.add_entrant(session, fair.event_id, number=None, state=state)
    return fair


def test_five_hundred_are_approved_checked_in_and_seated_in_as_many_statements_as_five(service: Service) -> None:
    statements: dict[int, list[int]] = {}
    for count in (5, 500):
        fair = with_field(service, count, S.REGISTERED)
        statements[count] = []
        for caller, path, body in (
            (fair.organiser, f"{fair.entrants_path}/bulk-transitions", {"to": "approved", "from": ["registered"]}),
            (fair.desk, f"{fair.path}/check-in", {"all": True}),
            (fair.desk, f"{fair.entrants_path}/seat", {"all": True}),
            (fair.organiser, f"{fair.path}/lots", {"mode": "machine"}),
        ):
            began = time.monotonic()
            with asked.statements(service.app) as sent:
                answer = ok(caller.post(path, body, version=0))
            took = time.monotonic() - began
            statements[count].append(len(sent))
            assert len(answer.get("changed", answer.get("numbers"))) == count
            print(f"{path}: {count} entrants in {took:.3f} s, {len(sent)} statements")
        assert fair.event()["counts"]["seated"] == count
    assert statements[500] == statements[5]


def test_a_late_field_is_numbered_in_one_go(service: Service) -> None:
    fair = with_field(service, 5, S.CHECKED_IN)
    fair.publish_rounds(1)
    ok(fair.desk.post(f"{fair.entrants_path}/seat", {"all": True}))
    listed = ok(fair.desk.get(fair.entrants_path))["items"]
    assert [(one["number"], one["entered_round"]) for one in listed] == [(n, 2) for n in range(1, 6)]


def test_who_may_not_is_named_and_the_others_go(fair: Fair) -> None:
    one, two, three = (fair.add(name) for name in ("陈一", "林二", "王三"))
    for entrant, to in ((one, "approved"), (two, "rejected"), (three, "approved")):
        fair.move(entrant, to)
    seen = {one["id"]: 2, two["id"]: 2, three["id"]: 1, 10**12: 1}
    wanted = [{"id": entrant_id, "version": version} for entrant_id, version in seen.items()]
    path = f"{fair.entrants_path}/bulk-transitions"
    moved = ok(fair.desk.post(path, {"to": "checked_in", "entrants": wanted}))
    assert moved["changed"] == [{"id": one["id"], "version": 3, "state": "checked_in"}]
    reasons = [(row["id"], row["slug"]) for row in moved["refused"]]
    assert reasons == [(two["id"], "no-such-step"), (three["id"], "stale"), (10**12, "entrant-not-found")]
    assert all(row["reason"] for row in moved["refused"])
    again = ok(
        fair.desk.post(path, {"to": "checked_in", "entrants": wanted[1:2]}, headers={"Accept-Language": "zh-CN"})
    )
    assert again["refused"][0]["reason"] == "林二现为“未通过”，不能由此变为“已签到”。"
    assert fair.entrant(three["id"])["state"] == "approved"


def test_checking_in_twice_changes_nothing_the_second_time(fair: Fair) -> None:
    one = fair.add("陈一")
    fair.move(one, "approved")
    first = ok(fair.desk.post(f"{fair.path}/check-in", {"entrants": [one["id"]]}))
    assert len(first["changed"]) == 1
    before = fair.numbers()
    second = ok(fair.desk.post(f"{fair.path}/check-in", {"entrants": [one["id"]]}))
    assert (second["changed"], second["refused"]) == ([], [])
    assert ok(fair.desk.post(f"{fair.path}/check-in", {"all": True}))["changed"] == []
    assert fair.numbers() == before


def test_seating_all_leaves_those_alone_who_did_not_check_in(service: Service) -> None:
    fair = make_fair(service)
    one, two = fair.add("陈一"), fair.add("林二")
    for entrant in (one, two):
        fair.move(entrant, "approved")
    fair.move(one, "checked_in")
    ok(fair.desk.post(f"{fair.entrants_path}/seat", {"all": True}))
    assert [fair.entrant(x["id"])["state"] for x in (one, two)] == ["seated", "approved"]
    named = ok(fair.desk.post(f"{fair.entrants_path}/seat", {"entrants": [two["id"]]}))
    assert [row["slug"] for row in named["refused"]] == ["check-in-first"]


def test_without_check_in_the_approved_are_seated(service: Service) -> None:
    fair = make_fair(service, needs_check_in=False, needs_approval=False)
    fair.add("陈一")
    assert len(ok(fair.desk.post(f"{fair.entrants_path}/seat", {"all": True}))["changed"]) == 1
    response = fair.desk.post(f"{fair.path}/check-in", {"all": True})
    assert response.status_code == 409


def test_each_of_many_has_a_log_row_of_its_own(service: Service) -> None:
    fair = with_field(service, 20, S.APPROVED)
    ok(fair.desk.post(f"{fair.path}/check-in", {"all": True}))
    query = "SELECT entrant_id, from_state, to_state, actor_name FROM transition WHERE event_id = :id"
    rows = fair.service.rows(query, id=fair.event_id)
    assert len({row.entrant_id for row in rows}) == 20
    assert {(row.from_state, row.to_state, row.actor_name) for row in rows} == {(S.APPROVED, S.CHECKED_IN, "王登记")}
