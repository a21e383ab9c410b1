"""Live viewers: how soon results are on their screens, with all of them on one gateway process.

Real processes: gateway (one, gevent), registration, results, PostgreSQL, Valkey, and a process of viewers. A delay is
from the moment before the referee's write is sent to the moment the viewer has the message, so it holds the write too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.report import machine, table
from qisai.kernel.model import Result
from tests.gateway.platform import Platform, running_platform
from tests.servers import servers_in_temporary_folder

VIEWERS = (1, 1000)
BOARDS = 60
PAUSE_SECONDS = 0.5
TARGET_SECONDS = 1.0
NO_LIMIT = "1000000/second"


def run() -> str:
    """The table of this part."""
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        servers_in_temporary_folder() as servers,
        running_platform(
            servers, Path(folder), connections=4000, QISAI_RATE_LIMIT=NO_LIMIT, QISAI_MAX_BODY_BYTES=str(4 << 20)
        ) as platform,
    ):
        for count in VIEWERS:
            delays, writes = _measure(platform, count)
            rows.append(
                (
                    f"{count:,}",
                    f"{len(delays):,} of {count * BOARDS:,}",
                    *(f"{_quantile(delays, q):.2f} s" for q in (0.5, 0.99, 1.0)),
                    f"{_quantile(writes, 0.5) * 1000:.0f} / {_quantile(writes, 0.99) * 1000:.0f} ms",
                )
            )
            print("stream", *rows[-1], flush=True)
    head = ("viewers", "messages heard", "delay p50", "p99", "longest", "the writes themselves, p50 / p99")
    return "\n\n".join(
        [
            "## Live changes",
            f"{__doc__.split(chr(10) * 2, 1)[1].strip()} {BOARDS} results, one every {PAUSE_SECONDS} s. {machine()}.",
            table(head, rows),
            f"Target: at most {TARGET_SECONDS:g} s with 1,000 viewers on one gateway. All viewers share one poll.",
        ]
    )


def _measure(platform: Platform, count: int) -> tuple[list[float], list[float]]:
    """Delays of all viewers and all results, and how long the writes took, in seconds."""
    event_id = platform.event(_tournament())
    address = urlsplit(platform.gateway.url)
    path = f"/api/v1/events/{event_id}/stream"
    command = [sys.executable, "-m", "bench.viewers", str(address.hostname), str(address.port), path, str(count)]
    viewers = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert viewers.stdin is not None
    assert viewers.stdout is not None
    if viewers.stdout.readline() != "ready\n":
        raise AssertionError("the viewers did not come in")
    sent, writes = {}, []
    for board in platform.admin.rounds.boards(event_id, 1).items:
        began = time.monotonic()
        platform.admin.rounds.put_result(board.id, Result.FIRST_WIN, version=board.version)
        sent[board.id] = began
        writes.append(time.monotonic() - began)
        time.sleep(PAUSE_SECONDS)
    time.sleep(3)
    viewers.stdin.close()
    heard = json.loads(viewers.stdout.read())
    viewers.wait(timeout=30)
    return [moment - sent[int(board)] for board, moments in heard.items() for moment in moments], writes


def _tournament() -> dict[str, Any]:
    """One round, published and open."""
    numbers = range(1, 2 * BOARDS + 1)
    boards = [{"board": n, "first": 2 * n - 1, "second": 2 * n, "result": None} for n in range(1, BOARDS + 1)]
    return {
        "format": "qisai.tournament/1",
        "regulations": {"profile": "xiangqi", "rounds": 7},
        "entrants": [{"number": number, "name": f"Player {number}"} for number in numbers],
        "rounds": [{"number": 1, "boards": boards}],
    }


def _quantile(values: Sequence[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]
