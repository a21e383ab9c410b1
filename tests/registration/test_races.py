"""Races decided by the database, with real connections; each test pins the guard that it names.

Taking the guard out turns the test red (tried by hand for each).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.accounts import Role
from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.rounds import RoundState
from qisai.db.session import Database
from qisai.errors import Conflict
from qisai.formats.roster import read_roster
from qisai.kernel.model import Result
from qisai.ledger.actor import Actor
from services.registration.operations import entrants, imports, lots
from services.registration.operations.held import hold_event
from services.registration.operations.judging import Mover, Step
from services.registration.operations.steps import entrants_where, take_step
from services.registration.operations.undo import undo_bulk_step
from services.results.operations.draws import publish_draw
from tests import fields
from tests.registration.conftest import Fair, Service, make_fair, ok, problem
from tests.results.interleaving import InBackground, results_session

ACTOR = Actor(account_id=None, name="周登记")
MOVER = Mover(actor=ACTOR, roles=frozenset({Role.ORGANISER, Role.DESK}))


@pytest.fixture
def other(service: Service) -> Iterator[Session]:
    """A second connection, of the service's own role, with a transaction that the test ends."""
    connected = Database(service.database.url("registration"), application="test", pool_size=1)
    with Session(connected.engine, expire_on_commit=False) as session:
        yield session
    connected.close()


def test_two_desks_moving_one_entrant_at_once_are_one_winner_and_one_412(fair: Fair, other: Session) -> None:
    """Guard: the version of the entrant."""
    one = fair.add("陈一")
    target = {"event_id": fair.event_id, "entrant_id": one["id"], "seen_version": 1}
    entrants.move_entrant(other, MOVER, **target, step=Step(to=EntrantState.APPROVED))
    second = InBackground(fair.service.database, lambda: fair.try_move(one, "cancelled", version=1))
    assert second.waits_for_a_lock()
    other.commit()
    body = problem(second.result(), 412, "stale")
    assert (body["current"]["state"], body["current"]["version"]) == ("approved", 2)
    assert body["current"]["updated_by"] == "周登记"
    log = fair.service.rows("SELECT to_state FROM transition WHERE entrant_id = :id ORDER BY id", id=one["id"])
    assert [row.to_state for row in log] == [EntrantState.REGISTERED, EntrantState.APPROVED]


def test_two_desks_with_threads_are_one_winner_and_one_412(fair: Fair) -> None:
    """The same by chance: both start together, ten times."""
    for place in range(10):
        one = fair.add(f"棋手{place}")
        start = Barrier(2)

        def move(to: str, entrant: Any = one, ready: Barrier = start) -> int:
            ready.wait()
            return fair.try_move(entrant, to, version=1).status_code

        with ThreadPoolExecutor(2) as pool:
            statuses = sorted(pool.map(move, ("approved", "cancelled")))
        assert statuses == [200, 412]


def test_a_step_leaves_out_whoever_has_another_version_than_was_read(fair: Fair, other: Session) -> None:
    """Guard: the compare-and-set of the step itself, whatever was looked at before."""
    one, two = fair.add("陈一"), fair.add("林二")
    rows = entrants_where(other, fair.event_id, EntrantRow.id.in_([one["id"], two["id"]]))
    ok(fair.desk.patch(f"{fair.entrants_path}/{one['id']}", {"club": "乙队"}, version=1))
    moved = take_step(other, MOVER, hold_event(other, fair.event_id), rows, Step(to=EntrantState.APPROVED))
    other.commit()
    assert moved.changed.keys() == {two["id"]}
    assert [fair.entrant(x["id"])["state"] for x in (one, two)] == ["registered", "approved"]
    assert len(ok(fair.desk.get(f"{fair.entrants_path}/{one['id']}/transitions"))["items"]) == 1


def test_an_edit_that_saw_an_older_version_undoes_nothing(fair: Fair, other: Session) -> None:
    """Guard: the version in the update of an entrant."""
    one = fair.add("陈一", club="甲队")
    edit = {"event_id": fair.event_id, "entrant_id": one["id"], "seen_version": 1}
    entrants.change_entrant(other, ACTOR, **edit, changes={"club": "乙队"})
    path = f"{fair.entrants_path}/{one['id']}"
    second = InBackground(fair.service.database, lambda: fair.desk.patch(path, {"club": "丙队"}, version=1))
    assert second.waits_for_a_lock()
    other.commit()
    assert problem(second.result(), 412, "stale")["current"]["club"] == "乙队"
    assert fair.entrant(one["id"])["club"] == "乙队"


def test_a_step_that_waited_is_logged_behind_the_change_that_it_waited_for(fair: Fair, other: Session) -> None:
    """Guard: the time of a step is its own. Else a conflict would name whoever changed the entrant before."""
    one = fair.add("陈一", club="甲队")
    hold_event(other, fair.event_id)
    step = InBackground(fair.service.database, lambda: fair.try_move(one, "approved", version=2))
    assert step.waits_for_a_lock()
    edit = {"event_id": fair.event_id, "entrant_id": one["id"], "seen_version": 1}
    entrants.change_entrant(other, ACTOR, **edit, changes={"club": "乙队"})
    other.commit()
    ok(step.result())
    current = problem(fair.try_move(one, "cancelled", version=1), 412, "stale")["current"]
    assert (current["state"], current["updated_by"] == ACTOR.name) == ("approved", False)


def test_of_two_who_draw_lots_at_once_the_second_keeps_the_numbers_of_the_first(fair: Fair, other: Session) -> None:
    """Guard: the version of the lots. Without it numbers that were read out already are thrown away."""
    fair.seated(4)
    lots.draw_by_machine(other, ACTOR, event_id=fair.event_id, seen_version=0)
    path = f"{fair.path}/lots"
    second = InBackground(fair.service.database, lambda: fair.organiser.post(path, {"mode": "machine"}, version=0))
    assert second.waits_for_a_lock()
    other.commit()
    body = problem(second.result(), 412, "stale")
    now = ok(fair.desk.get(path))
    assert body["current"]["numbers"] == now["numbers"]
    assert (body["current"]["version"], body["current"]["updated_by"], now["version"]) == (1, "周登记", 1)
    assert ok(fair.organiser.post(path, {"mode": "machine"}, version=1))["version"] == 2


def test_of_many_draws_of_lots_at_once_one_counts(fair: Fair) -> None:
    """The same by chance: all start together."""
    fair.seated(3)
    start = Barrier(6, timeout=20)

    def draw(_: int) -> int:
        start.wait()
        return fair.organiser.post(f"{fair.path}/lots", {"mode": "machine"}, version=0).status_code

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(draw, range(6))) == [200, 412, 412, 412, 412, 412]
    logged = fair.service.rows(
        "SELECT 1 FROM audit_log WHERE event_id = :id AND action = 'lots.draw'", id=fair.event_id
    )
    assert len(logged) == 1


def test_fifty_at_once_on_the_last_three_places_never_exceed_the_capacity(service: Service) -> None:
    """Guard: the lock on the event's row. Without it everybody counts the same places."""
    fair = make_fair(service, capacity=10)
    for place in range(7):
        fair.add(f"先到{place}")
    start = Barrier(50, timeout=20)

    def register(place: int) -> str:
        start.wait()
        answer = fair.desk.post(fair.entrants_path, {"name": f"后到{place}"})
        assert answer.status_code in (201, 503), answer.get_data(as_text=True)
        return str(answer.json["state"]) if answer.status_code == 201 else "busy"

    with ThreadPoolExecutor(50) as pool:
        states = Counter(pool.map(register, range(50)))
    assert states["registered"] == 3
    assert states["waiting"] + states["busy"] == 47
    counts = fair.event()["counts"]
    assert (counts["registered"], counts["waiting"]) == (10, states["waiting"])


def publishing(session: Session, event_id: int, *, round_no: int) -> None:
    """What publishing a round does that registration could run into, in the order of locks: round, then feed."""
    statement = "INSERT INTO round (event_id, number, state) VALUES (:event, :number, 'published')"
    session.execute(sa.text(statement), {"event": event_id, "number": round_no})
    fields.bump(session, event_id)


LATE_WRITES: dict[str, Callable[[Fair, Any], Any]] = {
    "lots": lambda fair, _one: fair.try_lots({"mode": "machine"}),
    "regulations": lambda fair, _one: fair.organiser.patch(
        fair.path, {"regulations": {"rounds": 3}}, version=fair.event()["version"]
    ),
    "back to draft": lambda fair, _one: fair.organiser.post(f"{fair.path}/draft", version=fair.event()["version"]),
    "taken out of the pool": lambda fair, one: fair.try_move(one, "cancelled"),
    "seated undone": lambda fair, one: fair.try_move(one, "checked_in"),
}


@pytest.mark.parametrize("write", LATE_WRITES)
def test_what_round_1_freezes_is_refused_while_round_1_is_being_published(fair: Fair, write: str) -> None:
    """Guard: the test after the feed bump. Before it the round is not to be seen yet."""
    field = fair.seated(4)
    before = [fair.entrant(one["id"]) for one in field]
    with fair.service.owner() as session:
        publishing(session, fair.event_id, round_no=1)
        late = InBackground(fair.service.database, lambda: LATE_WRITES[write](fair, field[0]))
        assert late.waits_for_a_lock()
    problem(late.result(), 409, "frozen")
    assert [fair.entrant(one["id"]) for one in field] == before


ROUND_WRITES: dict[str, Callable[[Fair, Any], Any]] = {
    "withdrawal": lambda fair, one: fair.try_move(one, "withdrawn"),
    "absence": lambda fair, one: fair.desk.put(f"{fair.path}/absences/2/{one['id']}", {}),
    "bye": lambda fair, one: fair.desk.put(f"{fair.path}/byes/2/{one['id']}", {"kind": "half"}),
}


@pytest.mark.parametrize("write", ROUND_WRITES)
def test_nothing_is_noted_for_a_round_that_is_being_published(fair: Fair, write: str) -> None:
    """Guard: the test of rounds after the feed bump."""
    field = fair.seated(4)
    fair.publish_rounds(1)
    with fair.service.owner() as session:
        publishing(session, fair.event_id, round_no=2)
        late = InBackground(fair.service.database, lambda: ROUND_WRITES[write](fair, field[0]))
        assert late.waits_for_a_lock()
    problem(late.result(), 409, "round-published")
    after = fair.entrant(field[0]["id"])
    assert (after["state"], after["absences"], after["byes"]) == ("seated", [], [])


def test_an_import_is_refused_where_the_field_changed_since_it_was_planned(fair: Fair, other: Session) -> None:
    """Guard: the plan is made again under the lock."""
    fair.add("陈一", club="甲队")
    roster = read_roster("姓名,单位,等级分\n陈一,甲队,1800\n林二,乙队,\n".encode())
    plan = imports.dry_run(other, event_id=fair.event_id, roster=roster)
    fair.add("林二", club="乙队")
    with pytest.raises(Conflict) as refused:
        imports.apply_import(other, ACTOR, event_id=fair.event_id, plan=plan)
    assert refused.value.slug == "import-changed"
    other.rollback()
    assert fair.event()["counts"]["registered"] == 2


def test_an_import_after_another_dry_run_is_refused(fair: Fair) -> None:
    """Guard: the fingerprint of the plan that was looked at."""
    sent = {"data": "姓名\n陈一\n".encode(), "content_type": "text/csv"}
    plan = ok(fair.desk.post(f"{fair.entrants_path}/import?dry_run=true", **sent))["plan"]
    fair.add("陈一")
    path = f"{fair.entrants_path}/import?dry_run=false&plan={plan}"
    problem(fair.desk.post(path, **sent), 409, "import-changed")
    assert fair.event()["counts"]["registered"] == 1


def test_the_same_key_registers_once(fair: Fair) -> None:
    """Guard: the idempotency key; a double click is one entrant."""
    headers = {"Idempotency-Key": "k1"}

    def add(_: int) -> Any:
        return fair.desk.post(fair.entrants_path, {"name": "陈一"}, headers=headers)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(add, range(4)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.json["id"] for answer in answers if answer.status_code == 201}) == 1
    assert fair.event()["counts"]["registered"] == 1


def about_to_publish(fair: Fair, *, round_no: int = 1) -> tuple[int, int]:
    """Six with numbers, two of whom were withdrawn in one step, and a draft of the round for the other four.

    The step's id and the draft's number. Before round 2 all six played round 1.
    """
    field = fair.seated(6)
    fair.draw_lots({"mode": "hand", "numbers": {str(one["id"]): place for place, one in enumerate(field, start=1)}})
    fair.act("close-registration")
    seats = fields.Field(fair.event_id, {place: one["id"] for place, one in enumerate(field, start=1)})
    with fair.service.owner() as session:
        session.execute(sa.text("UPDATE event SET state = 'running' WHERE id = :id"), {"id": fair.event_id})
        if round_no == 2:
            played = [(1, 4, Result.DRAW), (2, 5, Result.DRAW), (3, 6, Result.DRAW)]
            fields.add_round(session, seats, pairs=played, state=RoundState.CLOSED)
    gone = [{"id": one["id"], "version": fair.entrant(one["id"])["version"]} for one in field[4:]]
    body = {"to": "withdrawn", "entrants": gone}
    step: int = ok(fair.organiser.post(f"{fair.entrants_path}/bulk-transitions", body))["undo"]
    with fair.service.owner() as session:
        fields.add_draft(session, seats, round_no=round_no, pairs=[(1, 2), (3, 4)])
    return step, 1


def seated_and_drawn(fair: Fair) -> tuple[int, int]:
    """How many are in the pool, and how many places at boards there are."""
    (row,) = fair.service.rows(
        """SELECT (SELECT count(*) FROM entrant WHERE event_id = :id AND state = :seated) AS pool,
           (SELECT count(*) FROM seat s JOIN round r ON r.id = s.round_id WHERE r.event_id = :id) AS seats""",
        id=fair.event_id,
        seated=EntrantState.SEATED,
    )
    return row.pool, row.seats


def test_a_step_that_is_undone_while_its_round_is_published_stays(fair: Fair) -> None:
    """Guard: the round is asked for again behind the event's lock, after the feed was bumped."""
    step, number = about_to_publish(fair)
    undo = f"{fair.entrants_path}/bulk-transitions/{step}/undo"
    with results_session(fair.service.database) as publishing_first:
        publish_draw(publishing_first, ACTOR, event_id=fair.event_id, round_no=1, number=number, seen_version=1)
        late = InBackground(fair.service.database, lambda: fair.organiser.post(undo, {}))
        assert late.waits_for_a_lock()
        publishing_first.commit()
    problem(late.result(), 409, "round-published")
    assert seated_and_drawn(fair) == (4, 4)


def test_a_step_that_is_undone_while_a_later_round_is_published_stays(fair: Fair) -> None:
    """Guard: the round is asked for again under the feed's lock, the only one that publishing round 2 shares."""
    step, number = about_to_publish(fair, round_no=2)
    undo = f"{fair.entrants_path}/bulk-transitions/{step}/undo"
    with results_session(fair.service.database) as publishing_first:
        publish_draw(publishing_first, ACTOR, event_id=fair.event_id, round_no=2, number=number, seen_version=1)
        late = InBackground(fair.service.database, lambda: fair.organiser.post(undo, {}))
        assert late.waits_for_a_lock()
        publishing_first.commit()
    problem(late.result(), 409, "round-published")
    assert seated_and_drawn(fair) == (4, 6 + 4)


def test_a_round_that_is_published_while_its_field_is_undone_is_not(fair: Fair, other: Session) -> None:
    """Guard: the pairing number that the draft was made from."""
    step, number = about_to_publish(fair)
    undo_bulk_step(other, MOVER, event_id=fair.event_id, step_id=step)

    def publish() -> str:
        with results_session(fair.service.database) as session:
            try:
                publish_draw(session, ACTOR, event_id=fair.event_id, round_no=1, number=number, seen_version=1)
            except Conflict as refused:
                return refused.slug
            session.commit()
            return "published"

    late = InBackground(fair.service.database, publish)
    assert late.waits_for_a_lock()
    other.commit()
    assert late.result() == "draw-stale"
    assert seated_and_drawn(fair) == (6, 0)


def test_undo_and_publishing_at_once_never_leave_somebody_at_a_board_who_is_not_in_the_pool(service: Service) -> None:
    """The same by chance: both start together, ten times."""
    outcomes = Counter[tuple[int, str]]()
    for _time in range(10):
        fair = make_fair(service)
        step, number = about_to_publish(fair)
        start = Barrier(2, timeout=20)

        def publish(fair: Fair = fair, number: int = number, ready: Barrier = start) -> str:
            with results_session(fair.service.database) as session:
                ready.wait()
                try:
                    publish_draw(session, ACTOR, event_id=fair.event_id, round_no=1, number=number, seen_version=1)
                    session.commit()
                except Conflict as refused:
                    return refused.slug
                return "published"

        def undo(fair: Fair = fair, step: int = step, ready: Barrier = start) -> int:
            ready.wait()
            return fair.organiser.post(f"{fair.entrants_path}/bulk-transitions/{step}/undo", {}).status_code

        with ThreadPoolExecutor(2) as pool:
            published, undone = pool.submit(publish), pool.submit(undo)
            outcome = (undone.result(), published.result())
        outcomes[outcome] += 1
        assert outcome in {(200, "draw-stale"), (200, "draw-breaks-rules"), (409, "published")}, outcomes
        assert seated_and_drawn(fair) == ((6, 0) if outcome[0] == 200 else (4, 4))
