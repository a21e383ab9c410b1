"""Referees as a load: threads of one process, each writing its own boards one after the other, round and round.

Run as `python -m bench.referees` with its orders as JSON in the first argument; prints how long each write took.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from urllib.parse import urlsplit

RESULTS = ("first_win", "draw", "second_win")


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """Where to write, what and how fast. `versions`: board id (as text) → version seen."""

    url: str
    token: str
    versions: dict[str, int]
    referees: int
    seconds: float
    each_per_second: float | None = None
    """Writes of one referee a second; None: as fast as answers come."""


@dataclass(slots=True, kw_only=True)
class Report:
    """Milliseconds of each accepted write, refusals by their slug, and the versions reached."""

    took_ms: list[float] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def share_ms(self, share: float) -> float:
        """The time that this share of writes stayed within. Raises `ValueError` where none was accepted."""
        if not self.took_ms:
            raise ValueError(f"no write was accepted: {self.refused or 'nobody answered'}")
        in_order = sorted(self.took_ms)
        return in_order[min(len(in_order) - 1, int(share * len(in_order)))]


def write(orders: Orders) -> Report:
    """Lets the referees write in a process of their own. Raises where it fails."""
    command: Sequence[str] = (sys.executable, "-m", "bench.referees", json.dumps(asdict(orders)))
    done = subprocess.run(command, capture_output=True, check=True, timeout=orders.seconds + 120)
    return Report(**json.loads(done.stdout))


def _one_referee(orders: Orders, boards: list[str], report: Report, end: float) -> None:
    address = urlsplit(orders.url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=30)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {orders.token}"}
    count, next_at = 0, time.perf_counter()
    while time.perf_counter() < end:
        board = boards[count % len(boards)]
        body = json.dumps({"result": RESULTS[count // len(boards) % len(RESULTS)]})
        count += 1
        if orders.each_per_second is not None:
            time.sleep(max(0.0, next_at - time.perf_counter()))
            next_at += 1 / orders.each_per_second
        began = time.perf_counter()
        seen = report.versions[board]
        connection.request("PUT", f"/api/v1/boards/{board}/result", body, {**headers, "If-Match": f'"v{seen}"'})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status == 200:
            report.took_ms.append((time.perf_counter() - began) * 1000)
            report.versions[board] = seen + 1
        else:
            why = str(json.loads(said)["type"]).rpartition(":")[2]
            report.refused[why] = report.refused.get(why, 0) + 1
            report.versions[board] = json.loads(said).get("current", {}).get("version", seen)


def main(orders: Orders) -> Report:
    """All referees at once until time is up."""
    report = Report(versions=dict(orders.versions))
    boards = list(orders.versions)
    end = time.perf_counter() + orders.seconds
    threads = [
        threading.Thread(target=_one_referee, args=(orders, boards[at :: orders.referees], report, end))
        for at in range(orders.referees)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return report


if __name__ == "__main__":
    print(json.dumps(asdict(main(Orders(**json.loads(sys.argv[1]))))))
