"""The supervisor, with real processes that are killed, that hang, and that are left behind."""

from __future__ import annotations

import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from qisai.local import leftovers, run_state
from tests.servers import comes_true

SLEEP = "import time; time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready'); time.sleep(600)"
SAYS_WHEN_IT_ENDS = """
import pathlib, signal, sys, time
name, folder = {name!r}, pathlib.Path(sys.argv[1])
def end(*_):
    with (folder / "ended").open("a") as file:
        file.write(name + "\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
(folder / name).touch()
time.sleep(600)
"""
WITH_A_CHILD = """
import pathlib, subprocess, sys, time
code = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", code])
with (pathlib.Path(sys.argv[1]) / "children").open("a") as file:
    file.write(f"{child.pid}\\n")
time.sleep(600)
"""
COUNTS_ITS_STARTS = """
import pathlib, sys, time
with (pathlib.Path(sys.argv[1]) / "starts").open("a") as file:
    file.write(f"{time.monotonic()}\\n")
sys.exit(3)
"""


@dataclass
class Run:
    folder: Path
    process: subprocess.Popen[str]

    def pids(self) -> dict[str, int]:
        try:
            return {one["name"]: one["pid"] for one in json.loads((self.folder / "alive.json").read_text())}
        except (OSError, ValueError):
            return {}

    def lines(self, name: str) -> list[str]:
        try:
            return (self.folder / name).read_text().splitlines()
        except OSError:
            return []

    def end(self) -> str:
        """Asks for a stop; everything that was written."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=20)[0]


class Start:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: list[Run] = []

    def __call__(self, *plan: dict[str, object]) -> Run:
        (self.folder / "plan.json").write_text(json.dumps(plan))
        command = [sys.executable, "-m", "tests.system.supervised", str(self.folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        run = Run(self.folder, process)
        self.runs.append(run)
        assert comes_true(lambda: len(run.pids()) == len(plan) or (self.folder / "starts").exists())
        return run


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    starter = Start(tmp_path)
    yield starter
    for run in starter.runs:
        run.process.kill()
        run.process.communicate(timeout=20)
    leftovers.stop(tmp_path, patience=0.1)


def alive(pid: int) -> bool:
    return run_state.started_at(pid) is not None


def test_a_killed_process_is_started_again(start: Start) -> None:
    run = start({"name": "one", "code": SLEEP}, {"name": "two", "code": SLEEP})
    before = run.pids()
    os.kill(before["one"], signal.SIGKILL)
    assert comes_true(lambda: run.pids().get("one") not in (None, before["one"]))
    assert run.pids()["two"] == before["two"]
    assert "up           | one was killed by signal 9; starting it again in 0.1 s" in run.end()


def test_restarts_pause_longer_each_time_up_to_a_limit(start: Start) -> None:
    run = start({"name": "broken", "code": COUNTS_ITS_STARTS})
    assert comes_true(lambda: len(run.lines("starts")) >= 6)
    times = [float(line) for line in run.lines("starts")]
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert pauses[0] >= 0.1
    assert pauses[1] >= 0.2
    assert all(0.4 <= pause < 3 for pause in pauses[2:])
    assert "broken ended with exit code 3 (failure 4 in a row); starting it again in 0.4 s" in run.end()


def test_pauses_start_anew_after_a_calm_time(start: Start) -> None:
    run = start({"name": "one", "code": SLEEP})
    for _ in range(2):  # the second death comes soon after the first, the third after a calm second
        before = run.pids()["one"]
        os.kill(before, signal.SIGKILL)
        assert comes_true(lambda old=before: run.pids().get("one") not in (None, old))
    time.sleep(1.2)
    before = run.pids()["one"]
    os.kill(before, signal.SIGKILL)
    assert comes_true(lambda: run.pids().get("one") not in (None, before))
    said = [line for line in run.end().splitlines() if "starting it again" in line]
    assert ["in a row" in line for line in said] == [False, True, False]


def test_stages_stop_one_after_the_other_highest_first(start: Start) -> None:
    stages = {"database": 0, "broker": 1, "worker": 2, "gateway": 3}
    run = start(*({"name": n, "code": SAYS_WHEN_IT_ENDS.format(name=n), "stage": s} for n, s in stages.items()))
    assert comes_true(lambda: all((run.folder / name).exists() for name in stages))
    run.end()
    assert run.lines("ended") == ["gateway", "worker", "broker", "database"]
    assert run.process.returncode == 0


def test_what_does_not_stop_in_time_is_killed_with_its_group(start: Start) -> None:
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + WITH_A_CHILD
    run = start({"name": "stubborn", "code": code, "stop_seconds": 0.3})
    assert comes_true(lambda: bool(run.lines("children")))
    children = [int(line) for line in run.lines("children")]
    assert "stubborn does not stop; killing it" in run.end()
    assert not any(alive(pid) for pid in children)


def test_children_of_a_dead_process_end_before_it_starts_again(start: Start) -> None:
    run = start({"name": "parent", "code": WITH_A_CHILD})
    assert comes_true(lambda: len(run.lines("children")) == 1)
    first = int(run.lines("children")[0])
    os.kill(run.pids()["parent"], signal.SIGKILL)
    assert comes_true(lambda: len(run.lines("children")) == 2)
    assert not alive(first)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no parent-death signal")
def test_killing_the_supervisor_leaves_no_orphans(start: Start) -> None:
    run = start({"name": "one", "code": SLEEP}, {"name": "two", "code": SLEEP, "stage": 1})
    pids = run.pids().values()
    assert all(alive(pid) for pid in pids)
    run.process.kill()
    assert comes_true(lambda: not any(alive(pid) for pid in pids), seconds=3)


@pytest.mark.skipif(sys.platform != "linux", reason="the mark is read from /proc")
def test_leftovers_of_a_killed_run_are_found_by_their_mark_and_stopped(start: Start) -> None:
    run = start({"name": "stubborn", "code": STUBBORN}, {"name": "parent", "code": WITH_A_CHILD})
    assert comes_true(lambda: bool(run.lines("children")))
    grandchild = int(run.lines("children")[0])
    run.process.kill()
    assert comes_true(lambda: not alive(run.pids()["parent"]))
    assert leftovers.find(run.folder) == sorted([run.pids()["stubborn"], grandchild])
    assert leftovers.stop(run.folder, patience=0.2) == 2
    assert not alive(grandchild)
    assert leftovers.find(run.folder) == []


def test_a_stranger_with_a_recorded_pid_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", SLEEP])
    ours = subprocess.Popen([sys.executable, "-c", SLEEP])
    try:
        real = run_state.identify("results", ours.pid)
        assert real is not None
        reused = run_state.Running(name="gateway", pid=stranger.pid, started=real.started + "0")
        state = run_state.RunState(address="", supervisor=reused, ports={}, processes=(reused, real))
        run_state.write(tmp_path, state)
        assert leftovers.find(tmp_path) == [ours.pid]
        # the dead one stays a zombie of this test, and a zombie is no leftover
        assert leftovers.stop(tmp_path, patience=2) == 1
        assert stranger.poll() is None
        assert ours.wait(timeout=5) == -signal.SIGTERM
    finally:
        for process in (stranger, ours):
            process.kill()
            process.wait()


def test_lines_carry_the_name_of_their_process_and_no_colour_off_a_terminal(start: Start) -> None:
    run = start({"name": "one", "code": "print('a\\nb', end='', flush=True); " + SLEEP})
    time.sleep(0.5)
    said = run.end().splitlines()
    assert said[:2] == ["one          | a", "one          | b"]
    assert not any("\x1b" in line for line in said)


def test_names_are_coloured_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps([{"name": "one", "code": "print('hello', flush=True); " + SLEEP}]))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "tests.system.supervised", str(tmp_path)]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        seen = b""
        while b"hello" not in seen:
            seen += os.read(ours, 1024)
        assert b"\x1b[36mone          |\x1b[0m hello" in seen
    finally:
        process.terminate()
        process.wait(timeout=20)
        os.close(ours)


def test_an_output_that_nobody_reads_does_not_stop_the_processes(start: Start) -> None:
    talker = (
        "import pathlib, sys, time\n"
        "for number in range(40_000): print('x' * 100)\n"
        "(pathlib.Path(sys.argv[1]) / 'through').touch(); time.sleep(600)"
    )
    run = start({"name": "talker", "code": talker})
    assert comes_true(lambda: (run.folder / "through").exists(), seconds=30)
    assert "lines were dropped here" in run.end()


def test_a_second_request_to_stop_shortens_the_wait(start: Start) -> None:
    run = start({"name": "stubborn", "code": STUBBORN, "stop_seconds": 60.0})
    time.sleep(0.3)
    run.process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    begun = time.monotonic()
    run.process.send_signal(signal.SIGINT)
    run.process.communicate(timeout=20)
    assert time.monotonic() - begun < 5


def test_only_one_run_can_hold_a_folder(tmp_path: Path) -> None:
    first = run_state.RunLock.take(tmp_path)
    assert first is not None
    assert run_state.RunLock.take(tmp_path) is None
    first.release()
    again = run_state.RunLock.take(tmp_path)
    assert again is not None
    again.release()
