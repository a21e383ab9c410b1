"""Every problem that can reach a caller has a title in each language and a detail in both Chinese ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from werkzeug.http import HTTP_STATUS_CODES

from qisai.kernel.check import Breach
from qisai.web.problem_texts import LANGUAGES, texts

ROOT = Path(__file__).resolve().parents[2]
RAISED = {
    "NotFound", "Gone", "Forbidden", "Unauthenticated", "Conflict", "PreconditionMissing", "Stale", "Invalid",
    "TooLarge", "Unavailable", "TooMany", "Blocker", "problem",
}  # fmt: skip
REACH_CALLERS = (
    "shared/qisai/web", "shared/qisai/ledger", "shared/qisai/db/session.py", "shared/qisai/db/snapshot.py",
    "shared/qisai/formats", "shared/qisai/kernel", "services/registration", "services/results", "services/gateway",
)  # fmt: skip
ONLY_ON_THE_COMMAND_LINE = {"draw-incomplete", "invalid-plan"}
"""Raised in modules that also serve the command line, by parts that no service calls."""


def modules() -> Iterator[Path]:
    for place in REACH_CALLERS:
        path = ROOT / place
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def slugs() -> dict[str, str]:
    """Each slug that is written out in an error, with a file that raises it."""
    found: dict[str, str] = {}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                slug = node.args[0].value
                if name in RAISED and isinstance(slug, str):
                    found.setdefault(slug, str(path.relative_to(ROOT)))
    return found


def test_every_slug_that_is_raised_has_its_texts() -> None:
    found = slugs()
    assert len(found) > 80
    missing = {
        slug: where for slug, where in found.items() if slug not in texts() and slug not in ONLY_ON_THE_COMMAND_LINE
    }
    assert missing == {}


def test_every_breach_of_a_draw_has_its_texts() -> None:
    assert {breach.value for breach in Breach} - set(texts()) == set()


def test_every_status_that_the_web_server_may_answer_has_its_texts() -> None:
    answered = [400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 413, 415, 417, 422, 429, 503]
    assert {HTTP_STATUS_CODES[status].lower().replace(" ", "-") for status in answered} - set(texts()) == set()


def test_texts_are_whole() -> None:
    for slug, by_language in texts().items():
        assert set(by_language) == set(LANGUAGES), slug
        for language, (title, detail) in by_language.items():
            assert title.strip(), slug
            assert language == "en" or (detail and detail.strip()), slug
        hans, hant = ({part[1] for part in Formatter().parse(by_language[tag][1] or "")} for tag in LANGUAGES[1:])
        assert hans == hant, slug
