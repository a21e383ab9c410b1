"""Standings already computed, by event, feed number and round: an answer of yesterday can never be found again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

Key = tuple[int, int, int | None, str]
"""Event, feed number, round after which (None: all), and in which form."""

MOST_ENTRIES: Final = 128


class StandingsCache:
    """The `most` values used last. Safe for threads; two that miss at once may both compute, to the same value."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._tables: OrderedDict[Key, Any] = OrderedDict()

    def get(self, key: Key, compute: Callable[[], Any]) -> Any:
        """The value under `key`, computed where it is not there."""
        with self._lock:
            if key in self._tables:
                self._tables.move_to_end(key)
                return self._tables[key]
        table = compute()
        with self._lock:
            self._tables[key] = table
            self._tables.move_to_end(key)
            while len(self._tables) > self._most:
                self._tables.popitem(last=False)
        return table
