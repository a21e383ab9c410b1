"""Values kept in one process by the moment they are of, so that an answer of yesterday can never be found again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any


class KeptValues:
    """The `most` values used last. Safe for threads: of those who miss one key at once, one computes, the rest wait."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._computing: dict[Hashable, tuple[threading.Lock, list[int]]] = {}

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
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
        """Forgets everything."""
        with self._lock:
            self._values.clear()

    def _look(self, key: Hashable) -> tuple[bool, Any]:
        with self._lock:
            if key not in self._values:
                return False, None
            self._values.move_to_end(key)
            return True, self._values[key]

    def _keep(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    @contextmanager
    def _alone(self, key: Hashable) -> Iterator[None]:
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
