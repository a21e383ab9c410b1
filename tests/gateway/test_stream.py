"""The live stream of an event: changes as they happen, nothing missed, nothing for those who may not see the event."""

from __future__ import annotations

import json
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.kernel.model import Result
from services.gateway.live import RECHECK_SECONDS
from tests.gateway.platform import Platform

SOON = 5.0
"""Seconds: a poll is every 0.25 s, and the machine may be busy."""


@dataclass
class Listener:
    """Reads a stream in a thread of its own, past signs of life."""

    answer: HTTPResponse
    messages: queue.Queue[Any] = field(default_factory=queue.Queue)
    ended: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        kind, data = "message", ""
        while line := self._line():
            text = line.decode().rstrip("\n")
            if text.startswith("event: "):
                kind = text[7:]
            elif text.startswith("data: "):
                data = text[6:]
            elif not text and data:
                if kind != "beat":
                    self.messages.put(json.loads(data) if kind == "message" else kind)
                kind, data = "message", ""
        self.ended.set()

    def _line(self) -> bytes:
        try:
            return self.answer.readline()
        except (HTTPException, OSError):
            return b""

    def next(self) -> Any:
        """The next change, or the name of another message."""
        return self.messages.get(timeout=SOON)


@contextmanager
def listening(platform: Platform, event_id: int, query: str = "", **headers: str) -> Iterator[Listener]:
    address = urlsplit(platform.gateway.url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
    connection.request("GET", f"/api/v1/events/{event_id}/stream{query}", headers=headers)
    reading = connection.sock
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert answer.headers["Cache-Control"] == "no-store"
    listener = Listener(answer)
    try:
        yield listener
    finally:
        reading.shutdown(socket.SHUT_RDWR)
        assert listener.ended.wait(SOON)
        connection.close()


def enter(platform: Platform, event_id: int, board: int, result: Result = Result.DRAW) -> None:
    found = platform.admin.rounds.boards(event_id, 2).items[board - 1]
    platform.admin.rounds.put_result(found.id, result, version=found.version)


def test_a_result_reaches_every_viewer_soon_after_it_was_written(platform: Platform) -> None:
    event_id = platform.event()
    with listening(platform, event_id) as one, listening(platform, event_id) as other:
        enter(platform, event_id, 1)
        for listener in (one, other):
            change = listener.next()
            assert change["kind"] == "result.recorded"
            assert (change["data"]["board"], change["data"]["result"]) == (1, "draw")
            assert "note" not in change["data"]


def test_who_comes_back_gets_what_was_missed_in_order_and_nothing_twice(platform: Platform) -> None:
    event_id = platform.event()
    with listening(platform, event_id) as listener:
        enter(platform, event_id, 1)
        seen = listener.next()["feed_no"]
    for board in (2, 3, 4):
        enter(platform, event_id, board)
    with listening(platform, event_id, **{"Last-Event-ID": str(seen)}) as again:
        assert [again.next()["feed_no"] for _ in range(3)] == [seen + 1, seen + 2, seen + 3]
        enter(platform, event_id, 1, Result.FIRST_WIN)
        assert again.next()["feed_no"] == seen + 4
    with listening(platform, event_id, f"?after={seen + 3}") as later:
        assert later.next()["feed_no"] == seen + 4
        assert later.messages.empty()


def test_a_stream_of_a_hidden_event_is_for_those_who_work_at_it(platform: Platform) -> None:
    event_id = platform.event()
    token = platform.gateway.token_for(Role.ASSOCIATION_ADMIN)
    hide(platform, event_id)
    url = f"{platform.gateway.url}/api/v1/events/{event_id}/stream"
    refused = requests.get(url, timeout=10)
    assert (refused.status_code, refused.json()["type"]) == (404, "urn:qisai:problem:event-not-found")
    with listening(platform, event_id, Authorization=f"Bearer {token}") as listener:
        enter(platform, event_id, 1)
        assert listener.next()["kind"] == "result.recorded"


def test_the_public_is_sent_away_when_an_event_is_hidden_and_staff_stays(platform: Platform) -> None:
    event_id = platform.event()
    token = platform.gateway.token_for(Role.ASSOCIATION_ADMIN)
    with (
        listening(platform, event_id) as public,
        listening(platform, event_id) as second,
        listening(platform, event_id, Authorization=f"Bearer {token}") as staff,
    ):
        hide(platform, event_id)
        assert public.ended.wait(SOON)
        assert second.ended.wait(SOON)
        enter(platform, event_id, 1)
        assert staff.next()["kind"] == "result.recorded"
        assert public.messages.empty()


def test_who_signed_out_lost_a_role_or_an_event_from_sight_hears_no_more(platform: Platform) -> None:
    """All at once, since it takes `RECHECK_SECONDS`. The administrator who leads is let look on."""
    gateway, event_id, hidden = platform.gateway, platform.event(), platform.event()
    without_role, signed_out = gateway.account(Role.ASSOCIATION_ADMIN), gateway.account()
    tokens = [gateway.token_for(Role.ASSOCIATION_ADMIN), *(gateway.token(one) for one in (without_role, signed_out))]
    lead, second, third = (f"Bearer {token}" for token in tokens)
    hide(platform, event_id)
    with (
        listening(platform, event_id, Authorization=lead) as leading,
        listening(platform, event_id, Authorization=second) as role_lost,
        listening(platform, hidden) as _public,
        listening(platform, hidden, Authorization=lead) as also_leading,
        listening(platform, hidden, Authorization=third) as ended,
        listening(platform, hidden, Authorization=f"Bearer {gateway.token(gateway.account())}") as out_of_sight,
    ):
        gateway.sql(sa.text("DELETE FROM access_grant WHERE account_id = :id"), id=without_role)
        gateway.sql(sa.text("UPDATE api_token SET revoked_at = now() WHERE account_id = :id"), id=signed_out)
        hide(platform, hidden)
        for listener in (role_lost, ended, out_of_sight):
            assert listener.ended.wait(RECHECK_SECONDS + SOON)
        for listener, number in ((leading, event_id), (also_leading, hidden)):
            enter(platform, number, 1)
            assert listener.next()["kind"] == "result.recorded"


def hide(platform: Platform, event_id: int) -> None:
    platform.gateway.sql(sa.text("UPDATE event SET is_public = false WHERE id = :id"), id=event_id)


def test_who_missed_too_much_is_told_to_load_the_page_anew(platform: Platform) -> None:
    event_id = platform.event()
    platform.gateway.sql(
        sa.text("INSERT INTO feed_entry (event_id, feed_no, kind, data) SELECT :id, n, 'test', '{}' FROM"
                " event_feed, generate_series(feed_no + 1, feed_no + 300) AS n WHERE event_id = :id"),
        id=event_id,
    )  # fmt: skip
    platform.gateway.sql(sa.text("UPDATE event_feed SET feed_no = feed_no + 300 WHERE event_id = :id"), id=event_id)
    with listening(platform, event_id, "?after=0") as listener:
        assert listener.next() == "reload"
        enter(platform, event_id, 1)
        assert listener.next()["kind"] == "result.recorded"


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 30])
def test_a_last_event_id_that_is_none_of_ours_is_refused(platform: Platform, last: str) -> None:
    url = f"{platform.gateway.url}/api/v1/events/{platform.event()}/stream"
    answer = requests.get(url, headers={"Last-Event-ID": last}, timeout=10)
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:qisai:problem:bad-cursor")
