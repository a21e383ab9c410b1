"""Waiting for a system that is away for a moment: restarted, killed, or on the other side of a bad network."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from qisai.errors import Unavailable

T = TypeVar("T")


def patiently(call: Callable[[], T], *, seconds: float = 180.0) -> T:
    """What `call` returns, tried again while the system is away. Only for calls that may safely be made twice."""
    end = time.monotonic() + seconds
    while True:
        try:
            return call()
        except Unavailable:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
