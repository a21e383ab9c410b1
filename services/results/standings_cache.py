"""Standings already computed, by event, feed number and round: an answer of yesterday can never be found again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

Key = tuple[int, int, int, str]
"""Event, feed number, round after which, and in which form."""

MOST_ENTRIES: Final = 64
"""A crosstable of 500 entrants after nine rounds takes half a megabyte."""


class StandingsCache:
    """The `most` values used last. Safe for threads: of those who miss one key at once, one computes, the rest wait."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._tables: OrderedDict[Key, Any] = OrderedDict()
        self._computing: dict[Key, tuple[threading.Lock, list[int]]] = {}

    def get(self, key: Key, compute: Callable[[], Any]) -> Any:
        """The value under `key`, computed where it is not there. Whatever `compute` raises is raised, nothing kept."""
        found, value = self._look(key)
        if found:
            return value
        with self._alone(key):
            found, value = self._look(key)
            if not found:
                value = compute()
                self._keep(key, value)
            return value

    def clear(self) -> None:
        """Forgets everything; the next reader finds what the database keeps."""
        with self._lock:
            self._tables.clear()

    def _look(self, key: Key) -> tuple[bool, Any]:
        with self._lock:
            if key not in self._tables:
                return False, None
            self._tables.move_to_end(key)
            return True, self._tables[key]

    def _keep(self, key: Key, value: Any) -> None:
        with self._lock:
            self._tables[key] = value
            while len(self._tables) > self._most:
                self._tables.popitem(last=False)

    @contextmanager
    def _alone(self, key: Key) -> Iterator[None]:
        """One thread at a time for each key; the lock goes with the last who waited for it."""
        with self._lock:
            lock, waiting = self._computing.setdefault(key, (threading.Lock(), [0]))
            waiting[0] += 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                waiting[0] -= 1
                if not waiting[0]:
                    del self._computing[key]
