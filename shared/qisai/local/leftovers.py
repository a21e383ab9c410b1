"""Finds and stops what an earlier run of the same data folder left alive after its supervisor was killed.

A process is ours only if it says so: it carries the mark of this folder in its environment (Linux), or it has the pid
and the very start time that were written down. A stranger that was given one of our old pids is never touched.
PostgreSQL is not looked for here: it is found by its data folder and shut down in its own way
(`postgres.stop_leftover`).
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from qisai.errors import Unavailable
from qisai.local import run_state


def find(var: Path) -> list[int]:
    """Pids of all processes left over from an earlier run in this folder."""
    found = _marked(var)
    state = run_state.read(var)
    if state is not None:
        recorded = [one for one in state.processes if one.name != "postgres"]
        found |= {one.pid for one in recorded if run_state.started_at(one.pid) == one.started}
    found.discard(os.getpid())
    return sorted(found)


def stop(var: Path, *, patience: float = 8.0, last: float = 5.0) -> int:
    """Stops all leftovers: SIGTERM, and SIGKILL after `patience` seconds. Returns how many there were.

    Raises `Unavailable` if some cannot be stopped (another user's, or stuck in the kernel).
    """
    count = len(find(var))
    for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, last)):
        for pid in find(var):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not find(var):
                return count
            time.sleep(0.05)
    raise Unavailable("leftovers", f"processes of an earlier run do not stop: pids {', '.join(map(str, find(var)))}")


def _marked(var: Path) -> set[int]:
    mark = os.fsencode(f"{run_state.MARK}={var}")
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (entry / "environ").read_bytes().split(b"\0") and run_state.started_at(int(entry.name)):
                found.add(int(entry.name))
    return found
