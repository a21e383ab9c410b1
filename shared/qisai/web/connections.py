"""Connections of a gevent worker: who sends too slowly is given up, and no address takes the place of all others.

gunicorn's own time-outs are for threads and for the pause between two requests; under gevent half a request would hold
its connection for ever, and a few thousand of them keep everybody else out.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import time
from collections import Counter
from typing import Any, Final

from gunicorn import util
from gunicorn.http.errors import NoMoreData
from werkzeug.datastructures import LanguageAccept

from qisai.web.unreadable import answer_of

SEND_SECONDS: Final = 15.0
"""So long a caller may keep us waiting, over all pieces of one request,"""
SEND_BYTES_A_SECOND: Final = 8192
"""and a second longer for each so many bytes that came."""
TAKE_SECONDS: Final = 120.0
"""Who takes nothing of an answer for so long is gone."""


class TooSlow(NoMoreData, TimeoutError):  # type: ignore[misc]
    """A request that did not come in time: for gunicorn its end, for an application a time-out."""


class _Caller:
    """A connection as gunicorn uses it, which waits only so long."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._between_requests = True
        self._left = SEND_SECONDS

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def recv(self, size: int) -> bytes:
        """The next piece. The first of a request may take as long as gunicorn keeps a connection that rests."""
        if self._between_requests:
            data: bytes = self._client.recv(size)
            self._between_requests, self._left = False, SEND_SECONDS
            return data
        began = time.monotonic()
        self._client.settimeout(max(self._left, 0.01))  # what came already is always taken
        try:
            data = self._client.recv(size)
        except TimeoutError as error:
            raise TooSlow from error
        finally:
            self._client.settimeout(None)
        self._left += len(data) / SEND_BYTES_A_SECOND - (time.monotonic() - began)
        return data

    def sendall(self, data: bytes) -> None:
        """Sends a piece of an answer, after which the next request may begin."""
        self._between_requests = True
        self._client.settimeout(TAKE_SECONDS)
        try:
            self._client.sendall(data)
        except TimeoutError as error:
            raise ConnectionResetError(errno.ECONNRESET, "the caller takes nothing") from error
        finally:
            self._client.settimeout(None)


def bound_connections(worker: Any, *, most: int) -> None:
    """Makes a gevent worker of gunicorn give up slow callers, and refuse an address more than `most` connections at
    once; 0 for any number."""
    handle = worker.handle
    held: Counter[str] = Counter()

    def bounded(listener: Any, client: Any, addr: Any) -> None:
        who = _neighbours(addr)
        if 0 < most <= held[who]:
            _refuse(client)
            return
        held[who] += 1
        try:
            handle(listener, _Caller(client), addr)
        finally:
            held[who] -= 1
            if not held[who]:
                del held[who]

    worker.handle = bounded


def _neighbours(addr: Any) -> str:
    """Who shares one count: an IPv4 address, an IPv6 network of 64 bits, which one customer has to itself."""
    host = str(addr[0]) if isinstance(addr, tuple) else ""
    if ":" not in host:
        return host
    address = ipaddress.IPv6Address(host.partition("%")[0])
    return str(address.ipv4_mapped or int(address) >> 64)


def _refuse(client: Any) -> None:
    with contextlib.suppress(OSError):
        util.write_nonblock(client, answer_of(429, LanguageAccept()))
    util.close(client)
