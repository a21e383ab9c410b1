"""Who looks at an event through one process: one read for all, nobody held up, nothing left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from qisai.errors import NotFound, QisaiError, Unavailable
from services.gateway import live
from services.gateway.live import LiveEvents, News
from tests.servers import comes_true


@dataclass
class Feed:
    """An event's feed, in memory, with a count of its readers. `refusal`: what the next reads are answered with."""

    feed_no: int = 0
    reads: int = 0
    refusal: QisaiError | None = None
    others: list[str] = field(default_factory=list)

    def read(self, after: int) -> News:
        self.reads += 1
        if self.refusal is not None:
            raise self.refusal
        last = min(self.feed_no, after + 200)
        changes = [{"feed_no": number} for number in range(after + 1, last + 1)]
        return News(changes=changes, feed_no=self.feed_no, is_all=last == self.feed_no or not changes)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(live, "POLL_SECONDS_PER_EVENT", 0.0)
    monkeypatch.setattr(live, "BEAT_SECONDS", 0.1)


def ids(messages: Iterator[bytes], count: int) -> list[int]:
    """Feed numbers of the next changes."""
    found: list[int] = []
    while len(found) < count:
        found += [int(line[4:]) for line in next(messages).split(b"\n") if line.startswith(b"id: ")]
    return found


def test_a_hundred_viewers_share_one_poll_and_all_hear_everything() -> None:
    hub, feed = LiveEvents(), Feed(feed_no=5)
    viewers = [hub.watch(1, after=None, read=feed.read, who=None) for _ in range(100)]
    heard: list[list[int]] = []

    def listen(messages: Iterator[bytes]) -> None:
        heard.append(ids(messages, 30))
        messages.close()  # type: ignore[attr-defined]

    threads = [threading.Thread(target=listen, args=(viewer,)) for viewer in viewers]
    for thread in threads:
        thread.start()
    assert comes_true(lambda: len(hub._events[1].viewers) == 100 if 1 in hub._events else False, seconds=5)
    before, began = feed.reads, time.monotonic()
    for _ in range(30):
        feed.feed_no += 1
        time.sleep(0.01)
    for thread in threads:
        thread.join(10)
    assert heard == [list(range(6, 36))] * 100
    assert feed.reads - before <= (time.monotonic() - began) / 0.02 + 2


def test_once_the_last_viewer_has_gone_nothing_is_read_any_more() -> None:
    hub, feed = LiveEvents(), Feed(feed_no=5)
    one, other = (hub.watch(1, after=None, read=feed.read, who=None) for _ in range(2))
    next(one), next(other)
    assert hub.announced(1) == 5
    one.close()  # type: ignore[attr-defined]
    other.close()  # type: ignore[attr-defined]
    assert comes_true(lambda: hub.announced(1) == 0, seconds=2)
    before = feed.reads
    time.sleep(0.15)
    assert feed.reads == before


def test_an_answer_that_nobody_reads_leaves_nobody_behind() -> None:
    """As with HEAD: the messages are asked for and never read."""
    hub, feed = LiveEvents(), Feed()
    hub.watch(1, after=None, read=feed.read, who=None)
    time.sleep(0.1)
    assert (feed.reads, hub._events, hub._viewers) == (1, {}, 0)


def test_a_viewer_that_comes_back_joins_without_a_gap_or_an_echo() -> None:
    hub, feed = LiveEvents(), Feed(feed_no=5)
    early = hub.watch(1, after=None, read=feed.read, who=None)
    next(early)
    feed.feed_no = 9
    assert ids(early, 4) == [6, 7, 8, 9]
    late = hub.watch(1, after=7, read=feed.read, who=None)
    feed.feed_no = 11
    assert ids(late, 4) == [8, 9, 10, 11]
    assert ids(early, 2) == [10, 11]


def test_a_viewer_that_fell_behind_what_is_kept_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "KEPT_CHANGES", 10)
    hub, feed = LiveEvents(), Feed(feed_no=0)
    slow = hub.watch(1, after=None, read=feed.read, who=None)
    next(slow)
    feed.feed_no = 50
    assert comes_true(lambda: hub.announced(1) == 50, seconds=2)
    assert list(slow) == []
    again = hub.watch(1, after=0, read=feed.read, who=None)
    assert ids(again, 50) == list(range(1, 51))


def test_while_the_service_is_away_viewers_stay_and_hear_later() -> None:
    hub, feed = LiveEvents(), Feed(feed_no=5)
    viewer = hub.watch(1, after=None, read=feed.read, who=None)
    next(viewer)
    feed.refusal = Unavailable("service-away", "away")
    assert next(viewer) == live.BEAT
    feed.feed_no, feed.refusal = 6, None
    assert ids(viewer, 1) == [6]
    feed.refusal = Unavailable("service-away", "away")
    with pytest.raises(Unavailable):
        hub.watch(1, after=None, read=feed.read, who=None)


def test_a_refusal_ends_the_public_together_and_of_others_only_whom_it_was_for() -> None:
    hub, feed, staff = LiveEvents(), Feed(feed_no=5), Feed(feed_no=5)
    public = [hub.watch(1, after=None, read=feed.read, who=None) for _ in range(3)]
    worker = hub.watch(1, after=None, read=staff.read, who=7)
    for viewer in (*public, worker):
        next(viewer)
    feed.refusal = NotFound("event-not-found", "hidden")
    for viewer in public:
        assert set(viewer) <= {live.BEAT}
    staff.feed_no = 6
    assert ids(worker, 1) == [6]
    staff.refusal = NotFound("event-not-found", "no role any more")
    assert set(worker) <= {live.BEAT}


def test_who_lost_the_right_to_look_is_sent_away_though_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pins the second look at each right: the reads for all go by the rights of the one who leads."""
    monkeypatch.setattr(live, "RECHECK_SECONDS", 0.15)
    hub, leading, losing = LiveEvents(), Feed(feed_no=5), Feed(feed_no=5)
    lead, loser = (hub.watch(1, after=None, read=feed.read, who=n) for n, feed in ((7, leading), (8, losing)))
    next(lead)
    next(loser)
    losing.refusal = Unavailable("service-away", "for a moment")
    assert [next(loser) for _ in range(4)] == [live.BEAT] * 4
    losing.refusal = NotFound("event-not-found", "no role any more")
    assert set(loser) <= {live.BEAT}
    leading.feed_no = 6
    assert ids(lead, 1) == [6]


def test_who_keeps_the_right_to_look_misses_nothing_at_the_second_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "RECHECK_SECONDS", 0.01)
    hub, feed = LiveEvents(), Feed(feed_no=5)
    viewer = hub.watch(1, after=None, read=feed.read, who=7)
    next(viewer)
    for number in range(6, 30):
        feed.feed_no = number
        assert ids(viewer, 1) == [number]


def test_too_many_viewers_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_VIEWERS", 1)
    hub, feed = LiveEvents(), Feed()
    viewer = hub.watch(1, after=None, read=feed.read, who=None)
    next(viewer)
    with pytest.raises(Unavailable, match="Too many"):
        hub.watch(2, after=None, read=feed.read, who=None)
    viewer.close()  # type: ignore[attr-defined]
    next(hub.watch(2, after=None, read=feed.read, who=None))


def test_a_viewer_comes_back_after_a_while_so_that_its_rights_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "LONGEST_SECONDS", 0.15)
    hub, feed = LiveEvents(), Feed()
    assert set(hub.watch(1, after=None, read=feed.read, who=None)) <= {b"retry: 2000\n\n", live.BEAT}


def test_nobody_is_left_looking_at_a_stream_that_broke() -> None:
    """Whatever ends the reading for all, viewers are sent away and come back."""
    hub, feed = LiveEvents(), Feed(feed_no=5)
    viewer = hub.watch(1, after=None, read=feed.read, who=None)
    next(viewer)
    feed.feed_no = "broken"  # type: ignore[assignment]
    hook, threading.excepthook = threading.excepthook, lambda _args: None
    try:
        assert set(viewer) <= {live.BEAT}
        assert comes_true(lambda: hub.announced(1) == 0, seconds=2)
    finally:
        threading.excepthook = hook


def test_an_older_state_of_the_database_ends_all_streams() -> None:
    hub, feed = LiveEvents(), Feed(feed_no=50)
    viewer = hub.watch(1, after=None, read=feed.read, who=None)
    next(viewer)
    feed.feed_no = 3
    assert set(viewer) <= {live.BEAT}
