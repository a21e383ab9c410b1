"""How many rosters a process reads at once: a large one takes seconds of the processor, which other desks need too."""

from __future__ import annotations

import threading
from typing import Final

from qisai.errors import TooMany
from qisai.formats.roster import Roster, read_roster

AT_ONCE: Final = 2
PATIENCE: Final = 1.0
"""Seconds that a roster waits for its turn; longer, and those who wait would take all threads."""
TURNS: Final = threading.BoundedSemaphore(AT_ONCE)


def read_in_turn(content: bytes) -> Roster:
    """As `read_roster`. Raises `TooMany` `import-busy` too, while as many are being read as may be at once."""
    if not TURNS.acquire(timeout=PATIENCE):
        raise TooMany("import-busy", "Other rosters are being read; import this one in a few seconds.", retry_after=5)
    try:
        return read_roster(content)
    finally:
        TURNS.release()
