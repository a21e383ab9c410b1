"""Races decided by the database, each played with two real connections in a chosen order.

Every test names the guard it pins; taking that guard out turns it red (tried by hand for each).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.rounds import DrawRow, DrawState, RoundRow, SeatPlace, SeatRow
from qisai.errors import Conflict, Gone
from qisai.kernel.model import Result
from qisai.ledger.actor import Actor
from services.results.operations.draws import publish_draw
from services.results.operations.events import finish_event
from services.results.operations.results import Rights, StaleResult, Wanted, record_result
from services.results.operations.rounds import close_round, reopen_round, unpublish_round
from tests import fields
from tests.results.conftest import Play, problem
from tests.results.interleaving import InBackground, results_session

ACTOR = Actor(account_id=None, name="周裁判")
DRAW = Wanted(result=Result.DRAW)
HELD = "SELECT id FROM round WHERE event_id = :id AND number = 1 FOR {lock}"
REFEREE = Rights(is_chief=False, may_enter=lambda _number: True)


@pytest.fixture
def other(play: Play) -> Iterator[Session]:
    """A second connection, of the service's own role, with a transaction that the test ends."""
    with results_session(play.service.database) as session:
        yield session


@pytest.fixture
def round1(play: Play) -> Play:
    """Round 1 is published: 1–3 on board 1, 2–4 on board 2."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3), (2, 4)])
    return play


def _put(play: Play, board: int, result: str) -> InBackground:
    referee = play.referee()
    return InBackground(
        play.service.database, lambda: referee.put(play.result_of(1, board), {"result": result}, version=1)
    )


def _record(session: Session, play: Play, board: int, *, version: int = 1) -> None:
    board_id = play.field.board_ids[1, board]
    record_result(session, ACTOR, board_id=board_id, seen_version=version, wanted=DRAW, rights=REFEREE)


def _logged(play: Play, board: int) -> int:
    query = "SELECT count(*) AS n FROM result_log WHERE board_id = :board"
    return int(play.service.rows(query, board=play.field.board_ids[1, board])[0].n)


def test_of_two_referees_with_one_version_exactly_one_wins(round1: Play, other: Session) -> None:
    """Pins `BoardRow.version == seen_version` in the update of a result."""
    _record(other, round1, 1)
    second = _put(round1, 1, "first_win")
    assert second.waits_for_a_lock()
    other.commit()
    body = problem(second.result(), 412, "stale")
    assert (body["current"]["result"], body["current"]["updated_by"]) == ("draw", "周裁判")
    assert _logged(round1, 1) == 1
    conflicts = round1.service.rows(
        "SELECT * FROM result_conflict WHERE board_id = :board", board=round1.field.board_ids[1, 1]
    )
    assert [(row.seen_version, row.present_version) for row in conflicts] == [(1, 2)]


def test_a_write_that_guesses_the_next_version_never_logs_a_wrong_value_before(round1: Play, other: Session) -> None:
    """Pins the version test before the update: here the guessed version comes true between reading and updating."""
    _record(other, round1, 1)
    with results_session(round1.service.database) as session:

        class LettingTheOtherCommit(psycopg.Cursor[Any]):
            def execute(self, query: Any, *arguments: Any, **named: Any) -> Any:
                if "UPDATE board" in query:
                    other.commit()
                return super().execute(query, *arguments, **named)

        driver: Any = session.connection().connection.driver_connection
        driver.cursor_factory = LettingTheOtherCommit
        wanted, board_id = Wanted(result=Result.FIRST_WIN), round1.field.board_ids[1, 1]
        with pytest.raises(StaleResult):
            record_result(session, ACTOR, board_id=board_id, seen_version=2, wanted=wanted, rights=REFEREE)


def test_a_result_that_comes_while_the_round_is_being_closed_is_refused(round1: Play, other: Session) -> None:
    """Pins the shared lock on the round when a result is written: without it the result lands in a closed round."""
    with round1.service.owner() as session:
        session.execute(sa.text("UPDATE board SET result = 'draw' WHERE event_id = :id"), {"id": round1.field.event_id})
    close_round(other, ACTOR, event_id=round1.field.event_id, number=1, seen_version=2)
    late = _put(round1, 1, "first_win")
    assert late.waits_for_a_lock()
    other.commit()
    problem(late.result(), 409, "round-closed")
    assert round1.chief.get(f"/api/v1/boards/{round1.field.board_ids[1, 1]}").json["result"] == "draw"


def test_no_result_is_logged_as_later_than_the_close_it_came_before(round1: Play, other: Session) -> None:
    """Pins the time of the close, which is when it holds the round: it began before the result did, and waited."""
    other.execute(sa.text(HELD.format(lock="SHARE")), {"id": round1.field.event_id})
    whole = {"force": True, "reason": "先走了"}
    closing = InBackground(
        round1.service.database, lambda: round1.chief.post(f"{round1.round(1)}/close", whole, version=2)
    )
    assert closing.waits_for_a_lock()
    assert _put(round1, 2, "first_win").result().status_code == 200
    other.commit()
    assert closing.result().status_code == 200
    query = "SELECT (SELECT max(at) FROM result_log WHERE event_id = :id), max(closed_at), (SELECT at FROM audit_log"
    query += " WHERE event_id = :id AND action = 'round.close') FROM round WHERE event_id = :id"
    (times,) = round1.service.rows(query, id=round1.field.event_id)
    assert list(times) == sorted(times)
    log = round1.chief.get(f"{round1.event}/log").json["items"]
    assert [entry["kind"] for entry in log] == ["audit", "result"]


def test_a_result_that_waited_for_a_reopening_is_logged_as_later(round1: Play, other: Session) -> None:
    """Pins the time of a result, which is when it is written: it began while the round was closed."""
    answer = round1.chief.post(f"{round1.round(1)}/close", {"force": True, "reason": "先走了"}, version=2)
    assert answer.status_code == 200
    other.execute(sa.text(HELD.format(lock="UPDATE")), {"id": round1.field.event_id})
    late = _put(round1, 1, "draw")
    assert late.waits_for_a_lock()
    reopen_round(other, ACTOR, event_id=round1.field.event_id, number=1, seen_version=3, reason="补录")
    other.commit()
    assert late.result().status_code == 200
    query = "SELECT (SELECT max(at) FROM audit_log WHERE event_id = :id), max(at) FROM result_log WHERE event_id = :id"
    (times,) = round1.service.rows(query, id=round1.field.event_id)
    assert list(times) == sorted(times)


def test_a_round_is_not_closed_while_a_result_is_being_taken_back(round1: Play, other: Session) -> None:
    """Pins the exclusive lock on the round when it is closed: without it the round closes with an open board."""
    with round1.service.owner() as session:
        session.execute(sa.text("UPDATE board SET result = 'draw' WHERE event_id = :id"), {"id": round1.field.event_id})
    board_id = round1.field.board_ids[1, 2]
    record_result(other, ACTOR, board_id=board_id, seen_version=1, wanted=Wanted(result=None), rights=REFEREE)
    closing = InBackground(round1.service.database, lambda: round1.chief.post(f"{round1.round(1)}/close", version=2))
    assert closing.waits_for_a_lock()
    other.commit()
    blockers = problem(closing.result(), 409, "results-missing")["blockers"]
    assert [blocker["board"] for blocker in blockers] == [2]
    assert round1.chief.get(round1.round(1)).json["state"] == "published"


def test_a_result_that_comes_while_the_round_is_taken_back_finds_the_board_gone(round1: Play, other: Session) -> None:
    """Two guards stand here: the shared lock on the round, and `unpublished_at` in the update; red without both."""
    unpublish_round(other, ACTOR, event_id=round1.field.event_id, number=1, seen_version=2, reason="重排")

    def record_late() -> None:
        with results_session(round1.service.database) as session:
            _record(session, round1, 1)
            session.commit()

    late = InBackground(round1.service.database, record_late)
    assert late.waits_for_a_lock()
    other.commit()
    with pytest.raises(Gone):
        late.result()
    assert _logged(round1, 1) == 0


def test_a_round_with_a_result_under_way_is_not_taken_back(round1: Play, other: Session) -> None:
    """Pins the exclusive lock on the round when it is taken back."""
    _record(other, round1, 1)
    taking_back = InBackground(
        round1.service.database,
        lambda: round1.chief.post(f"{round1.round(1)}/unpublish", {"reason": "重排"}, version=2),
    )
    assert taking_back.waits_for_a_lock()
    other.commit()
    problem(taking_back.result(), 409, "round-has-results")
    assert _logged(round1, 1) == 1


@pytest.mark.parametrize("row_exists", [False, True], ids=["new round", "round taken back before"])
def test_of_two_who_publish_at_once_one_wins_and_the_other_hears_who(
    play: Play, other: Session, row_exists: bool
) -> None:
    """The round row that both insert makes the second wait; its state, read after that, says who was first.

    Pins the tests of that state, in `publish_draw` and in the snapshot; behind them stands the draw's own.
    """
    with play.service.owner() as session:
        fields.add_draft(session, play.field, round_no=1, pairs=[(1, 3), (2, 4)])
        if row_exists:
            session.add(RoundRow(event_id=play.field.event_id, number=1))
    event_id = play.field.event_id
    publish_draw(other, ACTOR, event_id=event_id, round_no=1, number=1, seen_version=1)
    second = InBackground(play.service.database, lambda: play.chief.post(f"{play.round(1)}/draws/1/publish", version=1))
    assert second.waits_for_a_lock()
    other.commit()
    body = problem(second.result(), 409, "round-published")
    assert body["context"]["published_by"] == "周裁判"
    assert len(play.chief.get(f"{play.round(1)}/boards").json["items"]) == 2
    assert len(play.service.rows("SELECT 1 FROM round WHERE event_id = :id", id=event_id)) == 1


def test_a_draft_that_is_being_replaced_is_not_published(play: Play, other: Session) -> None:
    """Pins the state of the draw in its compare-and-set: the worker stores a better draft at the same moment."""
    with play.service.owner() as session:
        draw_id = fields.add_draft(session, play.field, round_no=1, pairs=[(1, 3), (2, 4)])
    replaced = sa.update(DrawRow).where(DrawRow.id == draw_id)
    other.execute(replaced.values(state=DrawState.REPLACED, version=DrawRow.version + 1))
    publishing = InBackground(
        play.service.database, lambda: play.chief.post(f"{play.round(1)}/draws/1/publish", version=1)
    )
    assert publishing.waits_for_a_lock()
    other.commit()
    problem(publishing.result(), 409, "draw-not-draft")
    assert play.service.rows("SELECT 1 FROM round WHERE event_id = :id", id=play.field.event_id) == []


def test_a_result_corrected_while_publishing_makes_the_draft_stale(round1: Play, other: Session) -> None:
    """Pins the comparison of `pairing_no` after the feed's lock is taken."""
    chief = round1.chief
    for board in (1, 2):
        chief.put(round1.result_of(1, board), {"result": "draw"}, version=1)
    with round1.service.owner() as session:
        fields.add_draft(session, round1.field, round_no=2, pairs=[(1, 2), (3, 4)])
    _record(other, round1, 1, version=2)  # not committed: the publisher reads the old result and waits for the feed
    publishing = InBackground(
        round1.service.database, lambda: chief.post(f"{round1.round(2)}/draws/1/publish", version=1)
    )
    assert publishing.waits_for_a_lock()
    other.commit()
    problem(publishing.result(), 409, "draw-stale")
    assert chief.get(round1.round(2)).json == {**chief.get(round1.round(2)).json, "state": "pending", "version": 0}
    assert chief.get(f"{round1.round(2)}/draws/1").json["state"] == "draft"
    assert (
        round1.service.rows("SELECT 1 FROM round WHERE event_id = :id AND number = 2", id=round1.field.event_id) == []
    )


def test_a_correction_that_meets_the_publishing_of_the_next_round_needs_the_chief(round1: Play, other: Session) -> None:
    """Pins that the test for a later round stands behind the feed's lock."""
    for board in (1, 2):
        round1.chief.put(round1.result_of(1, board), {"result": "draw"}, version=1)
    with round1.service.owner() as session:
        fields.add_draft(session, round1.field, round_no=2, pairs=[(1, 2), (3, 4)])
    publish_draw(other, ACTOR, event_id=round1.field.event_id, round_no=2, number=1, seen_version=1)
    referee = round1.referee()
    late = InBackground(
        round1.service.database, lambda: referee.put(round1.result_of(1, 1), {"result": "first_win"}, version=2)
    )
    assert late.waits_for_a_lock()
    other.commit()
    problem(late.result(), 403, "needs-chief-referee")
    assert round1.chief.get(f"/api/v1/boards/{round1.field.board_ids[1, 1]}").json["result"] == "draw"


def test_a_round_is_not_taken_back_while_the_next_one_is_published(round1: Play, other: Session) -> None:
    """Pins that unpublishing looks for a later round behind the feed's lock."""
    with round1.service.owner() as session:
        session.execute(sa.text("UPDATE board SET result = 'draw' WHERE event_id = :id"), {"id": round1.field.event_id})
        fields.add_draft(session, round1.field, round_no=2, pairs=[(1, 2), (3, 4)])
    publish_draw(other, ACTOR, event_id=round1.field.event_id, round_no=2, number=1, seen_version=1)
    with round1.service.owner() as session:
        session.execute(sa.text("UPDATE board SET result = NULL WHERE event_id = :id"), {"id": round1.field.event_id})
    taking_back = InBackground(
        round1.service.database,
        lambda: round1.chief.post(f"{round1.round(1)}/unpublish", {"reason": "重排"}, version=2),
    )
    assert taking_back.waits_for_a_lock()
    other.commit()
    problem(taking_back.result(), 409, "later-round-published")
    assert round1.chief.get(round1.round(1)).json["state"] == "published"


@pytest.fixture
def over(play: Play) -> Play:
    """Round 1 is closed with all its results: nothing stands in the way of the finish."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)])
    assert play.chief.post(f"{play.round(1)}/close", {}, version=2).status_code == 200
    return play


def _version(play: Play) -> int:
    return int(play.service.rows("SELECT version FROM event WHERE id = :id", id=play.field.event_id)[0].version)


def _finish_first(play: Play, other: Session, late: Callable[[], Any]) -> Any:
    """What a call is answered that meets a finish which is not committed yet."""
    finish_event(other, ACTOR, event_id=play.field.event_id, seen_version=_version(play))
    waiting = InBackground(play.service.database, late)
    assert waiting.waits_for_a_lock()
    other.commit()
    return waiting.result()


def test_an_event_is_not_finished_while_a_round_is_opened_again(over: Play, other: Session) -> None:
    """Pins that finishing looks for open rounds behind the feed's lock."""
    reopen_round(other, ACTOR, event_id=over.field.event_id, number=1, seen_version=3, reason="漏记一局")
    version = _version(over)
    finishing = InBackground(over.service.database, lambda: over.chief.post(f"{over.event}/finish", version=version))
    assert finishing.waits_for_a_lock()
    other.commit()
    (blocker,) = problem(finishing.result(), 409, "event-not-over")["blockers"]
    assert (blocker["slug"], blocker["round"]) == ("round-open", 1)
    states = over.service.rows("SELECT state FROM event WHERE id = :id", id=over.field.event_id)
    assert [row.state for row in states] == ["running"]


def test_a_correction_that_meets_the_finish_is_refused(over: Play, other: Session) -> None:
    """Pins that a correction in a closed round looks at the event's state behind the feed's lock."""
    board, wanted = f"/api/v1/boards/{over.field.board_ids[1, 1]}", {"result": "first_win", "reason": "复核"}
    problem(
        _finish_first(over, other, lambda: over.chief.put(f"{board}/correction", wanted, version=2)),
        409,
        "event-not-running",
    )
    assert over.chief.get(board).json["result"] == "draw"


def test_a_round_is_not_opened_again_when_that_meets_the_finish(over: Play, other: Session) -> None:
    """Pins that reopening a round looks at the event's state behind the feed's lock."""
    answer = _finish_first(
        over, other, lambda: over.chief.post(f"{over.round(1)}/reopen", {"reason": "漏记一局"}, version=3)
    )
    problem(answer, 409, "event-not-running")
    assert over.chief.get(over.round(1)).json["state"] == "closed"


@pytest.mark.parametrize("is_taken_back", [False, True], ids=["given", "taken back"])
def test_points_that_meet_the_finish_stay_as_they_were(over: Play, other: Session, is_taken_back: bool) -> None:
    """Pins that both decisions on points look at the event's state behind the feed's lock."""
    path = f"{over.event}/adjustments"
    decision = {"entrant_id": over.field.entrant_ids[1], "points": -0.5, "after_round": 1, "reason": "迟到"}
    made = over.chief.post(path, decision) if is_taken_back else None
    before = over.chief.get(f"{over.event}/standings").json["rows"]

    def late() -> Any:
        if made is None:
            return over.chief.post(path, decision)
        return over.chief.post(f"{path}/{made.json['id']}/take-back", {"reason": "申诉成立"}, version=1)

    problem(_finish_first(over, other, late), 409, "event-not-running")
    assert over.chief.get(f"{over.event}/standings").json["rows"] == before


def test_points_are_not_given_for_a_round_that_is_being_taken_back(round1: Play, other: Session) -> None:
    """Pins that a decision on points looks for its round behind the feed's lock."""
    unpublish_round(other, ACTOR, event_id=round1.field.event_id, number=1, seen_version=2, reason="重排")
    decision = {"entrant_id": round1.field.entrant_ids[1], "points": -0.5, "after_round": 1, "reason": "迟到"}
    late = InBackground(round1.service.database, lambda: round1.chief.post(f"{round1.event}/adjustments", decision))
    assert late.waits_for_a_lock()
    other.commit()
    problem(late.result(), 409, "round-not-published")
    assert round1.chief.get(f"{round1.event}/adjustments").json["items"] == []


def test_an_entrant_is_never_on_two_boards_of_a_round(round1: Play, other: Session) -> None:
    """Pins the primary key of `seat`: the second connection waits for the first and is refused, whatever the code."""
    with round1.service.owner() as session:
        entrant = fields.add_entrant(session, round1.field.event_id, number=5)
    round_id, boards = round1.field.round_ids[1], round1.field.board_ids
    with round1.service.owner() as session:
        session.execute(sa.delete(SeatRow).where(SeatRow.round_id == round_id))
    seat = {"round_id": round_id, "entrant_id": entrant}
    other.execute(sa.insert(SeatRow).values(**seat, board_id=boards[1, 1], place=SeatPlace.FIRST))

    def sit_down_elsewhere() -> None:
        with results_session(round1.service.database) as session:
            session.execute(sa.insert(SeatRow).values(**seat, board_id=boards[1, 2], place=SeatPlace.SECOND))
            session.commit()

    elsewhere = InBackground(round1.service.database, sit_down_elsewhere)
    assert elsewhere.waits_for_a_lock()
    other.commit()
    with pytest.raises(sa.exc.IntegrityError, match="pk_seat"):
        elsewhere.result()


def test_two_who_ask_for_a_draw_at_once_get_one_job(play: Play, other: Session) -> None:
    """Pins the partial unique index of active jobs and ON CONFLICT."""
    from services.results.operations.draw_requests import Limits, request_draw

    celery = play.service.app.extensions["qisai.results"].celery
    request_draw(
        other,
        ACTOR,
        celery,
        event_id=play.field.event_id,
        round_no=1,
        limits=Limits(),
        default_deadline_ms=1000,
    )
    second = InBackground(play.service.database, lambda: play.chief.post(f"{play.round(1)}/draws"))
    assert second.waits_for_a_lock()
    other.commit()
    answer = second.result()
    assert (answer.status_code, answer.json["requested_by"]) == (202, "周裁判")
    assert len(play.service.rows("SELECT 1 FROM pairing_job WHERE event_id = :id", id=play.field.event_id)) == 1


def test_the_same_write_twice_at_once_is_one_write(round1: Play, other: Session) -> None:
    """A double press: the second, of the same hand, waits and is answered as the first was."""
    referee = round1.referee(device="手机1")
    actor = Actor(account_id=referee.account_id, name="钱裁判", device="手机1")
    board_id = round1.field.board_ids[1, 1]
    record_result(other, actor, board_id=board_id, seen_version=1, wanted=DRAW, rights=REFEREE)
    second = InBackground(
        round1.service.database, lambda: referee.put(round1.result_of(1, 1), {"result": "draw"}, version=1)
    )
    assert second.waits_for_a_lock()
    other.commit()
    assert second.result().json["version"] == 2
    assert _logged(round1, 1) == 1


def test_errors_of_operations_undo_everything(round1: Play, other: Session) -> None:
    """A refused write leaves neither a board changed nor a log row, even when it fails after the update."""
    with round1.service.owner() as session:
        session.execute(sa.text("UPDATE board SET result = 'draw' WHERE event_id = :id"), {"id": round1.field.event_id})
        fields.add_round(session, round1.field, pairs=[(1, 2), (3, 4)])
    before = round1.numbers()
    answer = round1.referee().put(round1.result_of(1, 1), {"result": "first_win"}, version=1)
    problem(answer, 403, "needs-chief-referee")
    assert (round1.numbers(), _logged(round1, 1)) == (before, 0)
    with pytest.raises((Conflict, Gone, StaleResult)):
        unpublish_round(other, ACTOR, event_id=round1.field.event_id, number=1, seen_version=2, reason="重排")
    other.rollback()
    assert round1.chief.get(round1.round(1)).json["state"] == "published"
