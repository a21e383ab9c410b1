"""A whole platform under a real `qisai up`, for tests that look at it from outside and kill parts of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from qisai.client import Client, HttpTransport
from qisai.local import leftovers, postgres, run_state
from qisai.local.ports import free_port
from tests.servers import comes_true

READY = "qisai is ready: "


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without settings of qisai that a developer may have."""
    return {name: value for name, value in os.environ.items() if not name.startswith("QISAI_")} | more


@dataclass
class Platform:
    """One run of `qisai up`: its data folder, its port, its process and what it printed."""

    var: Path
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def printed(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def wait_ready(self, *, seconds: float = 90) -> None:
        """Waits until the address was printed."""
        said = comes_true(lambda: READY in self.printed() or self.process.poll() is not None, seconds=seconds)
        assert said, self.printed()[-4000:]
        assert self.process.poll() is None, self.printed()[-4000:]

    def password(self) -> str | None:
        """The first administrator's password, if this run showed it."""
        found = re.search(r"password (\S+)", self.printed())
        return None if found is None else found[1]

    def client(self, password: str) -> Client:
        """A client that is signed in as the first administrator."""
        client = Client(HttpTransport(self.address))
        client.sign_in("admin", password)
        return client

    def state(self) -> run_state.RunState:
        state = run_state.read(self.var)
        assert state is not None
        return state

    def pid(self, name: str) -> int | None:
        """Pid of a process that runs now."""
        return next((one.pid for one in self.state().processes if one.name == name), None)

    def everything(self) -> set[int]:
        """Pids of all processes of this run, with their children, without the supervisor."""
        return {*leftovers.find(self.var), *postgres.servers_of(self.var / "postgres")}

    def press_ctrl_c(self) -> int:
        """SIGINT to the foreground group, as a terminal sends it; the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(timeout=90)

    def kill_everything(self) -> None:
        """`kill -9` of the supervisor and all that it runs, all at once."""
        all_of_it = (self.process.pid, *self.everything())
        # Stopped first: who notices that the supervisor died would end in order before its own turn comes.
        for signum in (signal.SIGSTOP, signal.SIGKILL):
            for pid in all_of_it:
                with suppress(ProcessLookupError):
                    os.kill(pid, signum)
        self.process.wait()


@contextmanager
def platform(var: Path, *, log: Path, port: int | None = None, **environment: str) -> Iterator[Platform]:
    """Starts `qisai up` without waiting; at the end nothing of it runs any more."""
    port = port or free_port()
    command = [sys.executable, "-m", "qisai.cli.main", "up", "--var", str(var), "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=clean_environment(**environment),
            start_new_session=True,
        )
    run = Platform(var, port, process, log)
    try:
        yield run
    finally:
        if process.poll() is None:
            run.kill_everything()
        leftovers.stop(var, patience=0.1)
        postgres.stop_leftover(var / "postgres")
