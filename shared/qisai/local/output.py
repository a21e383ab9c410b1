"""One readable log of many processes: every line with the name of the process that wrote it."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from typing import Final, TextIO

_COLOURS: Final = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
_RESET: Final = "\x1b[0m"
_KEPT: Final = 20_000


class Output:
    """Writes lines from a thread of its own, so that a terminal that stands still does not stop the platform.

    When the reader is too slow, lines are dropped and the next one says how many. A stream that is closed or full is
    given up quietly: the platform goes on.
    """

    def __init__(self, stream: TextIO, *, colour: bool, width: int = 12) -> None:
        self._stream = stream
        self._colour = colour
        self._width = width
        self._names: dict[str, int] = {}
        self._lines: queue.Queue[str | None] = queue.Queue(_KEPT)
        self._dropped = 0
        self._thread = threading.Thread(target=self._write, name="output", daemon=True)
        self._thread.start()

    def line(self, name: str, text: str) -> None:
        """One line of a process's log."""
        prefix = f"{name:<{self._width}} |"
        if self._colour:
            number = self._names.setdefault(name, len(self._names))
            prefix = f"\x1b[{_COLOURS[number % len(_COLOURS)]}m{prefix}{_RESET}"
        self._put(f"{prefix} {text}")

    def plain(self, text: str) -> None:
        """Text without a prefix, for what people are to read (the address)."""
        self._put(text)

    def close(self, *, seconds: float = 3.0) -> None:
        """Writes what is waiting, but no longer than `seconds`."""
        with suppress(queue.Full):
            if self._dropped:
                self._lines.put(self._notice(), timeout=seconds)
            self._lines.put(None, timeout=seconds)
        self._thread.join(timeout=seconds)

    def _notice(self) -> str:
        return f"({self._dropped} lines were dropped here: nobody read them in time)"

    def _put(self, text: str) -> None:
        try:
            if self._dropped:
                self._lines.put_nowait(self._notice())
                self._dropped = 0
            self._lines.put_nowait(text)
        except queue.Full:
            self._dropped += 1

    def _write(self) -> None:
        while (text := self._lines.get()) is not None:
            with suppress(OSError, ValueError):
                self._stream.write(text + "\n")
                if self._lines.empty():
                    self._stream.flush()
        with suppress(OSError, ValueError):
            self._stream.flush()
