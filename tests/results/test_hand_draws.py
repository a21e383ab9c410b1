"""Drafts changed and made by hand: checked as they are written, published only with a reason for every broken rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import AbsenceRow
from qisai.db.jobs import JobRow
from qisai.kernel.model import ByeKind, Result
from qisai.kernel.pairing.hand import Edit, EditKind
from qisai.ledger.actor import Actor
from services.results.operations.hand_draws import edit_draft
from tests import fields
from tests.results.conftest import Play, Service, make_play, problem
from tests.results.interleaving import InBackground, results_session

SWAP = {"kind": "swap", "entrants": [2, 3]}


@pytest.fixture
def round2(service: Service) -> Play:
    """Six entrants; round 1 played: 1–4, 2–5, 3–6, the first ones won. Round 2 is drafted: 1–2, 3–4, 5–6."""
    play = make_play(service, entrants=6)
    with service.owner() as session:
        won = [(1, 4, Result.FIRST_WIN), (2, 5, Result.FIRST_WIN), (3, 6, Result.FIRST_WIN)]
        fields.add_round(session, play.field, pairs=won)
        fields.add_draft(session, play.field, round_no=2, pairs=[(1, 2), (3, 4), (5, 6)])
    return play


def edit(play: Play, *edits: dict[str, Any], draw: int = 1, version: int = 1, dry: bool = False) -> Any:
    url = f"{play.round(2)}/draws/{draw}" + ("?dry_run=true" if dry else "")
    return play.chief.patch(url, {"edits": list(edits)}, version=version)


def pairs(body: Any) -> set[tuple[int, ...]]:
    return {tuple(sorted((board["first"]["number"], board["second"]["number"]))) for board in body["boards"]}


def test_an_edited_draft_takes_the_place_of_the_old_one_and_says_who_and_what(round2: Play) -> None:
    before = round2.numbers()
    answer = edit(round2, {**SWAP, "reason": "教练请求"})
    assert answer.status_code == 200
    body = answer.json
    assert (body["number"], body["version"], body["source"], body["stale"]) == (2, 1, "edited", False)
    assert pairs(body) == {(1, 3), (2, 4), (5, 6)}
    assert body["violations"] == []
    assert {"bye_score", "side_breaches", "order", "pair_lots"} <= body["cost"].keys()  # the whole tuple, of today
    (record,) = body["document"]["edits"]
    assert (record["kind"], record["entrants"], record["reason"]) == ("swap", [2, 3], "教练请求")
    assert (record["by"], record["at"][-1]) == ("孙裁判长", "Z")
    listed = round2.chief.get(f"{round2.round(2)}/draws").json["items"]
    assert [(item["number"], item["state"]) for item in listed] == [(2, "draft"), (1, "replaced")]
    assert round2.numbers() == (before[0] + 1, before[1])  # the field is as it was
    (log,) = round2.chief.get(f"{round2.event}/log?kind=audit").json["items"]
    assert (log["action"], log["old"], log["new"]["draw"]) == ("draw.edit", {"draw": 1}, 2)
    published = round2.chief.post(f"{round2.round(2)}/draws/2/publish", version=1)
    assert (published.status_code, published.json["boards"]) == (200, 3)


def test_a_dry_run_says_what_would_come_of_it_and_writes_nothing(round2: Play) -> None:
    before = round2.numbers()
    answer = edit(round2, {"kind": "pair", "entrants": [1, 4]}, {"kind": "pair", "entrants": [2, 3]}, dry=True)
    body = answer.json
    assert (answer.status_code, body["dry_run"], body["source"]) == (200, True, "edited")
    assert pairs(body) == {(1, 4), (2, 3), (5, 6)}
    assert [(v["breach"], v["entrants"], v["has_reason"]) for v in body["violations"]] == [("rematch", [1, 4], False)]
    assert [(one["edit"], one["breach"]) for one in body["reasons_needed"]] == [(0, "rematch")]
    assert body["cost"]["cross_pairs"] == 1
    assert round2.numbers() == before
    assert [d["number"] for d in round2.chief.get(f"{round2.round(2)}/draws").json["items"]] == [1]


def test_a_change_that_breaks_a_rule_needs_a_reason_and_is_published_with_it(round2: Play) -> None:
    """Pins the test of reasons when saving, and that publishing lets pass exactly what has one."""
    rematch = {"kind": "pair", "entrants": [1, 4]}
    rest = {"kind": "pair", "entrants": [2, 3]}
    body = problem(edit(round2, rest, rematch), 422, "reason-needed")
    assert [fault["pointer"] for fault in body["errors"]] == ["/edits/1/reason"]
    saved = edit(round2, rest, {**rematch, "reason": "上轮判错，裁判组决定重赛"})
    assert [(v["breach"], v["has_reason"]) for v in saved.json["violations"]] == [("rematch", True)]
    breaches = [record.get("breaches") for record in saved.json["document"]["edits"]]
    assert breaches == [None, [{"breach": "rematch", "entrants": [1, 4]}]]
    assert round2.chief.post(f"{round2.round(2)}/draws/2/publish", version=1).status_code == 200


def test_a_reason_for_one_breach_does_not_cover_another(round2: Play) -> None:
    """Pins that each breach has its own reason: a pair that is forbidden after the edit stops publishing."""
    edit(round2, {"kind": "pair", "entrants": [1, 4], "reason": "重赛"}, {"kind": "pair", "entrants": [2, 3]})
    with round2.service.owner() as session:
        from qisai.db.entrants import ForbiddenPairRow

        ids = sorted(round2.field.entrant_ids[number] for number in (2, 3))
        forbidden = {"a_entrant_id": ids[0], "b_entrant_id": ids[1]}
        session.add(ForbiddenPairRow(event_id=round2.field.event_id, **forbidden))
    body = problem(round2.chief.post(f"{round2.round(2)}/draws/2/publish", version=1), 409, "draw-breaks-rules")
    assert [blocker["slug"] for blocker in body["blockers"]] == ["forbidden_pair"]
    again = edit(round2, {"kind": "pair", "entrants": [2, 3], "reason": "双方同意"}, draw=2)
    assert [v["has_reason"] for v in again.json["violations"]] == [True, True]
    assert round2.chief.post(f"{round2.round(2)}/draws/3/publish", version=1).status_code == 200


def test_an_incomplete_draft_is_kept_lists_who_is_left_over_and_is_not_published(round2: Play) -> None:
    saved = edit(round2, {"kind": "unpair", "entrants": [3]})
    assert [(row["number"], row["points"]) for row in saved.json["left_over"]] == [(3, 1), (4, 0)]
    assert saved.json["cost"] == {}
    body = problem(round2.chief.post(f"{round2.round(2)}/draws/2/publish", version=1), 409, "draw-breaks-rules")
    assert {blocker["slug"] for blocker in body["blockers"]} == {"missing"}
    whole = edit(round2, {"kind": "pair", "entrants": [4, 3]}, draw=2)
    assert (whole.json["left_over"], pairs(whole.json)) == ([], {(1, 2), (3, 4), (5, 6)})


def test_sides_set_by_hand_stay_and_others_follow_the_rules(round2: Play) -> None:
    first = edit(round2, {"kind": "sides", "entrants": [2, 1]}).json
    assert (first["boards"][0]["first"]["number"], first["boards"][0]["second"]["number"]) == (2, 1)
    second = edit(round2, {"kind": "swap", "entrants": [4, 5]}, draw=2).json
    assert second["boards"][0]["first"]["number"] == 2
    assert pairs(second) == {(1, 2), (3, 5), (4, 6)}


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"kind": "swap", "entrants": [1, 2]}, "/edits/0/entrants"),
        ({"kind": "swap", "entrants": [1, 1]}, "/edits/0/entrants"),
        ({"kind": "swap", "entrants": [1]}, "/edits/0/entrants"),
        ({"kind": "pair", "entrants": [1, 99]}, "/edits/0/entrants/1"),
        ({"kind": "sides", "entrants": [1, 3]}, "/edits/0/entrants"),
        ({"kind": "bye", "entrants": [1, 2]}, "/edits/0/entrants"),
    ],
)
def test_a_change_that_cannot_be_made_is_refused_with_its_place(
    round2: Play, change: dict[str, Any], pointer: str
) -> None:
    assert [e["pointer"] for e in problem(edit(round2, change), 422, "bad-edit")["errors"]] == [pointer]
    assert round2.chief.get(f"{round2.round(2)}/draws/1").json["state"] == "draft"


def test_the_bye_moves_and_a_second_one_needs_a_reason(service: Service) -> None:
    play = make_play(service, entrants=5)
    with service.owner() as session:
        drawn = [(1, 3, Result.DRAW), (2, 4, Result.DRAW)]
        fields.add_round(session, play.field, pairs=drawn, byes=[(5, ByeKind.PAIRING)])
        fields.add_draft(session, play.field, round_no=2, pairs=[(1, 2), (5, 3)], bye=4)
    moved = edit(play, {"kind": "bye", "entrants": [3]}).json
    assert (moved["bye"]["number"], pairs(moved), moved["violations"]) == (3, {(1, 2), (4, 5)}, [])
    problem(edit(play, {"kind": "bye", "entrants": [5]}, draw=2), 422, "reason-needed")
    reasoned = edit(play, {"kind": "bye", "entrants": [5], "reason": "受伤"}, draw=2).json
    assert [(v["breach"], v["has_reason"]) for v in reasoned["violations"]] == [("bye_out_of_turn", True)]
    off = edit(play, {"kind": "bye", "entrants": []}, draw=3).json
    assert (off["bye"], [row["number"] for row in off["left_over"]]) == (None, [5])


def test_editing_a_stale_draft_takes_it_up_to_today(round2: Play) -> None:
    with round2.service.owner() as session:
        session.add_all(AbsenceRow(entrant_id=round2.field.entrant_ids[number], round_no=2) for number in (4, 6))
        fields.bump(session, round2.field.event_id)
    assert round2.chief.get(f"{round2.round(2)}/draws/1").json["stale"] is True
    body = edit(round2, {"kind": "pair", "entrants": [3, 5]}).json
    assert (body["stale"], pairs(body), body["left_over"]) == (False, {(1, 2), (3, 5)}, [])
    assert round2.chief.post(f"{round2.round(2)}/draws/2/publish", version=1).status_code == 200


def test_a_draw_made_by_hand_from_nothing(round2: Play) -> None:
    url = f"{round2.round(2)}/draws/manual"
    listed = round2.chief.post(url, {"replaces": 1}, version=1)
    assert (listed.status_code, listed.headers["Location"]) == (201, f"{round2.round(2)}/draws/2")
    assert [(row["number"], row["points"]) for row in listed.json["left_over"]] == [
        (1, 1), (2, 1), (3, 1), (4, 0), (5, 0), (6, 0),
    ]  # fmt: skip
    body = {"pairs": [{"first": 2, "second": 1}, {"first": 3, "second": 4}, {"first": 5, "second": 6}]}
    made = round2.chief.post(url, {**body, "replaces": 2}, version=1)
    assert (made.json["source"], made.json["boards"][0]["first"]["number"]) == ("manual", 2)
    assert made.json["cost"]["cross_pairs"] == 1
    seen = {"replaces": 3}
    twice = {**seen, "pairs": [{"first": 1, "second": 2}, {"first": 2, "second": 9}]}
    faults = problem(round2.chief.post(url, twice, version=1), 422, "draw-incomplete")["errors"]
    assert [fault["pointer"] for fault in faults] == ["/pairs/1/first", "/pairs/1/second"]
    again = {**seen, "pairs": [{"first": 1, "second": 4}, {"first": 2, "second": 3}, {"first": 5, "second": 6}]}
    problem(round2.chief.post(url, again, version=1), 422, "reason-needed")
    assert round2.chief.post(url, {**again, "reason": "重赛"}, version=1).status_code == 201
    assert round2.chief.post(f"{round2.round(2)}/draws/4/publish", version=1).status_code == 200


def test_a_draw_by_hand_waits_for_results_and_for_a_running_job(round2: Play) -> None:
    with round2.service.owner() as session:
        event_id = round2.field.event_id
        session.add(JobRow(event_id=event_id, round_no=2, queue="pairing.small", size=6, limits={}, requested_by="x"))
    body = problem(edit(round2, SWAP), 409, "job-running")
    assert body["blockers"][0]["slug"] == "job-running"
    problem(round2.chief.post(f"{round2.round(2)}/draws/manual"), 409, "job-running")
    with round2.service.owner() as session:
        session.execute(sa.delete(JobRow).where(JobRow.event_id == round2.field.event_id))
        board = round2.field.board_ids[1, 2]
        session.execute(sa.text("UPDATE board SET result = NULL WHERE id = :id"), {"id": board})
    blockers = problem(edit(round2, SWAP), 409, "draw-not-possible")["blockers"]
    assert [(b["slug"], b["board"]) for b in blockers] == [("result-missing", 2)]
    problem(round2.chief.post(f"{round2.round(1)}/draws/manual"), 409, "round-published")


def test_a_draft_is_edited_only_as_it_was_read(round2: Play) -> None:
    """Pins version and state of the draft."""
    problem(round2.chief.patch(f"{round2.round(2)}/draws/1", {"edits": [SWAP]}), 428, "version-needed")
    problem(edit(round2, SWAP, version=2), 412, "stale")
    edit(round2, SWAP)
    problem(edit(round2, SWAP), 409, "draw-not-draft")
    problem(round2.referee().patch(f"{round2.round(2)}/draws/2", {"edits": [SWAP]}, version=1), 403, "no-right")


def test_a_draw_by_hand_takes_the_place_only_of_the_draft_that_was_seen(round2: Play) -> None:
    """Pins number and version of the draft that is replaced: another one may have the same version."""
    url, audit = f"{round2.round(2)}/draws/manual", "SELECT old FROM audit_log WHERE action = 'draw.make'"
    for body, version in (({}, None), ({}, 1), ({"replaces": 1}, None)):
        problem(round2.chief.post(url, body, version=version), 428, "version-needed")
    problem(round2.chief.post(url, {"replaces": 1}, version=2), 412, "stale")
    problem(round2.chief.post(url, {"replaces": 9}, version=1), 412, "stale")
    edit(round2, SWAP)
    refused = problem(round2.chief.post(url, {"replaces": 1}, version=1), 412, "stale")
    assert (refused["current"]["number"], refused["current"]["version"]) == (2, 1)
    states = [(draw["number"], draw["state"]) for draw in round2.chief.get(f"{round2.round(2)}/draws").json["items"]]
    assert states == [(2, "draft"), (1, "replaced")]
    assert round2.chief.post(url, {"replaces": 2}, version=1).status_code == 201
    assert round2.service.rows(f"{audit} AND event_id = :id", id=round2.field.event_id)[0].old == {"draw": 2}


def test_a_draft_that_is_no_more_is_not_replaced_by_hand(round2: Play) -> None:
    with round2.service.owner() as session:
        session.execute(
            sa.text("UPDATE draw SET state = 'replaced' WHERE event_id = :id"), {"id": round2.field.event_id}
        )
    url = f"{round2.round(2)}/draws/manual"
    problem(round2.chief.post(url, {"replaces": 1}, version=1), 409, "draw-not-draft")
    problem(round2.chief.post(url, {"replaces": 9}, version=1), 404, "draw-not-found")
    assert round2.chief.post(url, {}).status_code == 201


def test_of_an_edit_and_a_draw_by_hand_at_once_one_wins(round2: Play, other: Session) -> None:
    """Pins the compare-and-set on the draft when a draw by hand takes its place."""
    _edit_in(other, round2)
    url = f"{round2.round(2)}/draws/manual"
    making = InBackground(round2.service.database, lambda: round2.chief.post(url, {"replaces": 1}, version=1))
    assert making.waits_for_a_lock()
    other.commit()
    problem(making.result(), 409, "draw-not-draft")


@pytest.fixture
def other(service: Service) -> Iterator[Session]:
    with results_session(service.database) as session:
        yield session


def _edit_in(session: Session, play: Play) -> int:
    target = {"event_id": play.field.event_id, "round_no": 2, "number": 1, "seen_version": 1}
    change = [Edit(kind=EditKind.SWAP, entrants=(2, 3))]
    return edit_draft(session, Actor(account_id=None, name="周裁判"), **target, edits=change)


def test_of_an_edit_and_a_publishing_at_once_one_wins(round2: Play, other: Session) -> None:
    """Pins the compare-and-set on the draft when it is replaced."""
    _edit_in(other, round2)
    publishing = InBackground(
        round2.service.database, lambda: round2.chief.post(f"{round2.round(2)}/draws/1/publish", version=1)
    )
    assert publishing.waits_for_a_lock()
    other.commit()
    problem(publishing.result(), 409, "draw-not-draft")


def test_an_edit_of_a_field_that_changes_meanwhile_is_refused(round2: Play, other: Session) -> None:
    """Pins the comparison of `pairing_no` under the feed's lock."""
    with results_session(round2.service.database) as session:

        @sa.event.listens_for(session.get_bind(), "before_cursor_execute")
        def change_the_field(_c: Any, _k: Any, statement: str, *_: Any) -> None:
            if statement.startswith("INSERT INTO draw"):
                fields.bump(other, round2.field.event_id)
                other.commit()

        with pytest.raises(Exception, match="changed while this was written"):
            _edit_in(session, round2)
