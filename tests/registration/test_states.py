"""Every pair of states, for every role, in every kind of event: docs/rules.md section 10, written again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any, Final

import pytest
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.db.entrants import EntrantState as S
from qisai.db.session import Database
from qisai.ledger.actor import Actor
from services.registration.operations.entrants import move_entrants
from services.registration.operations.judging import Mover, Step
from services.registration.operations.steps import Moved
from tests import fields
from tests.registration.conftest import Fair, Service, make_fair, ok, problem

DESK: Final = {Role.DESK, Role.ORGANISER, Role.ASSOCIATION_ADMIN}
ORGANISER: Final = {Role.ORGANISER, Role.ASSOCIATION_ADMIN}
CHIEF: Final = {Role.CHIEF_REFEREE, Role.ASSOCIATION_ADMIN}
ALWAYS: Final[dict[tuple[S, S], set[Role]]] = {
    (S.WAITING, S.CANCELLED): DESK,
    (S.REGISTERED, S.APPROVED): ORGANISER,
    (S.REGISTERED, S.REJECTED): ORGANISER,
    (S.REGISTERED, S.CANCELLED): DESK,
    (S.APPROVED, S.REJECTED): ORGANISER,
    (S.APPROVED, S.CANCELLED): DESK,
    (S.CHECKED_IN, S.SEATED): DESK,
    (S.CHECKED_IN, S.APPROVED): DESK,
    (S.CHECKED_IN, S.CANCELLED): DESK,
    (S.SEATED, S.WITHDRAWN): DESK | CHIEF,
    (S.SEATED, S.DISQUALIFIED): CHIEF,
    (S.WITHDRAWN, S.SEATED): DESK | CHIEF,
    (S.DISQUALIFIED, S.SEATED): CHIEF,
}
WITH_CHECK_IN: Final = {(S.APPROVED, S.CHECKED_IN): DESK}
WITHOUT_CHECK_IN: Final = {(S.APPROVED, S.SEATED): DESK}
BEFORE_ROUND_1: Final = {(S.SEATED, S.CANCELLED): DESK}
BEFORE_ROUND_1_WITH_CHECK_IN: Final = {(S.SEATED, S.CHECKED_IN): DESK}
BEFORE_ROUND_1_WITHOUT_CHECK_IN: Final = {(S.SEATED, S.APPROVED): DESK}
PLACE_FREE: Final = {
    (S.WAITING, S.REGISTERED): ORGANISER,
    (S.WAITING, S.APPROVED): ORGANISER,
    (S.REJECTED, S.REGISTERED): ORGANISER,
    (S.CANCELLED, S.REGISTERED): DESK,
}
FULL: Final = {(S.REJECTED, S.WAITING): ORGANISER, (S.CANCELLED, S.WAITING): DESK}


def allowed(*, check_in: bool, started: bool, full: bool) -> dict[tuple[S, S], set[Role]]:
    """What rules.md allows in such an event."""
    steps = {**ALWAYS, **(WITH_CHECK_IN if check_in else WITHOUT_CHECK_IN), **(FULL if full else PLACE_FREE)}
    if not started:
        steps |= BEFORE_ROUND_1 | (BEFORE_ROUND_1_WITH_CHECK_IN if check_in else BEFORE_ROUND_1_WITHOUT_CHECK_IN)
    return steps


@pytest.fixture(scope="module")
def database(service: Service) -> Iterator[Database]:
    made = Database(service.database.url("registration"), application="test")
    yield made
    made.close()


@pytest.mark.parametrize("check_in", [True, False], ids=["check-in", "no check-in"])
@pytest.mark.parametrize("started", [True, False], ids=["started", "not started"])
@pytest.mark.parametrize("full", [True, False], ids=["full", "places free"])
def test_every_step_by_every_role(
    service: Service, database: Database, check_in: bool, started: bool, full: bool
) -> None:
    """From every state to every state; whoever may go there goes, the others stay and are named."""
    fair = make_fair(service, needs_check_in=check_in, capacity=6 if full else 100)
    with service.owner() as session:
        ids = {state: fields.add_entrant(session, fair.event_id, number=None, state=state) for state in S}
    if started:
        fair.publish_rounds(1)
    expected = allowed(check_in=check_in, started=started, full=full)
    for target, role in product(S, Role):
        moved = _tried(database, fair, list(ids.values()), target, role)
        may = {source for source in S if role in expected.get((source, target), set())}
        assert moved.changed.keys() == {ids[source] for source in may}, (target, role)
        assert {one.entrant_id for one in moved.refused} == {ids[source] for source in set(S) - may}, (target, role)


class Undone(Exception):
    """Carries a value out of a transaction that must not be kept."""


def _tried(database: Database, fair: Fair, ids: list[int], target: S, role: Role) -> Moved:
    """What the step would do; everything is rolled back."""
    mover = Mover(actor=Actor(account_id=None, name="钱测试"), roles=frozenset({role}))
    seen = dict.fromkeys(ids, 1)
    moved = None
    with suppress(Undone), database.transaction() as session:
        moved = move_entrants(session, mover, event_id=fair.event_id, step=Step(to=target), seen=seen)
        raise Undone
    assert moved is not None
    return moved


def test_a_refused_step_names_both_states(fair: Fair) -> None:
    one = fair.add("陈一")
    body = problem(fair.try_move(one, "seated"), 409, "no-such-step")
    assert (body["context"]["from"], body["context"]["to"]) == ("registered", "seated")
    assert "registered" in body["detail"]
    assert "seated" in body["detail"]


def test_a_step_that_belongs_to_another_role_is_forbidden(fair: Fair) -> None:
    one = fair.add("陈一")
    body = problem(fair.try_move(one, "approved", by=fair.desk), 403, "step-not-yours")
    assert "organiser" in body["detail"]
    assert fair.entrant(one["id"])["state"] == "registered"


def test_the_chief_referee_withdraws_and_disqualifies_but_does_not_register(fair: Fair) -> None:
    one, two = fair.seated(2)
    chief = fair.service.person(Role.CHIEF_REFEREE, fair.event_id, name="孙裁判长")
    assert fair.move(one, "withdrawn", by=chief)["withdrawn_from"] == 1
    assert fair.move(two, "disqualified", by=chief, reason="违规")["state"] == "disqualified"
    problem(chief.post(fair.entrants_path, {"name": "李四"}), 403, "no-right")
    problem(fair.try_move(two, "seated", by=fair.desk), 403, "step-not-yours")
    assert fair.move(two, "seated", by=chief)["withdrawn_from"] is None


def test_each_step_is_one_log_row_and_one_feed_entry(fair: Fair) -> None:
    one = fair.add("陈一")
    fair.move(one, "approved")
    tablet = fair.service.person(Role.DESK, fair.event_id, name="王登记", device="平板2")
    fair.move(one, "cancelled", by=tablet, reason="生病")
    log = ok(fair.desk.get(f"{fair.entrants_path}/{one['id']}/transitions"))["items"]
    steps = [(row["from"], row["to"], row["reason"], row["actor"]) for row in log]
    assert steps == [
        (None, "registered", "", "王登记"),
        ("registered", "approved", "", "李组织"),
        ("approved", "cancelled", "生病", "王登记"),
    ]
    assert [row["device"] for row in log] == ["", "", "平板2"]
    kinds = fair.service.rows("SELECT kind FROM feed_entry WHERE event_id = :id ORDER BY feed_no", id=fair.event_id)
    assert [row.kind for row in kinds][-3:] == ["entrant.registered", "entrant.state", "entrant.state"]


def test_the_feed_says_nothing_about_those_whom_the_public_does_not_see(fair: Fair) -> None:
    one, two = fair.add("陈一"), fair.add("林二")
    fair.move(one, "approved")
    fair.move(two, "rejected", reason="未缴费")
    rows = fair.service.rows("SELECT data FROM feed_entry WHERE event_id = :id ORDER BY feed_no", id=fair.event_id)
    told = [row.data for row in rows][-4:]
    assert told == [{"count": 1}, {"count": 1}, {"count": 1, "to": "approved", "entrants": [one["id"]]}, {"count": 1}]


def test_only_steps_in_and_out_of_the_pool_change_what_pairing_reads(fair: Fair) -> None:
    one = fair.add("陈一")
    before = fair.numbers()
    fair.move(one, "approved")
    fair.move(one, "checked_in", by=fair.desk)
    feed_no, pairing_no = fair.numbers()
    assert (feed_no, pairing_no) == (before[0] + 2, before[1])
    for to, by in (("seated", fair.desk), ("withdrawn", fair.desk), ("seated", fair.desk), ("checked_in", fair.desk)):
        fair.move(one, to, by=by)
        pairing_no += 1
        assert fair.numbers()[1] == pairing_no, to


def test_without_approval_registration_goes_to_approved_in_two_log_rows(service: Service) -> None:
    fair = make_fair(service, needs_approval=False)
    one = fair.add("陈一")
    assert one["state"] == "approved"
    log = ok(fair.desk.get(f"{fair.entrants_path}/{one['id']}/transitions"))["items"]
    assert [(row["from"], row["to"]) for row in log] == [(None, "registered"), ("registered", "approved")]
    fair.move(one, "cancelled")
    again = fair.move(one, "registered")
    assert again["state"] == "approved"
    log = ok(fair.desk.get(f"{fair.entrants_path}/{one['id']}/transitions"))["items"]
    assert [row["to"] for row in log] == ["registered", "approved", "cancelled", "registered", "approved"]


def test_withdrawal_takes_effect_from_the_next_round_to_be_paired_or_a_later_one(fair: Fair) -> None:
    one, two, _three = fair.seated(3)
    fair.publish_rounds(2)
    assert fair.move(one, "withdrawn")["withdrawn_from"] == 3
    assert fair.move(two, "withdrawn", from_round=5)["withdrawn_from"] == 5
    assert fair.move(one, "seated")["withdrawn_from"] is None
    body = problem(fair.try_move(one, "withdrawn", from_round=2), 422, "from-round")
    assert body["errors"][0]["pointer"] == "/from_round"
    problem(fair.try_move(one, "cancelled"), 409, "frozen")


def test_a_late_entry_gets_the_next_number_and_its_round_and_nobody_else_moves(fair: Fair) -> None:
    field = fair.seated(3)
    fair.draw_lots({"mode": "seeding"})
    fair.publish_rounds(2)
    late = fair.add("晚来")
    fair.move(late, "approved")
    fair.move(late, "checked_in")
    seated = fair.move(late, "seated")
    assert (seated["number"], seated["entered_round"]) == (4, 3)
    assert [fair.entrant(one["id"])["number"] for one in field] == [1, 2, 3]


def test_leaving_the_pool_before_round_1_gives_the_number_back(fair: Fair) -> None:
    one, two = fair.seated(2)
    fair.draw_lots({"mode": "seeding"})
    assert fair.move(one, "checked_in")["number"] is None
    assert fair.entrant(two["id"])["number"] == 2


def test_after_a_finished_event_nobody_moves(fair: Fair) -> None:
    (one,) = fair.seated(1)
    with fair.service.owner() as session:
        session.execute(sa.text("UPDATE event SET state = 'finished' WHERE id = :id"), {"id": fair.event_id})
    for response in (
        fair.try_move(one, "withdrawn"),
        fair.desk.post(fair.entrants_path, {"name": "李四"}),
        fair.desk.put(f"{fair.path}/absences/1/{one['id']}", {}),
        fair.try_lots({"mode": "machine"}),
    ):
        problem(response, 409, "event-over")


def test_a_step_whose_answer_was_lost_may_be_asked_for_again(fair: Fair) -> None:
    one = fair.add("陈一")
    assert fair.move(one, "approved")["version"] == 2
    again = ok(fair.try_move(one, "approved", version=1))
    assert (again["version"], again["state"]) == (2, "approved")
    log = ok(fair.desk.get(f"{fair.entrants_path}/{one['id']}/transitions"))["items"]
    assert len(log) == 2
    other = fair.service.person(Role.ORGANISER, fair.event_id, name="周组织")
    body = problem(fair.try_move(one, "approved", version=1, by=other), 412, "stale")
    assert (body["current"]["state"], body["current"]["updated_by"]) == ("approved", "李组织")


def test_a_write_without_a_version_is_refused(fair: Fair) -> None:
    one = fair.add("陈一")
    path = f"{fair.entrants_path}/{one['id']}"
    problem(fair.organiser.post(f"{path}/transitions", {"to": "approved"}), 428, "version-needed")
    problem(fair.desk.patch(path, {"club": "乙队"}), 428, "version-needed")
    problem(fair.desk.put(f"{fair.path}/fixed-boards/{one['id']}", {"board": 1}), 428, "version-needed")
    problem(fair.organiser.patch(fair.path, {"venue": "文化宫"}), 428, "version-needed")
    problem(fair.organiser.post(f"{fair.path}/close-registration"), 428, "version-needed")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"from_round": 5, "reason": "病"}, id="round"),
        pytest.param({"from_round": 2, "reason": "走"}, id="reason"),
        pytest.param({"reason": "病"}, id="next round"),
        pytest.param({"from_round": 2, "reason": "病", "device": "台式机"}, id="device"),
    ],
)
def test_what_is_asked_for_again_with_another_value_is_not_taken_for_done(fair: Fair, other: dict[str, Any]) -> None:
    (one,) = fair.seated(1)
    said = {"from_round": 2, "reason": "病"}
    first = fair.move(one, "withdrawn", version=one["version"], **said)
    feed = fair.numbers()
    assert fair.move(one, "withdrawn", version=one["version"], **said) == first
    by = replace(fair.organiser, device=other.pop("device", fair.organiser.device))
    body = problem(fair.try_move(one, "withdrawn", by=by, version=one["version"], **other), 412, "stale")
    assert (body["current"]["withdrawn_from"], body["current"]["version"]) == (2, first["version"])
    assert fair.numbers() == feed


def test_who_left_from_the_next_round_did_so_as_long_as_it_is_the_next(fair: Fair) -> None:
    (one,) = fair.seated(1)
    first = fair.move(one, "withdrawn", version=one["version"])
    assert fair.move(one, "withdrawn", version=one["version"]) == first
    fair.publish_rounds(1)
    problem(fair.try_move(one, "withdrawn", version=one["version"]), 412, "stale")


def test_a_step_before_a_later_change_is_not_taken_for_what_was_asked(fair: Fair) -> None:
    (one,) = fair.seated(1)
    left = fair.move(one, "withdrawn", from_round=2)
    ok(fair.organiser.patch(f"{fair.entrants_path}/{one['id']}", {"club": "乙队"}, version=left["version"]))
    problem(fair.try_move(one, "withdrawn", version=left["version"], from_round=2), 412, "stale")
