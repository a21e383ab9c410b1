"""The system a demo plays on: the one that runs here, or one started for it in a temporary folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qisai.errors import Invalid, Unavailable
from qisai.local import run_state
from qisai.local.ports import free_port

START_SECONDS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Where the gateway is, and a token of an administrator there."""

    url: str
    token: str


def running_system(var: Path, token: str | None) -> System | None:
    """The system whose data folder `var` is, None where it does not run. Without a token one is made for an hour."""
    state = run_state.read(var)
    if state is None or run_state.identify("up", state.supervisor.pid) != state.supervisor:
        return None
    return System(url=state.address, token=token or make_token(var))


def make_token(var: Path) -> str:
    """A token of the administrator, made by `qisai token` in another process. Raises `Invalid` with its words."""
    command = [sys.executable, "-m", "qisai.cli.main", "token", "--login", "admin", "--name", "demo", "--days", "1"]
    made = subprocess.run([*command, "--var", str(var), "--json"], check=False, capture_output=True, text=True)
    if made.returncode != 0:
        raise Invalid("no-token", f"no token could be made: {made.stderr.strip()}")
    token: str = json.loads(made.stdout)["token"]
    return token


@contextmanager
def own_system(say: Callable[[str], None]) -> Iterator[System]:
    """A system in a temporary folder on a free port, stopped and removed at the end. Raises `Unavailable`."""
    with tempfile.TemporaryDirectory(prefix="qisai-demo-") as folder:
        Path(folder).chmod(0o711)  # PostgreSQL may have to run as another user than root
        var, log = Path(folder) / "var", Path(folder) / "log"
        say("nothing runs here: starting a system of its own for the demo")
        command = [sys.executable, "-m", "qisai.cli.main", "up", "--var", str(var), "--port", str(free_port())]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
        try:
            yield _wait(process, var, log)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait(process: subprocess.Popen[bytes], var: Path, log: Path) -> System:
    from qisai.client import Client, HttpTransport

    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        system = None
        state = run_state.read(var)
        if state is not None:
            try:
                system = running_system(var, None)
                if system is not None:
                    Client(HttpTransport(system.url, token=system.token)).events.profiles()
                    return system
            except (Invalid, Unavailable):
                system = None  # still starting
        time.sleep(0.5)
    tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:])
    raise Unavailable("not-started", f"the system did not start; its last words:\n{tail}")
