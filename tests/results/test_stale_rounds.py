"""A stale write on a round is told who changed it last and when, whatever the change was."""

from __future__ import annotations

from typing import Any

import pytest

from qisai.db.accounts import Role
from qisai.kernel.model import Result
from tests import calls, fields
from tests.results.conftest import Play, problem


@pytest.fixture
def published(play: Play) -> Play:
    """Round 1, published by the chief referee; its boards have results."""
    with play.service.owner() as session:
        fields.add_draft(session, play.field, round_no=1, pairs=[(1, 3), (2, 4)])
    assert play.chief.post(f"{play.round(1)}/draws/1/publish", version=1).status_code == 200
    for board in play.chief.get(f"{play.round(1)}/boards").json["items"]:
        answer = play.chief.put(f"/api/v1/boards/{board['id']}/result", {"result": Result.DRAW.value}, version=1)
        assert answer.status_code == 200
    return play


@pytest.fixture
def deputy(published: Play) -> calls.Caller:
    return published.service.person(Role.CHIEF_REFEREE, published.field.event_id, name="吴副裁判长")


def version(play: Play) -> int:
    return int(play.chief.get(play.round(1)).json["version"])


def told(play: Play) -> dict[str, Any]:
    """What the chief referee hears who saw the version before the present one."""
    seen = version(play) - 1
    answer = play.chief.post(f"{play.round(1)}/close", {"force": True, "reason": "收工"}, version=seen)
    current: dict[str, Any] = problem(answer, 412, "stale")["current"]
    return current


def logged(play: Play, action: str) -> str:
    items = play.chief.get(f"{play.event}/log?kind=audit&action={action}").json["items"]
    return str(items[0]["at"])


def test_whoever_published_is_named_as_long_as_nothing_else_was_done(published: Play) -> None:
    current = told(published)
    assert (current["updated_by"], current["updated_at"]) == ("孙裁判长", logged(published, "draw.publish"))


@pytest.mark.parametrize(
    ("steps", "action"),
    [
        ((("clock", {"action": "start", "seconds": 600}),), "round.clock"),
        ((("close", {}),), "round.close"),
        ((("close", {}), ("reopen", {"reason": "漏记一局"})), "round.reopen"),
    ],
    ids=["clock", "closed", "reopened"],
)
def test_a_stale_write_names_whoever_changed_the_round_last(
    published: Play, deputy: calls.Caller, steps: tuple[tuple[str, dict[str, Any]], ...], action: str
) -> None:
    """Not who published it, nor who closed it before it was opened again."""
    for path, body in steps:
        answer = deputy.post(f"{published.round(1)}/{path}", body, version=version(published))
        assert answer.status_code == 200, answer.get_data(as_text=True)
    current = told(published)
    assert (current["updated_by"], current["updated_at"]) == ("吴副裁判长", logged(published, action))


def test_a_draft_of_the_next_round_is_no_change_of_this_one(published: Play, deputy: calls.Caller) -> None:
    pairs = [{"first": 1, "second": 2}, {"first": 3, "second": 4}]
    answer = deputy.post(f"{published.round(2)}/draws/manual", {"pairs": pairs, "bye": None})
    assert answer.status_code == 201
    assert told(published)["updated_by"] == "孙裁判长"


def test_a_round_that_nobody_changed_since_its_import_names_who_is_said_to_have_published_it(play: Play) -> None:
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.DRAW), (2, 4, Result.DRAW)])
    assert told(play)["updated_by"] == "a test"
