"""The log in words: every step that any service notes has a text, and values are short and plain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from flask import Flask

from qisai.client import Event
from qisai.db.events import EventState
from qisai.db.jobs import JobState
from qisai.kernel.model import Regulations
from qisai.kernel.regulations_file import regulations_to_json
from services.gateway.pages import language, log_values, log_words
from services.gateway.pages.log_values import MOST_CHARACTERS, UNSAID, before_and_after, word
from services.gateway.pages.log_words import ACTIONS
from services.registration.answers import EVENT_BASICS
from services.registration.entrant_schemas import EntrantBody

SERVICES = Path(__file__).resolve().parents[2] / "services"
OF_NO_EVENT = {"account", "session", "token", "password_reset", "profile"}
TREES = [
    ast.parse(path.read_text()) for path in SERVICES.rglob("*.py") if "pages" not in path.relative_to(SERVICES).parts
]
NAMED = {
    target.id: node.value.value
    for tree in TREES
    for node in tree.body
    if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant)
    for target in [node.target]
    if isinstance(target, ast.Name) and isinstance(node.value.value, str)
}


def texts(value: ast.expr) -> Iterator[str]:
    """The strings an expression may be."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.Name) and value.id in NAMED:
        yield NAMED[value.id]
    elif isinstance(value, ast.IfExp):
        yield from texts(value.body)
        yield from texts(value.orelse)


def noted() -> set[str]:
    """Every action that a service writes into the audit log, as far as it stands in the code as a text."""
    found: set[str] = set()
    for node in (node for tree in TREES for node in ast.walk(tree)):
        if not isinstance(node, ast.Call):
            continue
        given = [keyword.value for keyword in node.keywords if keyword.arg in ("action", "what")]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given += node.args if name in ("_record", "_log") else []
        found.update(text for value in given for text in texts(value))
    return {text for text in found if re.fullmatch(r"[a-z_]+\.[a-z_]+", text)}


def test_every_step_that_is_noted_has_a_text() -> None:
    found = {action for action in noted() if action.split(".")[0] not in OF_NO_EVENT}
    assert {"draw.publish", "points.adjust", "lots.draw", "entrant.bulk"} <= found
    ended = {JobState.DEGRADED, JobState.FAILED, JobState.SUCCEEDED, JobState.SUPERSEDED, JobState.CANCELLED}
    found |= {f"job.{state.value}" for state in ended}
    found |= {f"event.{state.value}" for state in EventState}
    found |= {"entrant.absence", "entrant.bye"}
    assert found - ACTIONS.keys() == set()


@pytest.fixture
def chinese() -> Iterator[None]:
    app = Flask(__name__)
    language.install(app)
    with app.test_request_context("/?lang=zh-Hans"):
        app.preprocess_request()
        yield


@pytest.mark.usefixtures("chinese")
def test_every_value_that_an_event_or_an_entrant_has_is_called_by_a_name() -> None:
    keys = {*EVENT_BASICS, "starts_on", "registration_until", "profile", *regulations_to_json(Regulations())}
    keys |= {*EntrantBody.model_fields, *(f"{part}" for part in ("win", "draw", "loss", "bye", "mode", "kind"))}
    assert {key for key in keys - UNSAID if word(key, "event") == key} == set()


@pytest.mark.usefixtures("chinese")
def test_only_what_was_changed_is_said() -> None:
    rules = {"rounds": 7, "points": {"win": 1, "draw": 0.5, "loss": 0, "bye": 1}, "tie_breaks": ["opponents"]}
    old = {"name": "公开赛" * 60, "needs_check_in": True, "regulations": rules}
    new = {**old, "needs_check_in": False, "regulations": {**rules, "points": {**rules["points"], "draw": 1}}}
    before, after = before_and_after(old, new, action="event.change", people={})
    assert before == "入座前须签到：是；积分：和棋（平局）：0.5"
    assert after == "入座前须签到：否；积分：和棋（平局）：1"


STEPS: Final = {
    "entrant.bulk": {"entrants": {"285": {"state": "checked_in", "version": 2}}, "next_round": 1},
    "entrant.bulk_undo": {"step": 16, "entrants": [285]},
    "entrant.bye": {"kind": "half", "round": 2},
    "entrant.import": {"changed": {"285": {"seed": 1500}}, "added": [7, 8], "rows": 3, "encoding": "utf-8"},
    "entrant.change": {"seed": 1500, "seed_source": "协会", "sex": "female", "phone": "•••"},
    "entrant.attendance": {"round": 2, "present": True, "entrants": [285]},
    "attendance.deadline": {"deadline": "2026-12-05T01:00:00Z"},
    "event.finished": {"state": "finished"},
    "event.create": {
        "name": "公开赛",
        "profile": "xiangqi",
        "is_public": True,
        "regulations": regulations_to_json(Regulations()),
    },
    "lots.draw": {"mode": "seeding", "seed": None, "numbers": {"285": 1}},
    "draw.publish": {"draw": 2, "source": "computed"},
    "job.succeeded": {"round": 2, "outcome": "drawn"},
    "job.failed": {"round": 2, "outcome": "solver-deadline"},
    "pair.forbid": {"entrants": [285, 7], "from_round": 1, "to_round": None},
    "pair.forbid_same_club": {"from_round": 1, "to_round": 2, "clubs": ["甲队"], "pairs": 3},
    "points.adjust": {"adjustment": 3, "points": -0.5, "round": 2},
    "grant.create": {"account_id": 4, "role": "referee", "boards": [1, 20]},
    "invitation.create": {"role": "referee", "boards": None, "expires_at": "2026-12-07T21:41:46.482604Z"},
    "round.close": {"open_boards": [3, 4]},
    "round.clock": {"action": "start", "seconds": 3600},
    "breaker.reset": {"state": "half_open", "timeouts": 2},
}


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("action", STEPS)
def test_a_step_is_said_without_codes(action: str) -> None:
    event = Event(id=1, name="赛", state="running", profile="xiangqi", version=1)
    entry = {"kind": "audit", "at": None, "actor": "pairing", "action": action, "old": None, "new": STEPS[action]}
    line = log_words.line(entry, event, {}, people={285: "张三", 7: "李四"})
    for text in (line.who, line.what, line.after):
        assert re.findall(r"[A-Za-z_]{2,}", re.sub("utf-8|SOS|T01|SHA-256", "", text)) == [], text
    assert "285" not in line.after


@pytest.mark.usefixtures("chinese")
def test_times_are_of_the_events_zone_as_they_were_typed() -> None:
    event = Event(id=1, name="赛", state="running", profile="xiangqi", version=1, time_zone="Asia/Shanghai")
    for action, name, text in (
        ("attendance.deadline", "deadline", "签到截止：2026-12-08 05:41"),
        ("event.change", "registration_until", "报名截止：2026-12-08 05:41"),
        ("invitation.create", "expires_at", "有效至：2026-12-08 05:41"),
    ):
        new = {name: "2026-12-07T21:41:46.482604Z"}
        assert (
            log_words.line({"kind": "audit", "at": None, "action": action, "new": new}, event, {}, people={}).after
            == text
        )


@pytest.mark.usefixtures("chinese")
def test_a_long_value_is_cut_on_the_page_and_whole_in_the_sheet() -> None:
    event = Event(id=1, name="赛", state="running", profile="xiangqi", version=1)
    entry = {"kind": "audit", "at": None, "actor": "王", "action": "event.change", "new": {"venue": "长" * 1000}}
    short = log_words.line(entry, event, {}, people={}).after
    assert len(short) == MOST_CHARACTERS
    assert short.endswith("…")
    assert "长" * 1000 in log_words.line(entry, event, {}, people={}, whole=True).after


@pytest.mark.usefixtures("chinese")
def test_what_a_step_back_writes_as_its_reason_is_said_in_words() -> None:
    assert log_values.reason("undo of step 16") == "撤回第 16 号操作"
    assert log_values.reason("生病") == "生病"
    calls = [call for tree in TREES for call in ast.walk(tree) if isinstance(call, ast.Call)]
    given = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == "reason"]
    written = {NAMED["_REASON"], *(text for value in given for text in texts(value) if text)}
    assert {"by the entrant", "a place became free"} <= written
    assert {text for text in written if log_values.reason(text) == text} == set()
