"""Keeps a handful of processes alive: starts them, prefixes their logs, restarts what dies, stops all in order.

One thread, one loop. Every process leads a process group of its own, so that Ctrl-C reaches only the supervisor, and
what a process leaves behind can be ended with it.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

from qisai.errors import QisaiError
from qisai.local.output import Output
from qisai.local.run_state import Running, identify

_LONGEST_LINE: Final = 64 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """What to run, and how it is stopped. Higher stages are stopped first. Times in seconds."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    stage: int
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 15.0
    before_start: Callable[[], object] | None = None
    """Called before each start, to clear away what the last one left behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Pause before a restart: `first`, doubled each time up to `most`; anew after `calm` seconds of life."""

    first: float = 0.5
    most: float = 30.0
    calm: float = 10.0

    def pause(self, failures: int) -> float:
        """Seconds to wait after that many failures in a row (1 or more)."""
        return min(self.most, self.first * float(2 ** min(failures - 1, 16)))


@dataclass(slots=True)
class _Child:
    process: Process
    running: subprocess.Popen[bytes] | None = None
    identity: Running | None = None
    born: float = 0.0
    failures: int = 0
    due: float | None = None
    killed: bool = False

    @property
    def pid(self) -> int:
        """Pid of the running process, which is also its group's."""
        assert self.running is not None
        return self.running.pid


@dataclass(slots=True)
class _Pipe:
    name: str
    descriptor: int
    show: Callable[[str], object]
    rest: bytearray = field(default_factory=bytearray)


class Supervisor:
    """Runs processes until it is told to stop. Use as: add, `run_until`, `stop`, all in the main thread."""

    def __init__(
        self,
        output: Output,
        *,
        backoff: Backoff | None = None,
        on_change: Callable[[Sequence[Running]], object] = lambda _alive: None,
    ) -> None:
        self.stop_requests = 0
        self._output = output
        self._backoff = backoff or Backoff()
        self._on_change = on_change
        self._children: list[_Child] = []
        self._selector = selectors.DefaultSelector()
        self._stopping = False

    def say(self, text: str) -> None:
        """A line of the supervisor's own."""
        self._output.line("up", text)

    @contextmanager
    def signals(self) -> Iterator[None]:
        """While inside, SIGINT, SIGTERM and SIGHUP ask for a stop, and a child's end wakes the loop."""
        ours, kernels = socket.socketpair()
        ours.setblocking(False)
        kernels.setblocking(False)
        self._selector.register(ours, selectors.EVENT_READ, None)
        woken = signal.set_wakeup_fd(kernels.fileno(), warn_on_full_buffer=False)
        wanted = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup
            wanted.append(signal.SIGHUP)
        before = {number: signal.signal(number, self._asked_to_stop) for number in wanted}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(woken)
            self._selector.unregister(ours)
            ours.close()
            kernels.close()

    def add(self, process: Process) -> None:
        """Starts a process and keeps it alive from now on."""
        child = _Child(process)
        self._children.append(child)
        self._start(child)

    def run_once(self, process: Process, *, show: Callable[[str], object]) -> int | None:
        """Runs a process to its end, its lines going to `show`; its exit code, or None if a stop was asked for.

        Raises `OSError` where it cannot be started.
        """
        child = _Child(process)
        self._spawn(child, show)
        while not self._has_ended(child):
            if self.stop_requests:
                self._end([child])
                return None
            self.turn(0.2)
        return self._bury(child)

    def run_until(self, condition: Callable[[], bool], *, seconds: float | None = None, pause: float = 0.1) -> bool:
        """Keeps everything running until the condition holds (True), a stop is asked for or time is up (False)."""
        end = None if seconds is None else time.monotonic() + seconds
        while not self.stop_requests:
            if condition():
                return True
            if end is not None and time.monotonic() > end:
                return False
            self.turn(pause)
        return False

    def run(self) -> None:
        """Keeps everything running until a stop is asked for."""
        self.run_until(lambda: False, pause=5.0)

    def alive(self) -> list[Running]:
        """The processes that run now."""
        return [child.identity for child in self._children if child.identity is not None]

    def stop(self) -> None:
        """Stops all, stage by stage from the highest; what does not end in its time is killed with its group."""
        self._stopping = True
        for stage in sorted({child.process.stage for child in self._children}, reverse=True):
            self._end([child for child in self._children if child.process.stage == stage])
        self._drain()

    def turn(self, seconds: float) -> None:
        """One turn of the loop: waits at most `seconds` for logs and ends, then restarts what is due."""
        dues = [child.due for child in self._children if child.due is not None and not self._stopping]
        wait = max(0.0, min([seconds, *(due - time.monotonic() for due in dues)]))
        for key, _ in self._selector.select(wait):
            if isinstance(key.data, _Pipe):
                self._pump(key.data)
            else:
                with suppress(BlockingIOError):
                    key.fileobj.recv(4096)  # type: ignore[union-attr]  # our end of the wake-up socket
        for child in self._children:
            if child.running is not None and self._has_ended(child) and not self._stopping:
                self._mourn(child)
            if child.due is not None and child.due <= time.monotonic() and not self._stopping:
                self._start(child)

    def _asked_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stop_requests += 1

    def _start(self, child: _Child) -> None:
        process = child.process
        child.due = None
        try:
            if process.before_start is not None:
                process.before_start()
            self._spawn(child, lambda line: self._output.line(process.name, line))
        except (OSError, QisaiError) as error:
            self._schedule(child, f"could not be started: {error}")
            return
        self._on_change(self.alive())

    def _spawn(self, child: _Child, show: Callable[[str], object]) -> None:
        reading, writing = os.pipe()
        try:
            child.running = subprocess.Popen(
                child.process.command,
                cwd=child.process.folder,
                env=dict(child.process.environment),
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        os.set_blocking(reading, False)
        self._selector.register(reading, selectors.EVENT_READ, _Pipe(child.process.name, reading, show))
        child.born = time.monotonic()
        child.identity = identify(child.process.name, child.pid)

    def _mourn(self, child: _Child) -> None:
        """Takes note of an end that nobody asked for, and plans the restart."""
        if time.monotonic() - child.born >= self._backoff.calm:
            child.failures = 0
        code = self._bury(child)
        self._on_change(self.alive())
        self._schedule(child, f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code}")

    def _schedule(self, child: _Child, what: str) -> None:
        child.failures += 1
        pause = self._backoff.pause(child.failures)
        child.due = time.monotonic() + pause
        again = f" (failure {child.failures} in a row)" if child.failures > 1 else ""
        self.say(f"{child.process.name} {what}{again}; starting it again in {pause:.1f} s")

    def _bury(self, child: _Child) -> int:
        """Ends what is left of the group while the dead leader still keeps its number from others, then reaps it."""
        assert child.running is not None
        self._signal_group(child)
        code = child.running.wait()
        self._drain(child.process.name)
        child.running = None
        child.identity = None
        return code

    def _end(self, children: Sequence[_Child]) -> None:
        living = [child for child in children if child.running is not None]
        for child in living:
            with suppress(ProcessLookupError):
                os.kill(child.pid, child.process.stop_signal)
        begun, asked = time.monotonic(), self.stop_requests
        while living:
            self.turn(0.05)
            hurry = self.stop_requests > max(asked, 1)
            for child in list(living):
                if self._has_ended(child):
                    self._bury(child)
                    living.remove(child)
                elif not child.killed and time.monotonic() - begun > (1.0 if hurry else child.process.stop_seconds):
                    child.killed = True
                    self.say(f"{child.process.name} does not stop; killing it")
                    self._signal_group(child)
        self._on_change(self.alive())

    @staticmethod
    def _signal_group(child: _Child) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)

    @staticmethod
    def _has_ended(child: _Child) -> bool:
        """Whether the process has ended, without reaping it where the system can tell."""
        assert child.running is not None
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return child.running.poll() is not None
        try:
            return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return child.running.poll() is not None

    def _pump(self, pipe: _Pipe) -> None:
        try:
            data = os.read(pipe.descriptor, 1 << 16)
        except BlockingIOError:
            return
        pipe.rest += data
        *lines, rest = bytes(pipe.rest).split(b"\n")
        if rest and (not data or len(rest) > _LONGEST_LINE):
            lines, rest = [*lines, rest], b""
        for line in lines:
            pipe.show(line.decode("utf-8", "replace").rstrip("\r"))
        pipe.rest[:] = rest
        if not data:
            self._selector.unregister(pipe.descriptor)
            os.close(pipe.descriptor)

    def _drain(self, name: str | None = None) -> None:
        """Shows what dead processes wrote last."""
        pipes = [key.data for key in list(self._selector.get_map().values()) if isinstance(key.data, _Pipe)]
        for pipe in pipes:
            if name in (None, pipe.name):
                for _ in range(16):
                    if pipe.descriptor not in self._selector.get_map():
                        break
                    self._pump(pipe)
