"""The page of those who operate: everything issue 4 asks for is on it, in words, and its buttons do what they say."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.db.jobs import BreakerRow, BreakerState, JobRow, JobState, KeeperRow, WorkerRow
from qisai.db.records import AlertRow, Severity
from services.gateway.pages.operation_words import ALERTS
from services.pairing.alert_kinds import AlertKind
from tests.gateway.harness import PASSWORD
from tests.gateway.platform import Platform
from tests.gateway.test_pages import Person

NOW = sa.func.clock_timestamp()


def ago(seconds: float) -> Any:
    return NOW - sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def insert(platform: Platform, table: type[Any], **values: Any) -> Any:
    return platform.gateway.sql(sa.insert(table).values(**values).returning(sa.literal_column("*")))[0]


@pytest.fixture
def ops(platform: Platform) -> Person:
    for table in (JobRow, BreakerRow, WorkerRow, KeeperRow, AlertRow):
        platform.gateway.sql(sa.delete(table))
    login = f"ops{id(object())}"
    platform.gateway.account(Role.OPS, login=login, password=PASSWORD, name="李运维")
    return Person(platform, login)


def job(platform: Platform, event_id: int, state: JobState, *, round_no: int = 3, **values: Any) -> int:
    row = insert(
        platform,
        JobRow,
        event_id=event_id,
        round_no=round_no,
        state=state,
        queue="pairing.small",
        size=8,
        limits={},
        requested_by="孙裁判长",
        **{"requested_at": ago(30), "due_at": ago(30), **values},
    )
    return int(row.id)


def in_every_trouble(platform: Platform) -> int:
    """An event with one thing of each kind to see."""
    event_id = platform.event(name="熔断赛")
    progress = {"stage": "optimal", "elapsed_ms": 4200, "best": {"max_gap": 2, "cross_pairs": 3}, "entrants": 8}
    job(platform, event_id, JobState.RUNNING, started_at=ago(20), progress=progress, worker="w1:1", attempts=2)
    outcome = {
        "slug": "solver-deadline",
        "detail": "The solver did not finish before its deadline.",
        "rung": "this_run",
    }
    job(platform, event_id, JobState.DEGRADED, round_no=2, started_at=ago(20), finished_at=ago(5), outcome=outcome)
    failed = {"slug": "worker-lost", "detail": "The worker was lost 5 times.", "times": 5}
    job(platform, event_id, JobState.FAILED, round_no=1, started_at=ago(20), finished_at=ago(5), outcome=failed)
    insert(platform, BreakerRow, event_id=event_id, state=BreakerState.OPEN, timeouts=3, opened_at=ago(60))
    machine = {"host": "h", "pid": 7, "release": "0.1.0"}
    lists = {"algorithms": ["qisai/1"], "queues": ["pairing.small"]}
    insert(platform, WorkerRow, name="w1", **machine, **lists, seen_at=ago(3), load=0.42, job_id=1)
    insert(platform, WorkerRow, name="w2", **machine, **lists, seen_at=ago(25))
    insert(platform, KeeperRow, name="k1", **machine, is_leading=True, late_seconds=30, seen_at=ago(75))
    detail = {"job": 1, "round": 2, **outcome}
    insert(
        platform, AlertRow, kind="draw-degraded", key=f"{event_id}:2", severity=Severity.WARNING, event_id=event_id,
        detail=detail,
    )  # fmt: skip
    stuck = {"kind": "queue-stuck", "key": "pairing.large", "severity": Severity.CRITICAL}
    insert(platform, AlertRow, **stuck, detail={"queue": "pairing.large", "oldest_seconds": 61})
    half = {"kind": "breaker-open", "key": f"{event_id}", "severity": Severity.WARNING, "event_id": event_id}
    insert(platform, AlertRow, **half, detail={"state": "half_open", "job": 1})
    return event_id


def test_everything_that_is_wrong_is_on_the_page_in_words(platform: Platform, ops: Person) -> None:
    in_every_trouble(platform)
    page = ops.page("/queue")
    for said in (
        "No keeper is at work", "last seen 75 s ago", "Draws wait and none is finished",
        "large fields · The oldest waits for 61 s.", "trying one draw in full",
        "A draw must be read and accepted first", "looking for the best · 4.2 s", "largest gap: 1", "2 attempts",
        "The solver did not finish before its deadline.", "The worker was lost 5 times.", "熔断赛", "孙裁判长",
        "open: quick draws only", "3 time-outs in a row", "release 0.1.0", "load of its machine 42 %", "silent",
        "small fields only", "seen 3.", "registration", "results",
    ):  # fmt: skip
        assert said in page, said


def test_in_chinese_no_code_and_no_english_is_left(platform: Platform, ops: Person) -> None:
    in_every_trouble(platform)
    text = ops.get("/queue", headers={"Accept-Language": "zh-CN"}).text
    main = re.sub(r"<[^>]*>", " ", text[text.index("<main") : text.index("</main>")])
    assert "计算未能在时限内完成" in main
    assert "工作进程中断了 5 次" in main
    known = {"UTC", "w1", "w2", "k1", "ms", "registration", "results", "gateway", "keeper", "h"}
    assert set(re.findall(r"[A-Za-z][\w-]*", main)) - known == set()


def test_a_job_is_cancelled_a_breaker_reset_an_alert_seen(platform: Platform, ops: Person) -> None:
    event_id = in_every_trouble(platform)
    page = ops.page("/queue")
    (job_id,) = set(re.findall(r'action="/queue/jobs/(\d+)"', page))
    said = ops.post(f"/queue/jobs/{job_id}")
    assert "The job is cancelled." in said.text
    assert "Cancelled by 李运维." in said.text
    assert re.findall(r'action="/queue/jobs/(\d+)"', said.text) == []
    again = ops.post(f"/queue/jobs/{job_id}")
    assert again.ok
    assert "The breaker is reset." in ops.post("/queue/breakers", event=event_id).text
    alert_id = re.findall(r'action="/queue/alerts/(\d+)"', page)[0]
    assert "Seen by 李运维" in ops.post(f"/queue/alerts/{alert_id}").text
    states = platform.gateway.sql(sa.select(JobRow.state).where(JobRow.id == int(job_id)))
    assert [row[0] for row in states] == [JobState.CANCELLED]
    assert [row[0] for row in platform.gateway.sql(sa.select(BreakerRow.state))] == [BreakerState.CLOSED]


def test_the_chart_shows_one_six_or_twenty_four_hours(platform: Platform, ops: Person) -> None:
    event_id = platform.event()
    names = ("requested_at", "due_at", "started_at", "finished_at")
    job(platform, event_id, JobState.FAILED, **dict.fromkeys(names, ago(5 * 3600)))
    counts = [len(re.findall(r'rect class="failed"', ops.page(f"/queue?hours={hours}"))) for hours in (1, 6, 24)]
    assert counts == [0, 1, 1]
    assert "None in this time." in ops.page("/queue?hours=1")
    assert ops.get("/queue?hours=soon").ok


def test_every_kind_of_alert_has_words_and_advice() -> None:
    assert set(ALERTS) == {kind.value for kind in AlertKind}
