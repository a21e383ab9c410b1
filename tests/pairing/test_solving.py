"""The solver process seen from the worker: deadline from outside, memory wall, crashes, and no orphans."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from services.pairing.priority import NICE
from services.pairing.solving import DrawFound, End, Ended, Solver, Tick
from tests.servers import comes_true

FOUR = {
    "format": "qisai.tournament/1",
    "entrants": [{"number": number} for number in range(1, 5)],
    "rounds": [
        {
            "number": 1,
            "boards": [
                {"board": 1, "first": 1, "second": 2, "result": "first_win"},
                {"board": 2, "first": 3, "second": 4, "result": "draw"},
            ],
        }
    ],
}


def request(job: int = 1) -> dict[str, Any]:
    """A request for the next round of four entrants."""
    limits = {"max_depth": None, "max_steps": None}
    return {"job": job, "tournament": FOUR, "stage": "optimal", "limits": limits, "cpu_seconds": 30}


def misbehaving(kind: str, *, memory: int = 2 << 30) -> Solver:
    """A solver process that misbehaves."""
    return Solver(memory_bytes=memory, command=[sys.executable, "-m", "tests.pairing.misbehaving", kind])


def test_a_run_ends_with_a_proven_draw_and_the_process_stays_warm(solver: Solver) -> None:
    first = list(solver.run(request(1), deadline_ms=20_000, tick_ms=1_000))
    pid = solver.start()
    second = list(solver.run(request(2), deadline_ms=20_000, tick_ms=1_000))
    assert isinstance(first[-1], Ended)
    assert first[-1].end is End.DONE
    draws = [message for message in first if isinstance(message, DrawFound)]
    assert draws[-1].document["optimal"] is True
    assert [m.document for m in second if isinstance(m, DrawFound)][-1] == draws[-1].document
    assert solver.start() == pid


def test_a_solver_comes_last_also_where_the_kernel_shares_by_sessions(solver: Solver) -> None:
    """Its session is its own, and by itself would get as much as all processes of a service together."""
    pid = solver.start()
    list(solver.run(request(), deadline_ms=20_000, tick_ms=1_000))
    assert psutil.Process(pid).nice() == max(NICE, os.nice(0))
    shared = Path(f"/proc/{pid}/autogroup")
    if shared.exists() and shared.read_text().strip():
        assert shared.read_text().split()[-2:] == ["nice", str(NICE)]
        assert shared.read_text() != Path("/proc/self/autogroup").read_text()


@pytest.mark.parametrize("kind", ["hang", "one-draw-then-hang"])
def test_past_the_deadline_the_process_is_killed(kind: str) -> None:
    solver = misbehaving(kind)
    pid = solver.start()
    began = time.monotonic()
    messages = list(solver.run(request(), deadline_ms=1_500, tick_ms=400))
    assert isinstance(messages[-1], Ended)
    assert messages[-1].end is End.DEADLINE
    assert 1.4 < time.monotonic() - began < 5
    assert any(isinstance(message, Tick) for message in messages)
    assert any(isinstance(message, DrawFound) for message in messages) is (kind != "hang")
    assert not psutil.pid_exists(pid)


def test_a_crash_is_reported_and_the_next_run_has_a_new_process() -> None:
    solver = misbehaving("one-draw-then-crash")
    pid = solver.start()
    messages = list(solver.run(request(), deadline_ms=10_000, tick_ms=1_000))
    assert isinstance(messages[-1], Ended)
    assert (messages[-1].end, messages[-1].detail["reason"]) == (End.CRASHED, f"killed by signal {signal.SIGABRT:d}")
    assert solver.start() != pid
    solver.kill()


def test_a_solver_that_eats_memory_meets_its_limit_and_not_the_machines() -> None:
    solver = misbehaving("eat-memory", memory=700 << 20)
    messages = list(solver.run(request(), deadline_ms=20_000, tick_ms=5_000))
    assert isinstance(messages[-1], Ended)
    assert (messages[-1].end, messages[-1].detail["reason"]) == (End.CRASHED, "exit code 1")


def test_a_solver_that_burns_more_than_its_cpu_time_is_ended_by_the_system() -> None:
    """The last wall, should the worker not be there to end it: a field that keeps it busy, and no deadline near."""
    entrants = [{"number": number} for number in range(1, 20_001)]
    boards = [
        {"board": n, "first": n, "second": 10_000 + n, "result": ("first_win", "draw", "second_win")[n % 3]}
        for n in range(1, 10_001)
    ]
    busy = {"format": "qisai.tournament/1", "entrants": entrants, "rounds": [{"number": 1, "boards": boards}]}
    solver = Solver(memory_bytes=2 << 30)
    messages = list(solver.run({**request(), "tournament": busy, "cpu_seconds": 0}, deadline_ms=90_000, tick_ms=60_000))
    assert isinstance(messages[-1], Ended)
    assert (messages[-1].end, messages[-1].detail["reason"]) == (End.CRASHED, f"killed by signal {signal.SIGXCPU:d}")


def test_nonsense_from_a_solver_is_a_crash_not_an_exception() -> None:
    messages = list(misbehaving("nonsense").run(request(), deadline_ms=10_000, tick_ms=1_000))
    assert isinstance(messages[-1], Ended)
    assert messages[-1].end is End.CRASHED
    assert "not understood" in messages[-1].detail["reason"]


def test_a_solver_that_does_not_read_its_request_is_killed_at_its_deadline_too() -> None:
    """Pins the unblocked pipe: it takes 64 kB of a large request, and then a worker would wait for ever."""
    large = {"format": "qisai.tournament/1", "entrants": [{"number": n, "name": "x" * 40} for n in range(1, 5_000)]}
    deaf = Solver(memory_bytes=2 << 30, command=["sleep", "60"])
    pid = deaf.start()
    messages = list(deaf.run({**request(), "tournament": large}, deadline_ms=1_000, tick_ms=300))
    assert isinstance(messages[-1], Ended)
    assert messages[-1].end is End.DEADLINE
    assert any(isinstance(message, Tick) for message in messages), "the lease is renewed meanwhile"
    assert not psutil.pid_exists(pid)


def test_a_request_larger_than_the_pipe_arrives_whole(solver: Solver) -> None:
    entrants = [{"number": number, "name": "棋手" * 20} for number in range(1, 2_001)]
    large = {"format": "qisai.tournament/1", "entrants": entrants}
    messages = list(solver.run({**request(), "tournament": large}, deadline_ms=60_000, tick_ms=5_000))
    assert [message.end for message in messages if isinstance(message, Ended)] == [End.DONE]


def test_no_setting_reaches_the_solvers_command() -> None:
    """Tests put their misbehaving solvers in its place in code; an environment cannot."""
    code = """
        import os, sys
        from qisai import settings
        for name in settings.VARIABLES:
            os.environ.setdefault(name, "9000")
        from services.pairing import app
        print(app.SOLVER_COMMAND == (sys.executable, "-m", "services.pairing.solver"))
        print(app.bench.__wrapped__().solver._command == list(app.SOLVER_COMMAND))
    """
    environment = {**os.environ, "STEERING": "/tmp", "SOLVER_COMMAND": "sleep", "QISAI_SOLVER_COMMAND": "sleep"}
    environment |= {
        "QISAI_PAIRING_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "QISAI_REDIS_URL": "redis://127.0.0.1:1/0",
        "QISAI_PAIRING_LEASE_SECONDS": "15",
        "QISAI_PAIRING_MAX_ATTEMPTS": "5",
        "QISAI_ALERT_GRACE_SECONDS": "30",
    }
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=environment, capture_output=True, text=True, check=False
    )
    assert told.stdout.split() == ["True", "True"], told.stderr


def test_the_solver_dies_with_its_worker() -> None:
    """Pins the parent-death signal: SIGKILL leaves the parent no time to clean up."""
    code = """
        import sys, time
        from services.pairing.solving import Solver
        solver = Solver(memory_bytes=1 << 31)
        print(solver.start(), flush=True)
        time.sleep(60)
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert psutil.pid_exists(child)
    assert comes_true(lambda: psutil.Process(child).nice() == 10), "the solver runs at lower priority"
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert comes_true(lambda: not psutil.pid_exists(child))
