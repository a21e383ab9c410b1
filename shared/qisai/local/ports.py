"""Free ports for servers of our own."""

from __future__ import annotations

import random
import socket
from collections import deque
from typing import Final

from qisai.errors import Unavailable

# Below the range from which systems take ports for outgoing connections, so that none of those lands on a port that was
# found free a moment ago.
_RANGE: Final = (20_000, 32_000)
_choose: Final = random.SystemRandom()
_held: Final[deque[socket.socket]] = deque(maxlen=64)
"""The ports given last, as long as this process lives: more than one installation has."""


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on that port now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens now. Raises `Unavailable` if none is found.

    Nobody else who asks this way gets it meanwhile: the server that is to listen there may take seconds to start.
    """
    for _ in range(500):
        port = _choose.randrange(*_RANGE)
        if _hold(port):
            return port
    raise Unavailable("no-free-port", f"no free port found between {_RANGE[0]} and {_RANGE[1]}")


def _hold(port: int) -> bool:
    """Takes a port without listening there. A server that may reuse addresses, as ours all may, binds it none the less;
    whoever looks for a port as here does not get it."""
    place = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        place.bind(("127.0.0.1", port))
    except OSError:
        place.close()
        return False
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _held.append(place)
    return True
