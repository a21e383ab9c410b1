"""Live changes of events: one poll of the results service for each event and process, shared by all who look.

A viewer is let in by a read of its own, which also brings what it missed. From then on everybody reads from one short
list of changes, so a slow viewer costs no memory: who falls behind it is sent away and comes back for what it missed.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from qisai import telemetry
from qisai.errors import QisaiError, Unavailable

log = structlog.get_logger()

POLL_SECONDS: Final = 0.25
POLL_SECONDS_PER_EVENT: Final = 0.01
"""With many live events each is asked less often, so that polling never takes more than a part of the service."""
BEAT_SECONDS: Final = 15.0
"""A sign of life, also how soon a viewer that went away is noticed."""
RECHECK_SECONDS: Final = 20.0
"""So long somebody signed in may go on looking after a sign-in has ended, a role was taken away or an event hidden.
The public's right is looked at with each read for all."""
LONGEST_SECONDS: Final = 600.0
"""Then a viewer has to come back."""
MOST_VIEWERS: Final = 3000
"""In one process; each holds a connection."""
KEPT_CHANGES: Final = 256

BEAT: Final = b"event: beat\ndata: {}\n\n"

Change = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Changes behind a feed number, oldest first; `feed_no` is the event's own now, `is_all`: none is missing."""

    changes: Sequence[Change]
    feed_no: int
    is_all: bool = True


Read = Callable[[int], News]
"""Reads the changes behind a feed number with the rights of one viewer. Raises what the service refuses with."""


@dataclass(eq=False, slots=True)
class Viewer:
    """Somebody who looks at an event. `who` None: the public, whose rights are all alike."""

    read: Read
    who: int | None
    is_sent_away: bool = False


def message(change: Change) -> bytes:
    """One change as a server-sent event; its id is the feed number."""
    text = json.dumps(change, ensure_ascii=False, separators=(",", ":"))
    return f"id: {change['feed_no']}\ndata: {text}\n\n".encode()


@dataclass(eq=False, slots=True)
class LiveEvent:
    """One event that somebody looks at."""

    event_id: int
    feed_no: int
    """Of the last change that was read for all."""
    oldest: int
    """Changes behind this number are in `changes`, or there were none."""
    changes: deque[tuple[int, bytes]] = field(default_factory=deque)
    viewers: list[Viewer] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, news: News) -> None:
        """Adds what was read and wakes everybody."""
        with self.changed:
            for change in news.changes:
                self.changes.append((change["feed_no"], message(change)))
                self.feed_no = change["feed_no"]
            while len(self.changes) > KEPT_CHANGES:
                self.oldest = self.changes.popleft()[0]
            self.changed.notify_all()

    def behind(self, feed_no: int) -> list[tuple[int, bytes]]:
        """Changes behind a number, oldest first."""
        found = []
        for number, text in reversed(self.changes):
            if number <= feed_no:
                break
            found.append((number, text))
        return found[::-1]

    def send_away(self, leaving: Viewer) -> None:
        """Ends a viewer whose read was refused; with one of the public, all of the public."""
        with self.changed:
            for viewer in self.viewers:
                if viewer is leaving or (leaving.who is None and viewer.who is None):
                    viewer.is_sent_away = True
            self.changed.notify_all()

    def lead(self) -> Viewer | None:
        """With whose rights to read for all: the public's wherever they are enough."""
        here = [viewer for viewer in self.viewers if not viewer.is_sent_away]
        return min(here, key=lambda viewer: viewer.who is not None, default=None)


class LiveEvents:
    """All events that somebody looks at through this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: dict[int, LiveEvent] = {}
        self._viewers = 0

    def announced(self, event_id: int) -> int:
        """The last feed number of the event that viewers here were told of; 0 where nobody looks."""
        event = self._events.get(event_id)
        return 0 if event is None else event.feed_no

    def watch(self, event_id: int, *, after: int | None, read: Read, who: int | None) -> Iterator[bytes]:
        """Messages for one viewer, from the changes behind `after` (None: from now on).

        Raises at once what the viewer's own read is refused with, and `Unavailable` where too many look already.
        """
        news = _first_read(read, after)
        if self._viewers >= MOST_VIEWERS:
            raise Unavailable("too-many-viewers", "Too many people are watching; try again later.", retry_after=30)
        return self._messages(event_id, Viewer(read=read, who=who), news)

    def _messages(self, event_id: int, viewer: Viewer, news: News) -> Iterator[bytes]:
        """Joins at the first message asked for: an answer that nobody reads leaves nothing behind."""
        event = self._join(event_id, viewer, feed_no=news.feed_no)
        try:
            yield b"retry: 2000\n\n"
            if not news.is_all:
                yield f"id: {news.feed_no}\nevent: reload\ndata: {{}}\n\n".encode()
            for change in news.changes if news.is_all else ():
                yield message(change)
            yield from _following(event, viewer, news.feed_no)
        finally:
            with self._lock:
                event.viewers.remove(viewer)
                self._viewers -= 1

    def _join(self, event_id: int, viewer: Viewer, *, feed_no: int) -> LiveEvent:
        with self._lock:
            self._viewers += 1
            event = self._events.get(event_id)
            if event is None:
                event = self._events[event_id] = LiveEvent(event_id, feed_no=feed_no, oldest=feed_no)
                threading.Thread(target=self._poll, args=(event,), name=f"live-{event_id}", daemon=True).start()
            event.viewers.append(viewer)
            return event

    def _poll(self, event: LiveEvent) -> None:
        """Reads for all viewers of one event until the last one has gone."""
        telemetry.request_id.set(telemetry.new_request_id())
        try:
            while self._is_watched(event):
                time.sleep(max(POLL_SECONDS, POLL_SECONDS_PER_EVENT * len(self._events)))
                lead = event.lead()
                if lead is not None:
                    _read_for_all(event, lead)
        finally:  # whatever ended it, nobody is left looking at a stream that says nothing more
            with self._lock:
                if self._events.get(event.event_id) is event:
                    del self._events[event.event_id]
            for viewer in list(event.viewers):
                event.send_away(viewer)

    def _is_watched(self, event: LiveEvent) -> bool:
        """Whether to go on; where nobody looks any more, the event is let go of before somebody new can join it."""
        with self._lock:
            if not event.viewers:
                del self._events[event.event_id]
            return bool(event.viewers)


def _first_read(read: Read, after: int | None) -> News:
    if after is not None:
        return read(after)
    return News(changes=(), feed_no=read(2**63 - 1).feed_no)


def _read_for_all(event: LiveEvent, lead: Viewer) -> None:
    try:
        news = lead.read(event.feed_no)
    except Unavailable:
        return  # the service is away: everybody stays and sees what happened once it is back
    except QisaiError:
        event.send_away(lead)
        return
    if news.feed_no < event.feed_no:  # an older state of the database was put back
        for viewer in list(event.viewers):
            event.send_away(viewer)
        event.feed_no = event.oldest = news.feed_no
    if news.changes:
        event.take(news)


def _may_look(event: LiveEvent, viewer: Viewer) -> bool:
    """Whether the service still lets this viewer read. While it is away nobody is sent away."""
    try:
        viewer.read(event.feed_no)
    except Unavailable:
        return True
    except QisaiError:
        return False
    return True


def _following(event: LiveEvent, viewer: Viewer, seen: int) -> Iterator[bytes]:
    """What happens from now on, with a sign of life while nothing does. Ends where the viewer has to come back, or may
    no longer look."""
    now = time.monotonic()
    end, check_at = now + LONGEST_SECONDS, now + (RECHECK_SECONDS if viewer.who is not None else LONGEST_SECONDS)
    while not viewer.is_sent_away and (now := time.monotonic()) < end:
        if now >= check_at:
            if not _may_look(event, viewer):
                return
            check_at = now + RECHECK_SECONDS
        with event.changed:
            found = event.behind(seen)
            if not found and not viewer.is_sent_away:
                event.changed.wait(min(BEAT_SECONDS, check_at - now))
                found = event.behind(seen)
        if seen < event.oldest:
            return  # too slow: what it missed is no longer here
        if found:
            seen = found[-1][0]
            yield b"".join(text for _number, text in found)
        else:
            yield BEAT
