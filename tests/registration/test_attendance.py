"""Check-in for a single round, and that pairing reads it once the deadline has passed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from qisai.db.session import Database
from qisai.db.snapshot import read_tournament
from qisai.errors import Conflict
from tests.registration.conftest import Fair, Service, make_fair, ok, problem


def moment(seconds: int) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def absent(fair: Fair, *, strict: bool = True) -> tuple[int, ...]:
    """Numbers of those whom pairing leaves out of round 1."""
    connected = Database(fair.service.database.url("pairing"), application="test", pool_size=1)
    try:
        with connected.snapshot() as session:
            upcoming = read_tournament(session, fair.event_id, for_pairing=strict, with_next=True).tournament.next
    finally:
        connected.close()
    assert upcoming is not None
    return upcoming.absent


@pytest.fixture
def drawn(fair: Fair) -> tuple[Fair, list[dict[str, Any]]]:
    field = fair.seated(3)
    fair.draw_lots({"mode": "seeding"})
    return fair, [fair.entrant(one["id"]) for one in field]


def test_after_the_deadline_who_has_no_attendance_is_absent(drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, two, three) = drawn
    path = f"{fair.path}/attendance/1"
    assert ok(fair.desk.get(path))["until"] is None
    assert absent(fair) == ()
    ok(fair.desk.put(f"{path}/deadline", {"until": moment(3600)}))
    ok(fair.desk.put(f"{path}/{one['id']}", {}))
    with pytest.raises(Conflict):
        absent(fair)
    said = ok(fair.desk.put(f"{path}/deadline", {"until": moment(-1)}))
    assert (said["present"], said["missing"]) == ([one["id"]], [two["id"], three["id"]])
    assert absent(fair) == (2, 3)
    ok(fair.desk.put(f"{path}/{two['id']}", {}))
    assert absent(fair) == (3,)
    assert fair.desk.delete(f"{path}/{one['id']}").status_code == 204
    assert absent(fair) == (1, 3)
    assert fair.desk.delete(f"{path}/deadline").status_code == 204
    assert absent(fair) == ()


def test_many_check_in_at_once_and_only_the_seated(drawn: tuple[Fair, list[dict[str, Any]]]) -> None:
    fair, (one, two, _three) = drawn
    stranger = fair.add("未入座")
    path = f"{fair.path}/attendance/1"
    done = ok(fair.desk.post(path, {"entrants": [one["id"], stranger["id"]]}))
    assert (done["changed"], done["refused"]) == ([one["id"]], [stranger["id"]])
    problem(fair.desk.put(f"{path}/{stranger['id']}", {}), 409, "not-seated")
    assert len(ok(fair.desk.post(path, {"all": True}))["changed"]) == 2
    back = ok(fair.desk.post(path, {"entrants": [two["id"]], "present": False}))
    assert back["changed"] == [two["id"]]
    assert ok(fair.desk.get(path))["missing"] == [two["id"]]


def test_each_change_is_logged_makes_drafts_stale_and_is_not_repeated(
    drawn: tuple[Fair, list[dict[str, Any]]],
) -> None:
    fair, (one, *_rest) = drawn
    path, until = f"{fair.path}/attendance/1", moment(60)
    before = fair.numbers()[1]
    for _ in range(2):
        ok(fair.desk.put(f"{path}/deadline", {"until": until}))
        ok(fair.desk.put(f"{path}/{one['id']}", {}))
        ok(fair.desk.post(path, {"entrants": [one["id"]]}))
    assert fair.numbers()[1] == before + 2
    query = "SELECT action, old, new FROM audit_log WHERE event_id = :id AND action LIKE '%attendance%' ORDER BY id"
    rows = fair.service.rows(query, id=fair.event_id)
    assert [row.action for row in rows] == ["attendance.deadline", "entrant.attendance"]
    assert (rows[0].old["until"], rows[1].new) == (None, {"round": 1, "present": True})


def test_a_published_round_and_one_beyond_the_last_have_no_check_in(service: Service) -> None:
    fair = make_fair(service, regulations={"rounds": 3})
    one, _two = fair.seated(2)
    fair.publish_rounds(1)
    for round_no, status, slug in ((1, 409, "round-published"), (4, 422, "round-beyond")):
        path = f"{fair.path}/attendance/{round_no}"
        problem(fair.desk.put(f"{path}/deadline", {"until": moment(60)}), status, slug)
        problem(fair.desk.put(f"{path}/{one['id']}", {}), status, slug)
        problem(fair.desk.post(path, {"all": True}), status, slug)
    assert fair.desk.put(f"{fair.path}/attendance/2/deadline", {"until": "tomorrow"}).status_code == 422
