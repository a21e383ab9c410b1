"""What runs where: `run.json` in the data folder, for other commands and for the start after a crash.

Two starts in one folder exclude each other by a lock that the kernel drops with its holder, however that dies.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

MARK: Final = "QISAI_RUN_FOLDER"
"""Set for every process of a run to its data folder; nothing reads it but the search for leftovers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """One process: its pid, and when it started, which together name it for good."""

    name: str
    pid: int
    started: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """A run: its supervisor, the address of the gateway, the ports by name and the processes now alive."""

    address: str
    supervisor: Running
    ports: Mapping[str, int]
    processes: tuple[Running, ...]


def identify(name: str, pid: int) -> Running | None:
    """The process with that pid, or None where there is none."""
    started = started_at(pid)
    return None if started is None else Running(name=name, pid=pid, started=started)


def started_at(pid: int) -> str | None:
    """When a process started, exact enough to tell it from a later one with the same pid. None: no such process."""
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        if fields[0] in "ZX":
            return None
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{fields[19]}"
    if Path("/proc/self/stat").exists():
        return None
    said = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], check=False, capture_output=True, text=True)
    return said.stdout.strip() or None


def write(var: Path, state: RunState) -> None:
    """Replaces `run.json`. Raises `OSError` where the folder cannot be written."""
    fresh = var / "run.json.new"
    fresh.write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
    fresh.replace(var / "run.json")


def read(var: Path) -> RunState | None:
    """The run that `run.json` tells of, whether it is alive or not; None where there is none or it is not readable."""
    try:
        raw = json.loads((var / "run.json").read_text(encoding="utf-8"))
        return RunState(
            address=raw["address"],
            supervisor=Running(**raw["supervisor"]),
            ports={str(name): int(port) for name, port in raw["ports"].items()},
            processes=tuple(Running(**one) for one in raw["processes"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def remove(var: Path) -> None:
    """Takes `run.json` away after an orderly end."""
    with suppress(OSError):
        (var / "run.json").unlink(missing_ok=True)


class RunLock:
    """The lock on a data folder. Not inherited by the processes we start."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, var: Path) -> RunLock | None:
        """The lock, or None where another process holds it. Raises `OSError` where the folder cannot be written."""
        descriptor = os.open(var / "run.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return cls(descriptor)

    def release(self) -> None:
        """Gives the lock back."""
        os.close(self._descriptor)
