"""The banner of open alerts: whom it is shown to, where, in which words, and what it costs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.db.records import AlertRow, Severity
from tests.gateway.harness import PASSWORD, running_gateway
from tests.gateway.platform import Platform, tournament
from tests.gateway.test_operations_page import insert
from tests.gateway.test_pages import HTML, Person, referee
from tests.servers import Servers

NOBODY = "http://127.0.0.1:1"
"""Nobody listens there."""


@pytest.fixture(autouse=True)
def no_alerts(platform: Platform) -> Iterator[None]:
    platform.gateway.sql(sa.delete(AlertRow))
    yield
    platform.gateway.sql(sa.delete(AlertRow))


@pytest.fixture
def ops(platform: Platform) -> Person:
    login = f"ops{id(object())}"
    platform.gateway.account(Role.OPS, login=login, password=PASSWORD, name="李运维")
    return Person(platform, login)


def alert(platform: Platform, kind: str, event_id: int | None = None, **values: Any) -> None:
    row = {"key": f"{event_id or 'all'}:3", "severity": Severity.WARNING, "detail": {"round": 3}, **values}
    insert(platform, AlertRow, kind=kind, event_id=event_id, **row)


def banner(person: Person, path: str, language: str = "en") -> str:
    """The text of the banner of a page; empty where there is none."""
    answer = person.get(path, headers={"Accept-Language": language})
    assert answer.status_code == 200
    found = re.search(r'<aside class="alerts".*?</aside>', answer.text, re.S)
    return " ".join(re.sub(r"<[^>]*>", " ", found[0]).split()) if found else ""


def test_those_who_work_at_an_event_see_its_open_alerts_on_their_pages(platform: Platform) -> None:
    event_id, other = platform.event(tournament(reported=4)), platform.event()
    alert(platform, "draw-failed", event_id)
    alert(platform, "breaker-open", event_id, detail={})
    alert(platform, "draw-degraded", event_id, cleared_at=sa.func.now())
    chief, player = referee(platform, event_id, Role.CHIEF_REFEREE), referee(platform, event_id)
    draw, entry = f"/events/{event_id}/rounds/3/draw", f"/events/{event_id}/rounds/2/entry"
    for page in (draw, f"/events/{event_id}/rounds/2/draw", f"/events/{event_id}/log", entry):
        said = banner(chief, page)
        assert "warning: A draw failed · Round 3" in said, page
        assert "warning: Draws of this event take too long: quick draws only" in said
        assert "must be read and accepted" not in said, "what is cleared is no news"
        assert ("To the round" in said) is (page != draw)
    seen = banner(player, entry)
    assert "A draw failed" in seen
    assert "To the round" not in seen, "a referee cannot go there"
    assert "警告: 一次编排失败 · 第 3 轮" in banner(chief, draw, "zh-CN")
    assert "第 3 輪" in banner(chief, draw, "zh-TW")
    assert banner(referee(platform, other, Role.CHIEF_REFEREE), f"/events/{other}/rounds/3/draw") == ""


def test_the_public_and_public_pages_show_none_and_ask_for_none(
    platform: Platform, server_logs: Path, ops: Person
) -> None:
    event_id = platform.event()
    alert(platform, "draw-failed", event_id)
    alert(platform, "no-live-worker", severity=Severity.CRITICAL, detail={})
    log = server_logs / "results.log"

    def asked() -> int:
        return log.read_text().count("/alerts")

    before = asked()
    chief = referee(platform, event_id, Role.CHIEF_REFEREE)
    public = Person(platform)
    for person in (public, chief):
        for page in ("/", f"/events/{event_id}", f"/events/{event_id}/standings"):
            assert banner(person, page) == ""
    assert asked() == before
    assert banner(chief, f"/events/{event_id}/rounds/2/draw") != ""
    assert asked() == before + 1
    assert banner(ops, "/") != ""
    assert asked() == before + 2


def test_who_operates_sees_what_is_critical_on_every_page(platform: Platform, ops: Person) -> None:
    event_id = platform.event(name="熔断赛")
    alert(platform, "no-live-worker", severity=Severity.CRITICAL, detail={})
    alert(platform, "worker-of-other-release", event_id, severity=Severity.CRITICAL, detail={})
    alert(platform, "canary-late", detail={})
    for page in ("/", "/account", f"/events/{event_id}"):
        said = banner(ops, page)
        assert "critical: No pairing worker is alive" in said
        assert "No worker has the algorithm of this event · 熔断赛" in said
        assert "The test draw did not come back" not in said
    assert 'href="/queue"' in ops.page("/")
    assert banner(ops, "/queue") == "", "the page of operations has the whole list"
    assert ops.page("/queue").count("No pairing worker is alive") == 1
    admin = Person(platform, platform.login)
    alert(platform, "draw-degraded", event_id)
    said = banner(admin, f"/events/{event_id}/rounds/2/draw")
    assert "No pairing worker is alive" in said
    assert "A draw must be read and accepted first · Round 3" in said
    assert banner(referee(platform, event_id, Role.CHIEF_REFEREE), "/account") == ""


def test_who_has_seen_an_alert_is_said(platform: Platform, ops: Person) -> None:
    alert(platform, "broker-away", severity=Severity.CRITICAL, detail={})
    (alert_id,) = re.findall(r'action="/queue/alerts/(\d+)"', ops.page("/queue"))
    ops.post(f"/queue/alerts/{alert_id}")
    assert "Seen by 李运维" in banner(ops, "/account")


def test_a_page_is_shown_also_where_alerts_cannot_be_read(servers: Servers, tmp_path: Path) -> None:
    database = servers.clone()
    try:
        with running_gateway(database, servers.valkey_url(), tmp_path, services=(NOBODY, NOBODY)) as gateway:
            gateway.account(Role.OPS, login="ops", password=PASSWORD, name="李运维")
            with requests.Session() as http:
                http.headers.update(HTML)
                http.post(f"{gateway.url}/sign-in", data={"login": "ops", "password": PASSWORD}, timeout=20)
                answer = http.get(f"{gateway.url}/account", timeout=20)
        assert answer.status_code == 200
        assert "Whether there are alerts cannot be read just now." in answer.text
    finally:
        servers.drop(database)
