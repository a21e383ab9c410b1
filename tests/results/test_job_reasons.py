"""Why a draw is not there, or must be read first, in the language of whoever asks."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.datastructures import LanguageAccept

from qisai.db.accounts import Role
from qisai.db.jobs import JobRow, JobState
from qisai.db.records import AlertRow, Severity
from qisai.web.problem_texts import texts
from services.results.job_reasons import in_words
from tests.results.conftest import Play

PAIRING = Path(__file__).resolve().parents[2] / "services" / "pairing"
NO_MATCHING = {
    "kind": "no_matching",
    "round": 4,
    "present": 4,
    "without_partner": [7, 9],
    "missing": 2,
    "clusters": [[7], [9], ["bye"]],
    "needed": [],
    "would_help": [
        {"constraint": "rematch", "alone": True, "pairs": [[7, 9]], "count": 1},
        {"constraint": "forbidden", "alone": False, "pairs": [[1, 7]], "count": 1},
        {"constraint": "bye", "alone": False, "entrants": [7], "count": 1},
    ],
}
OUTCOMES: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"slug": "solver-deadline", "detail": "The solver …", "rung": "this_run", "solver": {}}, ("时限", "接受")),
    ({"slug": "solver-crashed", "detail": "The solver broke down. …"}, ("中断", "手工")),
    (
        {
            "slug": "solver-deadline",
            "detail": "…",
            "rung": "earlier_draft",
            "drawn_no": 2,
            "drawn_at": "2026-11-30T09:05+00:00",
        },
        ("第 2 号草案", "2026-11-30 09:05 UTC"),
    ),
    ({"slug": "solver-done", "detail": "The solver offered no draw …", "refused": []}, ("没有给出",)),
    ({"slug": "breaker-open", "detail": "Draws of this event …"}, ("快速搜索",)),
    ({"slug": "input-kept-changing", "detail": "The results …", "times": 20}, ("20 次",)),
    ({"slug": "worker-lost", "detail": "The worker was lost …", "times": 5}, ("5 次",)),
    ({"slug": "cancelled", "detail": "Cancelled by 王.", "by": "王"}, ("由 王 取消",)),
    (
        {"slug": "no-legal-draw", "detail": "Round 4 has no legal draw. …", "reason": NO_MATCHING},
        ("第 4 轮", "7、9", "7–9", "1–7", "轮空：7"),
    ),
    (
        {"slug": "round-beyond-rounds", "detail": "round 8 is beyond …", "reason": {"round": 8}},
        ("超出计划",),
    ),
]


@pytest.mark.parametrize(("outcome", "said"), OUTCOMES, ids=lambda value: str(value)[:40])
def test_every_outcome_is_said_in_chinese_and_kept_in_english(outcome: dict[str, Any], said: tuple[str, ...]) -> None:
    hans = in_words(outcome, LanguageAccept([("zh-Hans", 1)]))["detail"]
    hant = in_words(outcome, LanguageAccept([("zh-Hant", 1)]))["detail"]
    assert all(words in hans for words in said), hans
    for text in (hans, hant):
        assert not re.search(r"[a-z]{3}", text), text
    assert in_words(outcome, LanguageAccept([("en", 1)]))["detail"] == outcome["detail"]


def test_an_outcome_that_lacks_what_its_text_names_is_said_in_english() -> None:
    old = {"slug": "worker-lost", "detail": "The worker was lost 5 times."}
    assert in_words(old, LanguageAccept([("zh-Hans", 1)])) == old


def test_every_reason_that_the_worker_and_the_keeper_write_has_its_texts() -> None:
    found = {"solver-deadline", "solver-crashed", "solver-done"}  # made from the names of `End`
    for path in PAIRING.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "outcome":
                if isinstance(node.args[0], ast.Constant):
                    found.add(node.args[0].value)
            elif isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                found |= {
                    v.value for k, v in pairs if getattr(k, "value", "") == "slug" and isinstance(v, ast.Constant)
                }
    assert {"breaker-open", "worker-lost", "input-kept-changing"} <= found
    assert found - {"drawn"} - set(texts()) == set()


def test_jobs_and_alerts_are_told_in_the_callers_language(play: Play) -> None:
    outcome = {"slug": "solver-deadline", "detail": "The solver did not finish.", "rung": "this_run"}
    ops = play.service.person(Role.OPS, name="李运维")
    with play.service.owner() as session:
        session.execute(sa.delete(AlertRow))
        job = JobRow(
            event_id=play.field.event_id,
            round_no=1,
            state=JobState.DEGRADED,
            queue="pairing.small",
            size=4,
            limits={},
            requested_by="",
            outcome=outcome,
            finished_at=sa.func.now(),
        )
        key = f"{play.field.event_id}:1"
        session.add_all([job, AlertRow(kind="draw-degraded", key=key, severity=Severity.WARNING, detail=outcome)])
        session.flush()
        job_id = job.id
    for language, words in (("zh-CN", "计算未能在时限内完成"), ("zh-TW", "計算未能在時限內完成"), ("en", "did not")):
        headers = {"Accept-Language": language}
        job_now: Any = play.chief.get(f"/api/v1/jobs/{job_id}", headers=headers).json
        queue: Any = ops.get("/api/v1/ops/queue", headers=headers).json
        alerts: Any = ops.get("/api/v1/ops/alerts", headers=headers).json
        assert words in job_now["outcome"]["detail"]
        assert words in queue["recent"][0]["outcome"]["detail"]
        assert words in alerts["items"][0]["detail"]["detail"]


def test_a_fault_of_one_value_is_told_in_the_callers_language(play: Play) -> None:
    body = {"limits": {"deadline_ms": 1, "speed": 3}}
    url = f"{play.event}/rounds/1/draws"
    answer = play.chief.post(url, body, headers={"Accept-Language": "zh-Hant"})
    assert answer.status_code == 422
    body_now: Any = answer.json
    said = {fault["pointer"]: (fault["slug"], fault["detail"]) for fault in body_now["errors"]}
    assert said == {
        "/limits/deadline_ms": ("greater_than_equal", "不能小於 50，寫的是「1」。"),
        "/limits/speed": ("extra_forbidden", "沒有此項，請刪去。"),
    }
    pairs = {"pairs": [{"first": 1, "second": 1}]}
    answer = play.chief.post(f"{url}/manual", pairs, headers={"Accept-Language": "zh-Hans"})
    body_now = answer.json
    assert [fault["detail"] for fault in body_now["errors"]] == ["参赛者 1 出现了两次。"]
