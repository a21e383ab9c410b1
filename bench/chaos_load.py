"""The load of the chaos campaign: events that are played round by round over the results service, whatever breaks.

Each driver is a chief referee who asks for draws, publishes them, types results, corrects some, and presses buttons
twice. What the service acknowledged is remembered; what it refused with 503 is asked again, and remembered too: without
Redis alone nobody may have to.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from werkzeug.test import TestResponse

from bench.queue import add_event
from qisai.db.accounts import Role
from tests import calls
from tests.faults.stage import Stage

RESULTS = ("first_win", "second_win", "draw")
LAST_ROUND = 4
DEADLINE_MS = 3_000
PATIENCE_SECONDS = 180
ENDED = ("succeeded", "degraded", "failed", "cancelled", "superseded")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that was answered 503: what, and from when to when, in seconds since 1970."""

    what: str
    asked: float
    answered: float


@dataclass
class Acknowledged:
    """What the service said was done, from all drivers."""

    results: dict[int, dict[int, str]] = field(default_factory=dict)
    """Board → version → result."""
    rounds: set[tuple[int, int]] = field(default_factory=set)
    """(event, round) published."""
    refused: list[Refusal] = field(default_factory=list)
    """Each 503, after which a referee would have had to press again."""
    counts: Counter[str] = field(default_factory=Counter)
    troubles: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def trouble(self, what: str) -> None:
        """Something that must not happen."""
        with self.lock:
            self.troubles.append(what)

    def result(self, board: int, version: int, result: str) -> None:
        with self.lock:
            self.results.setdefault(board, {})[version] = result


class Driver(threading.Thread):
    """Plays one event after another until told to stop; then plays the event at hand to its end."""

    def __init__(self, stage: Stage, done: Acknowledged, *, seed: int, stopping: threading.Event) -> None:
        super().__init__(name=f"driver-{seed}", daemon=True)
        self._stage = stage
        self._done = done
        self._rng = random.Random(seed)
        self._stopping = stopping
        self._chief: calls.Caller | None = None
        self._event = 0

    def run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._play_event()
        except Exception as error:  # noqa: BLE001 - a driver that falls over is a finding, not the end of the campaign
            self._done.trouble(f"a driver fell over: {error!r}")

    def _play_event(self) -> None:
        entrants, seed = self._rng.randint(10, 60), self._rng.getrandbits(20)
        self._event = self._insist(lambda: add_event(self._stage, entrants=entrants, rounds_played=1, seed=seed))
        self._chief = self._insist(lambda: self._stage.person(Role.CHIEF_REFEREE, self._event))
        self._done.count("events")
        for round_no in range(2, LAST_ROUND + 1):
            if not self._draw_and_publish(round_no):
                return
            self._type_results(round_no)

    def _insist(self, work: Callable[[], Any]) -> Any:
        """Does something behind the service's back as soon as the database is there."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return work()
            except sa.exc.DBAPIError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.3)

    def _call(self, method: str, path: str, **arguments: Any) -> TestResponse:
        """A call that is made again while the answer is 503."""
        assert self._chief is not None
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            asked = time.time()
            answer = self._chief.call(method, path, **arguments)
            if answer.status_code >= 500 and answer.status_code != 503:
                self._done.trouble(f"{method} {path}: {answer.status_code}")
            if answer.status_code < 500 or time.monotonic() > until:
                return answer
            self._done.count("503")
            with self._done.lock:
                self._done.refused.append(Refusal(f"{method} {path}", asked, time.time()))
            time.sleep(0.3)

    def _draw_and_publish(self, round_no: int) -> bool:
        base = f"/api/v1/events/{self._event}/rounds/{round_no}"
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            job = self._job(base)
            if job is None:
                return False
            self._done.count(f"jobs {job['state']}")
            if job["draw"] is None or job["state"] not in ("succeeded", "degraded"):
                continue
            if self._rng.random() < 0.15:
                self._correct(round_no - 1)  # the draft is stale now
            if self._publish(base, job["draw"]["number"], round_no):
                return True
        self._done.trouble(f"event {self._event}: round {round_no} was not published in {PATIENCE_SECONDS} s")
        return False

    def _job(self, base: str) -> dict[str, Any] | None:
        """Asks, perhaps twice at once, and waits until the job has ended."""
        body = {"limits": {"deadline_ms": DEADLINE_MS}}
        ids: list[int] = []

        def ask() -> None:
            answer = self._call("POST", f"{base}/draws", json=body)
            if answer.status_code == 202:
                ids.append(answer.json["id"])
            elif answer.status_code != 409:
                self._done.trouble(f"asking: {answer.status_code} {answer.get_data(as_text=True)[:200]}")

        askers = [threading.Thread(target=ask) for _ in range(2 if self._rng.random() < 0.2 else 1)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        if not ids:
            return None
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            job: dict[str, Any] = self._call("GET", f"/api/v1/jobs/{ids[-1]}").json
            if job["state"] in ENDED:
                return job
            time.sleep(0.1)
        self._done.trouble(f"job {ids[-1]} did not end in {PATIENCE_SECONDS} s")
        return None

    def _publish(self, base: str, number: int, round_no: int) -> bool:
        path = f"{base}/draws/{number}"
        draw = self._call("GET", path).json
        if draw["needs_acceptance"]:
            draw = self._call("POST", f"{path}/accept", version=draw["version"]).json
        for _ in range(2 if self._rng.random() < 0.1 else 1):
            answer = self._call("POST", f"{path}/publish", version=draw["version"])
        slug = "" if answer.status_code == 200 else str(answer.json["type"]).rsplit(":", 1)[-1]
        if answer.status_code == 200 or slug == "round-published":
            self._done.rounds.add((self._event, round_no))
            self._done.count("rounds")
            return True
        self._done.count(f"publish refused: {slug}")
        if answer.status_code not in (409, 412):
            self._done.trouble(f"publishing: {answer.status_code} {slug}")
        return False

    def _type_results(self, round_no: int) -> None:
        boards = self._call("GET", f"/api/v1/events/{self._event}/rounds/{round_no}/boards").json["items"]
        for board in boards:
            self._write(board["id"], board["version"], reason="")
        if self._rng.random() < 0.5:
            self._correct(round_no)

    def _correct(self, round_no: int) -> None:
        boards = self._call("GET", f"/api/v1/events/{self._event}/rounds/{round_no}/boards").json["items"]
        board = self._rng.choice(boards)
        self._write(board["id"], board["version"], reason="misread")

    def _write(self, board: int, version: int, *, reason: str) -> None:
        """Writes a result; an answer that got lost is asked for again with the same version, and may not be 412."""
        result = self._rng.choice(RESULTS)
        body = {"result": result, "reason": reason}
        answer = self._call("PUT", f"/api/v1/boards/{board}/result", json=body, version=version)
        if answer.status_code == 200:
            self._done.result(board, answer.json["version"], result)
            self._done.count("results")
        elif answer.status_code != 409:  # a closed round of an imported event refuses; nothing else may
            self._done.trouble(f"result of board {board}: {answer.status_code} {answer.get_data(as_text=True)[:200]}")
