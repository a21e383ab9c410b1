"""Progress of long work, on standard error: quiet for what is done within a second."""

from __future__ import annotations

import sys
import time
from typing import Final

QUIET_SECONDS: Final = 1.0
"""Time before the first word, and between two."""


class Progress:
    """Says at most one line a second, and nothing about work that is quick."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def say(self, text: str) -> None:
        """Print `text` if a second has passed since the start or the last line."""
        now = time.monotonic()
        if now - self._last >= QUIET_SECONDS:
            self._last = now
            print(text, file=sys.stderr, flush=True)
