"""The worker's side of the solver process: one request, a stream of better draws, a deadline enforced from outside."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import structlog

from services.pairing.solver import MEMORY_VARIABLE, PARENT_VARIABLE

log = structlog.get_logger()

SOLVER_COMMAND: Final[Sequence[str]] = (sys.executable, "-m", "services.pairing.solver")
_LONGEST_LINE: Final = 64 << 20


class End(StrEnum):
    """How a run of the solver ended."""

    DONE = "done"
    NO_LEGAL_DRAW = "no_legal_draw"
    BAD_INPUT = "bad_input"
    DEADLINE = "deadline"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawFound:
    """A complete draw (`qisai.draw/1` as JSON), better than the ones before it; not yet checked."""

    document: Mapping[str, Any]
    elapsed_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Time to renew the lease and to look whether the job is still wanted."""

    elapsed_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The run is over. `detail` carries the solver's words and data for `no_legal_draw` and `bad_input`."""

    end: End
    elapsed_ms: int
    detail: Mapping[str, Any]


Message = DrawFound | Tick | Ended


class Solver:
    """A warm solver process; started at first need, replaced after a kill or a crash."""

    def __init__(self, *, memory_bytes: int, command: Sequence[str] = SOLVER_COMMAND) -> None:
        self._memory_bytes = memory_bytes
        self._command = list(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._unsent = memoryview(b"")

    def start(self) -> int:
        """Starts the process unless it runs, and returns its pid."""
        if self._process is None or self._process.poll() is not None:
            self.kill()
            environment = {
                "PATH": os.environ.get("PATH", ""),
                "PYTHONHASHSEED": "0",
                "PYTHONIOENCODING": "utf-8",
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
                "RAYON_NUM_THREADS": "1",
                PARENT_VARIABLE: str(os.getpid()),
                MEMORY_VARIABLE: str(self._memory_bytes),
            }
            # A plain subprocess in its own group: Celery's pool children may not use multiprocessing.
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                start_new_session=True,
                bufsize=0,
            )
            self._buffer, self._unsent = b"", memoryview(b"")
            assert self._process.stdin is not None
            # A solver that does not read must not hold up its worker: the pipe takes only part of a large request.
            os.set_blocking(self._process.stdin.fileno(), False)
        return self._process.pid

    def kill(self) -> None:
        """Ends the process and everything it started, at once."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                log.info("solver.already_gone", pid=process.pid)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def run(self, request: Mapping[str, Any], *, deadline_ms: int, tick_ms: int) -> Generator[Message]:
        """Sends one request and yields what comes back, a `Tick` every `tick_ms`, and exactly one `Ended`, last.

        Past the deadline, counted from here, the process is killed. Closing the iterator early kills it too, so a
        later answer to this request can never be taken for an answer to the next.
        """
        began = time.monotonic()
        finished = False

        def elapsed() -> int:
            return int((time.monotonic() - began) * 1000)

        try:
            self.start()
            line = json.dumps(request, ensure_ascii=False, separators=(",", ":")) + "\n"
            self._unsent = memoryview(line.encode())
            next_tick = tick_ms
            while True:
                wait_ms = min(deadline_ms, next_tick) - elapsed()
                answer = self._exchange(max(wait_ms, 0) / 1000)
                if answer == b"":
                    yield Ended(end=End.CRASHED, elapsed_ms=elapsed(), detail={"reason": self._exit_reason()})
                    return
                if answer is not None:
                    message = self._understand(answer, job=request["job"], elapsed_ms=elapsed())
                    finished = isinstance(message, Ended) and message.end is not End.CRASHED
                    yield message
                    if isinstance(message, Ended):
                        return
                if elapsed() >= deadline_ms:
                    yield Ended(end=End.DEADLINE, elapsed_ms=elapsed(), detail={"deadline_ms": deadline_ms})
                    return
                if elapsed() >= next_tick:
                    next_tick = elapsed() + tick_ms
                    yield Tick(elapsed_ms=elapsed())
        finally:
            if not finished:
                self.kill()

    def _exchange(self, seconds: float) -> bytes | None:
        """A line, `b""` where the process closed its output, None when nothing whole came in time.

        Meanwhile sends what is left of the request.
        """
        assert self._process is not None
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        limit = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if self._unsent:
                selector.register(self._process.stdin, selectors.EVENT_WRITE)
            while b"\n" not in self._buffer:
                ready = {key.fileobj for key, _ in selector.select(max(limit - time.monotonic(), 0))}
                if not ready:
                    return None
                if self._process.stdin in ready and not self._send_more():
                    selector.unregister(self._process.stdin)
                if self._process.stdout in ready:
                    chunk = os.read(self._process.stdout.fileno(), 1 << 16)
                    if not chunk or len(self._buffer) > _LONGEST_LINE:
                        return b""
                    self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _send_more(self) -> bool:
        """Sends what the pipe takes; whether something is left. A process that is gone shows in its output."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            written = os.write(self._process.stdin.fileno(), self._unsent[: 1 << 16])
        except BrokenPipeError:
            self._unsent = memoryview(b"")
        else:
            self._unsent = self._unsent[written:]
        return bool(self._unsent)

    def _understand(self, line: bytes, *, job: int, elapsed_ms: int) -> Message:
        try:
            answer = json.loads(line)
            kind = answer["type"]
            if answer["job"] != job:
                raise ValueError(f"an answer to job {answer['job']}")
        except (ValueError, KeyError, TypeError) as error:
            return Ended(end=End.CRASHED, elapsed_ms=elapsed_ms, detail={"reason": f"not understood: {error}"})
        if kind == "draw":
            return DrawFound(document=answer["draw"], elapsed_ms=elapsed_ms)
        if kind == "out_of_memory":
            return Ended(end=End.CRASHED, elapsed_ms=elapsed_ms, detail={"reason": "out of memory"})
        return Ended(end=End(kind), elapsed_ms=elapsed_ms, detail=answer)

    def _exit_reason(self) -> str:
        assert self._process is not None
        try:
            code = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return "closed its output"
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
