"""The log in words: every step that any service notes has a text, and values are short and plain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from qisai.db.events import EventState
from qisai.db.jobs import JobState
from services.gateway.pages.log_words import ACTIONS, MOST_CHARACTERS, in_short

SERVICES = Path(__file__).resolve().parents[2] / "services"
OF_NO_EVENT = {"account", "session", "token", "password_reset", "profile"}
TREES = [ast.parse(path.read_text()) for path in SERVICES.rglob("*.py") if "pages" not in path.parts]
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


def test_a_value_is_one_short_line() -> None:
    assert in_short({"club": "甲队", "version": 3, "note": "", "tags": []}) == "club: 甲队"
    assert in_short(None) == ""
    long = in_short({"name": "长" * 1000})
    assert len(long) == MOST_CHARACTERS
    assert long.endswith("…")
