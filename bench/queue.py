"""The pairing queue: from request to start, many events at once, one large field beside small ones.

A real installation (PostgreSQL, Valkey, keeper, two worker processes), draws asked for over the results service. Times
are the database's own: of the request, of the claim, of the end.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from bench.fields import swiss_field
from bench.report import machine, table
from qisai.db.accounts import Role
from qisai.db.events import EventRow, EventState
from qisai.db.profile_seed import profile_data
from qisai.db.records import FeedRow
from qisai.db.snapshot_writing import write_tournament
from qisai.kernel.model import ALGORITHM, Regulations
from qisai.kernel.profiles import PROFILES
from qisai.kernel.regulations_file import regulations_to_json
from tests import calls
from tests.faults.stage import BOTH, REAL, SMALL, Stage, raised
from tests.servers import comes_true

ONE_BY_ONE = 200
AT_ONCE = 200
DEADLINE_MS = 300_000
"""So long that the figures say what a draw takes, not when it is broken off."""
SETTINGS = {
    "QISAI_PAIRING_LEASE_SECONDS": "15",
    "QISAI_KEEPER_INTERVAL_MS": "500",
    "QISAI_CANARY_SECONDS": "60",
    "QISAI_SOLVER_MEMORY_MB": "2048",
    "QISAI_LOG_LEVEL": "warning",
}


def run() -> str:
    """All parts on one installation; Markdown."""
    texts = [machine()]
    for workers, parts in (((BOTH, BOTH), (latency, at_once)), ((SMALL, BOTH), (large_beside_small,))):
        with _installation(workers) as (stage, chief):
            for part in parts:
                texts.append(part(stage, chief))
                print(f"\n{texts[-1]}", flush=True)
    return "\n\n".join(texts)


@contextmanager
def _installation(workers: Sequence[str]) -> Iterator[tuple[Stage, calls.Caller]]:
    with raised(workers=workers, environment=SETTINGS, worker_app=REAL) as stage:
        chief = stage.person(Role.ASSOCIATION_ADMIN)
        assert comes_true(lambda: len(stage.rows("SELECT 1 FROM worker")) == len(workers), seconds=90)
        yield stage, chief


def add_event(stage: Stage, *, entrants: int, rounds_played: int = 3, seed: int = 1) -> int:
    """An event after some rounds, ready for the next draw; its id."""
    tournament = swiss_field(entrants, rounds_played=rounds_played, seed=seed)
    with stage.owner() as session:
        event = EventRow(
            name="测速",
            state=EventState.RUNNING,
            profile="xiangqi",
            profile_copy=profile_data(PROFILES["xiangqi"]),
            regulations=regulations_to_json(Regulations(rounds=9)),
            time_zone="Asia/Shanghai",
            algorithm=ALGORITHM,
        )
        session.add(event)
        session.flush()
        session.add(FeedRow(event_id=event.id, feed_no=1, pairing_no=1))
        write_tournament(session, tournament, event_id=event.id, by="bench")
        return event.id


def ask(chief: calls.Caller, event_id: int, *, round_no: int = 4) -> int:
    """Asks for the draw; the job's id."""
    body = {"limits": {"deadline_ms": DEADLINE_MS}}
    answer = chief.post(f"/api/v1/events/{event_id}/rounds/{round_no}/draws", json=body)
    assert answer.status_code == 202, answer.get_data(as_text=True)
    return int(answer.json["id"])


def ended(stage: Stage, jobs: Sequence[int], *, seconds: float) -> list[Any]:
    """The jobs' rows in the order in which they were asked for, once all have ended."""
    waiting = "SELECT count(*) AS n FROM pairing_job WHERE id = ANY(:ids) AND state IN ('queued', 'running')"
    assert comes_true(lambda: stage.rows(waiting, ids=list(jobs))[0].n == 0, seconds=seconds)
    rows = stage.rows(
        """
        SELECT id, state, size, worker, extract(epoch FROM started_at - requested_at) AS wait,
               extract(epoch FROM finished_at - started_at) AS ran, extract(epoch FROM requested_at) AS asked,
               extract(epoch FROM started_at) AS started, extract(epoch FROM finished_at) AS finished
        FROM pairing_job WHERE id = ANY(:ids) ORDER BY requested_at, id
        """,
        ids=list(jobs),
    )
    bad = [row for row in rows if row.state != "succeeded"]
    assert not bad, f"{len(bad)} of {len(rows)} draws did not succeed"
    return rows


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of all values lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def milliseconds(seconds: float) -> str:
    """For people."""
    return f"{1000 * float(seconds):.0f} ms"


def latency(stage: Stage, chief: calls.Caller) -> str:
    """One draw after another of twenty entrants, with idle workers."""
    rows = []
    for number in range(ONE_BY_ONE):
        rows += ended(stage, [ask(chief, add_event(stage, entrants=20, seed=number))], seconds=60)
    waits = [float(row.wait) for row in rows]
    runs = [float(row.ran) for row in rows]
    figures = [
        (
            "request to start",
            *(milliseconds(percentile(waits, share)) for share in (0.5, 0.9, 0.99)),
            milliseconds(max(waits)),
        ),
        (
            "start to draft",
            *(milliseconds(percentile(runs, share)) for share in (0.5, 0.9, 0.99)),
            milliseconds(max(runs)),
        ),
    ]
    head = ["one of twenty entrants at a time, workers idle", "p50", "p90", "p99", "most"]
    return f"{ONE_BY_ONE} draws (aim: p99 of request to start at most 250 ms).\n\n" + table(head, figures)


def at_once(stage: Stage, chief: calls.Caller) -> str:
    """Two hundred events of 20 to 500 entrants ask at once; two workers."""
    rng = random.Random(4)
    events = [add_event(stage, entrants=rng.randint(20, 500), seed=number) for number in range(AT_ONCE)]
    began = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        jobs = list(pool.map(lambda event_id: ask(chief, event_id), events))
    asked = time.monotonic() - began
    rows = ended(stage, jobs, seconds=900)
    total = float(max(row.finished for row in rows) - min(row.asked for row in rows))
    started = sorted(range(len(rows)), key=lambda place: rows[place].started)
    overtaken = [place - rank for rank, place in enumerate(started)]
    busy = sum(float(row.ran) for row in rows)
    per_worker: dict[str, int] = {}
    for row in rows:
        per_worker[row.worker] = per_worker.get(row.worker, 0) + 1
    shares = " and ".join(str(count) for count in sorted(per_worker.values()))
    facts = [
        ("all asked within", f"{asked:.1f} s"),
        ("all drawn, from the first request to the last draft", f"{total:.1f} s"),
        ("workers at work in that time", f"{100 * busy / (len(per_worker) * total):.0f} %"),
        ("draws of each worker", shares),
        (
            "wait: median, longest",
            f"{statistics.median(float(r.wait) for r in rows):.1f} s, {float(max(r.wait for r in rows)):.1f} s",
        ),
        ("most places that an event was started behind its turn", max(-move for move in overtaken)),
    ]
    return f"{AT_ONCE} events of 20 to 500 entrants, all asking at once, two workers.\n\n" + table(["", ""], facts)


def large_beside_small(stage: Stage, chief: calls.Caller) -> str:
    """Thirty small events ask while one of 5,000 is being drawn, and once more without it."""

    def thirty(seed: int) -> list[float]:
        events = [add_event(stage, entrants=40, seed=seed + number) for number in range(30)]
        rows = ended(stage, [ask(chief, event_id) for event_id in events], seconds=300)
        return [float(row.finished - row.asked) for row in rows]

    before = thirty(0)
    job = ask(chief, add_event(stage, entrants=5_000, rounds_played=3))
    assert comes_true(lambda: stage.job(job).state.value == "running", seconds=30)
    beside = thirty(100)
    still = stage.job(job).state.value == "running"
    (large,) = ended(stage, [job], seconds=600)
    rows = [
        (name, milliseconds(percentile(times, 0.5)), milliseconds(max(times)))
        for name, times in (("small ones alone", before), ("beside the large one", beside))
    ]
    how = "was still running when the last of them had its draft" if still else "was done before the last of them"
    text = f"The field of 5,000 took {float(large.ran):.1f} s and {how}. Thirty fields of 40 asked meanwhile"
    text += " (alone they have both workers, beside it one):\n\n"
    return text + table(["request to draft", "median", "longest"], rows)
