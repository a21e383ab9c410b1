"""Every setting of Celery stands in docs/pipeline.md with its reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from qisai.queue.app import make_celery

ROOT = Path(__file__).parents[2]


def settings_made() -> Iterator[str]:
    """Names of all settings that the code gives to Celery, and of the options of its transport."""
    for file in (*ROOT.glob("shared/qisai/**/*.py"), *ROOT.glob("services/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".conf.update"):
                yield from (word.arg for word in node.keywords if word.arg is not None)
    for for_worker in (True, False):
        celery = make_celery("redis://127.0.0.1:1/0", prefix="test:", for_worker=for_worker)
        yield from celery.conf.broker_transport_options


def settings_explained() -> dict[str, str]:
    """Each name in the table's first two columns, with the reason that its row gives."""
    text = (ROOT / "docs" / "pipeline.md").read_text(encoding="utf-8")
    section = text.split("## Settings of Celery", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")]
    return {name: row[2].strip() for row in rows for name in re.findall(r"`([a-z_]+)`", row[0] + row[1])}


def test_every_setting_of_celery_has_a_row_with_its_reason() -> None:
    made, explained = set(settings_made()), settings_explained()
    assert {"task_acks_late", "task_time_limit", "socket_timeout"} <= made
    assert {name for name in made if not explained.get(name)} == set()
    assert {name for name in explained if name.startswith(("task_", "worker_", "broker_"))} <= made, "a row too many"
