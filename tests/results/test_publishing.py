"""From a draft draw to a published round, and back."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from qisai.db.entrants import (
    AbsenceRow,
    AttendanceDeadlineRow,
    AttendanceRow,
    EntrantRow,
    EntrantState,
    RequestedByeRow,
)
from qisai.db.events import EventRow, EventState
from qisai.db.rounds import DrawRow
from qisai.kernel.model import ByeKind, Result
from tests import fields
from tests.results.conftest import Play, Service, make_play, problem


def draft(play: Play, round_no: int, pairs: list[Any], **more: Any) -> None:
    with play.service.owner() as session:
        fields.add_draft(session, play.field, round_no=round_no, pairs=pairs, **more)


def event_row(play: Play) -> Any:
    (row,) = play.service.rows("SELECT * FROM event WHERE id = :id", id=play.field.event_id)
    return row


def test_publishing_seats_everybody_once_and_says_who_did_it(service: Service) -> None:
    play = make_play(service, entrants=7)
    ids = play.field.entrant_ids
    with service.owner() as session:
        session.add(RequestedByeRow(entrant_id=ids[6], round_no=1, kind=ByeKind.HALF))
        session.add(AbsenceRow(entrant_id=ids[7], round_no=1))
    draft(play, 1, [(1, 3), (4, 2)], bye=5)
    feed_no, pairing_no = play.numbers()
    answer = play.chief.post(f"{play.round(1)}/draws/1/publish", version=1)
    assert answer.status_code == 200
    assert answer.headers["ETag"] == '"v2"'
    assert (answer.json["state"], answer.json["published_by"], answer.json["boards"]) == ("published", "孙裁判长", 2)
    assert [(bye["number"], bye["kind"]) for bye in answer.json["byes"]] == [(5, "pairing"), (6, "half"), (7, "absent")]
    boards = service.public().get(f"{play.round(1)}/boards").json["items"]
    assert [(b["number"], b["first"]["number"], b["second"]["number"], b["result"], b["version"]) for b in boards] == [
        (1, 1, 3, None, 1),
        (2, 4, 2, None, 1),
    ]
    assert len(service.rows("SELECT 1 FROM seat WHERE entrant_id = ANY(:ids)", ids=list(ids.values()))) == 7
    assert play.numbers() == (feed_no + 2, pairing_no + 1)  # with round 1 the event started
    actions = [item["action"] for item in play.chief.get(f"{play.event}/log?kind=audit").json["items"]]
    assert actions == ["event.running", "draw.publish"]


def test_publishing_round_one_starts_and_freezes_the_event(play: Play) -> None:
    draft(play, 1, [(1, 3), (2, 4)])
    assert (event_row(play).state, event_row(play).frozen_at) == ("closed", None)
    play.chief.post(f"{play.round(1)}/draws/1/publish", version=1)
    row = event_row(play)
    assert (row.state, row.algorithm, row.version) == ("running", "qisai/1", 2)
    assert row.frozen_at is not None


def test_a_round_published_once_is_not_published_again(play: Play) -> None:
    draft(play, 1, [(1, 3), (2, 4)])
    play.chief.post(f"{play.round(1)}/draws/1/publish", version=1)
    draft(play, 1, [(1, 4), (2, 3)])
    before = play.numbers()
    for number in (1, 2):
        body = problem(play.chief.post(f"{play.round(1)}/draws/{number}/publish", version=1), 409, "round-published")
        assert body["context"]["published_by"] == "孙裁判长"
        assert body["context"]["published_at"].endswith("Z")
    assert play.numbers() == before


@pytest.mark.parametrize("state", [EventState.DRAFT, EventState.OPEN, EventState.FINISHED, EventState.ARCHIVED])
def test_nothing_is_published_in_an_event_that_may_not_be_played(service: Service, state: EventState) -> None:
    """Pins the tests of the event's state when round 1 and later ones are published."""
    play = make_play(service)
    draft(play, 1, [(1, 3), (2, 4)])
    with service.owner() as session:
        session.execute(sa.update(EventRow).where(EventRow.id == play.field.event_id).values(state=state))
    problem(play.chief.post(f"{play.round(1)}/draws/1/publish", version=1), 409, "event-not-running")
    assert service.rows("SELECT 1 FROM round WHERE event_id = :id", id=play.field.event_id) == []
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)])
        fields.add_draft(session, play.field, round_no=2, pairs=[(1, 2), (3, 4)])
        session.execute(sa.update(EventRow).where(EventRow.id == play.field.event_id).values(state=state))
    problem(play.chief.post(f"{play.round(2)}/draws/1/publish", version=1), 409, "event-not-running")


def test_a_draft_made_before_the_field_changed_is_stale_and_leaves_nothing_behind(play: Play) -> None:
    """Pins the comparison of `pairing_no`; the change itself leaves the draw legal."""
    draft(play, 1, [(1, 3), (2, 4)])
    with play.service.owner() as session:
        fields.bump(session, play.field.event_id)
    before = play.numbers()
    assert play.chief.get(f"{play.round(1)}/draws/1").json["stale"] is True
    problem(play.chief.post(f"{play.round(1)}/draws/1/publish", version=1), 409, "draw-stale")
    assert play.numbers() == before
    assert play.chief.get(f"{play.round(1)}/draws/1").json["state"] == "draft"
    for table in ("round", "board", "audit_log"):
        assert play.service.rows(f"SELECT 1 FROM {table} WHERE event_id = :id", id=play.field.event_id) == []


def test_a_draw_that_breaks_the_rules_for_todays_field_is_refused_rule_by_rule(play: Play) -> None:
    """Pins `violations` at publishing: `pairing_no` is as it was, so nothing else would stop this draw."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)])
    draft(play, 2, [(1, 3), (2, 2)])
    body = problem(play.chief.post(f"{play.round(2)}/draws/1/publish", version=1), 409, "draw-breaks-rules")
    assert {blocker["slug"] for blocker in body["blockers"]} == {"rematch", "missing", "twice"}
    shown = play.chief.get(f"{play.round(2)}/draws/1").json
    assert {v["breach"] for v in shown["violations"]} == {"rematch", "missing", "twice"}


def test_a_draw_of_a_later_round_waits_for_the_one_before(play: Play) -> None:
    draft(play, 2, [(1, 2), (3, 4)])
    problem(play.chief.post(f"{play.round(2)}/draws/1/publish", version=1), 409, "earlier-round-missing")
    assert play.service.rows("SELECT 1 FROM round WHERE event_id = :id", id=play.field.event_id) == []


def test_a_degraded_draw_is_published_only_after_somebody_accepted_it(play: Play) -> None:
    """Pins the test of acceptance."""
    draft(play, 1, [(1, 3), (2, 4)], needs_acceptance=True)
    url = f"{play.round(1)}/draws/1"
    assert play.chief.get(url).json["needs_acceptance"] is True
    problem(play.chief.post(f"{url}/publish", version=1), 409, "needs-acceptance")
    problem(play.chief.post(f"{url}/accept"), 428, "version-needed")
    problem(play.chief.post(f"{url}/accept", version=4), 412, "stale")
    accepted = play.chief.post(f"{url}/accept", version=1)
    assert (accepted.json["needs_acceptance"], accepted.json["accepted_by"], accepted.json["version"]) == (
        False,
        "孙裁判长",
        2,
    )
    assert play.chief.post(f"{url}/accept", version=2).json["version"] == 2
    assert problem(play.chief.post(f"{url}/publish", version=1), 412, "stale")["current"]["version"] == 2
    assert play.chief.post(f"{url}/publish", version=2).status_code == 200


def test_a_replaced_draft_is_not_published(play: Play) -> None:
    draft(play, 1, [(1, 3), (2, 4)])
    with play.service.owner() as session:
        session.execute(sa.update(DrawRow).where(DrawRow.event_id == play.field.event_id).values(state="replaced"))
    draft(play, 1, [(1, 4), (2, 3)])
    problem(play.chief.post(f"{play.round(1)}/draws/1/publish", version=1), 409, "draw-not-draft")
    problem(play.chief.post(f"{play.round(1)}/draws/3/publish", version=1), 404, "draw-not-found")
    listed = play.chief.get(f"{play.round(1)}/draws").json["items"]
    assert [(item["number"], item["state"]) for item in listed] == [(2, "draft"), (1, "replaced")]


def test_who_did_not_check_in_before_the_deadline_is_absent_and_earlier_nothing_is_drawn(service: Service) -> None:
    play = make_play(service, entrants=5)
    ids = play.field.entrant_ids
    with service.owner() as session:
        session.add_all(AttendanceRow(entrant_id=ids[number], round_no=1) for number in (1, 2, 3, 4))
        until = sa.func.now() + sa.text("interval '1 hour'")
        session.add(AttendanceDeadlineRow(event_id=play.field.event_id, round_no=1, until=until))
    draft(play, 1, [(1, 3), (2, 4)])
    problem(play.chief.post(f"{play.round(1)}/draws/1/publish", version=1), 409, "attendance-open")
    problem(play.chief.post(f"{play.round(1)}/draws"), 409, "attendance-open")
    with service.owner() as session:
        session.execute(sa.update(AttendanceDeadlineRow).values(until=sa.func.now() - sa.text("interval '1 second'")))
    published = play.chief.post(f"{play.round(1)}/draws/1/publish", version=1).json
    assert [(bye["number"], bye["kind"]) for bye in published["byes"]] == [(5, "absent")]


def test_unpublishing_frees_everybody_and_the_same_draw_can_be_published_anew(play: Play) -> None:
    draft(play, 1, [(1, 3), (2, 4)])
    play.chief.post(f"{play.round(1)}/draws/1/publish", version=1)
    board = play.chief.get(f"{play.round(1)}/boards").json["items"][0]["id"]
    feed_no, pairing_no = play.numbers()
    answer = play.chief.post(f"{play.round(1)}/unpublish", {"reason": "漏了一人"}, version=2)
    assert (answer.json["state"], answer.json["version"], answer.json["boards"]) == ("pending", 3, 0)
    assert play.numbers() == (feed_no + 2, pairing_no + 1)
    problem(play.chief.get(f"/api/v1/boards/{board}"), 410, "board-unpublished")
    problem(play.chief.put(f"/api/v1/boards/{board}/result", {"result": "draw"}, version=1), 410, "board-unpublished")
    assert play.chief.get(f"{play.round(1)}/draws/1").json["state"] == "unpublished"
    row = event_row(play)
    assert (row.state, row.frozen_at, row.algorithm) == ("closed", None, None)
    last = play.chief.get(f"{play.event}/log?kind=audit").json["items"][:2]
    assert [(one["action"], one["reason"]) for one in last] == [
        ("event.closed", "漏了一人"),
        ("round.unpublish", "漏了一人"),
    ]
    draft(play, 1, [(1, 3), (2, 4)])
    again = play.chief.post(f"{play.round(1)}/draws/2/publish", version=1)
    assert (again.json["version"], again.json["boards"]) == (4, 2)


def test_unpublishing_needs_a_reason_no_result_and_no_later_round(play: Play) -> None:
    """Pins the tests of results, of the reason and of the version when a round is taken back."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4)])
    url = f"{play.round(1)}/unpublish"
    for body in (None, {}, {"reason": ""}):
        problem(play.chief.post(url, body, version=2), 422, "invalid-request")
    problem(play.chief.post(url, {"reason": "重排"}), 428, "version-needed")
    problem(play.chief.post(url, {"reason": "重排"}, version=1), 412, "stale")
    body = problem(play.chief.post(url, {"reason": "重排"}, version=2), 409, "round-has-results")
    assert [blocker["board"] for blocker in body["blockers"]] == [1]
    problem(play.chief.post(f"{play.round(2)}/unpublish", {"reason": "重排"}, version=2), 409, "round-not-published")


@pytest.mark.parametrize("number", [1, 2])
def test_nothing_is_taken_back_in_an_event_that_is_over(service: Service, number: int) -> None:
    """Pins the tests of the event's state for round 1, which thaws the event, and for later ones."""
    play = make_play(service)
    with service.owner() as session:
        if number == 2:
            fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)])
        fields.add_round(session, play.field, pairs=[(1, 2), (3, 4)])
        session.execute(sa.update(EventRow).where(EventRow.id == play.field.event_id).values(state="finished"))
    answer = play.chief.post(f"{play.round(number)}/unpublish", {"reason": "重排"}, version=2)
    problem(answer, 409, "event-not-running")
    assert play.chief.get(play.round(number)).json["boards"] == 2


def test_a_withdrawn_entrant_is_not_seated_and_a_late_one_gets_byes_for_the_rounds_before(service: Service) -> None:
    play = make_play(service, regulations={"late_entry": "half"})
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.FIRST_WIN), (2, 4, Result.FIRST_WIN)])
        fields.add_entrant(session, play.field.event_id, number=5, entered_round=2)
        withdrawn = sa.update(EntrantRow).where(EntrantRow.id == play.field.entrant_ids[4])
        session.execute(withdrawn.values(state=EntrantState.WITHDRAWN, withdrawn_from=2))
        fields.bump(session, play.field.event_id)
        fields.add_draft(session, play.field, round_no=2, pairs=[(1, 2), (5, 3)])
    assert play.chief.post(f"{play.round(2)}/draws/1/publish", version=1).status_code == 200
    exported = play.chief.get(f"{play.event}/exports/json").json
    assert exported["rounds"][0]["byes"] == [{"entrant": 5, "kind": "half"}]
    assert exported["rounds"][1]["byes"] == []
    rows = {row["number"]: row["points"] for row in play.chief.get(f"{play.event}/standings?after=1").json["rows"]}
    assert rows == {1: 1, 2: 1, 3: 0, 4: 0, 5: 0.5}
