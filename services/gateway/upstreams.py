"""Calls to the services behind the gateway: pooled connections, time-outs, and failing fast while one is away.

A write is sent once. If its connection breaks, the caller is told whether it was sent at all: `service-away` (nothing
was changed) or `answer-lost` (look before repeating). A read is tried once more, since a pooled connection may have
been closed at the other end just when it was taken.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Final

import requests
import structlog
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NewConnectionError

from qisai.errors import Unavailable

log = structlog.get_logger()

POOL_SIZE: Final = 64
IDLE_SECONDS: Final = 30.0
"""A pooled connection idle for longer is closed, not used: services close theirs after 75 s (qisai.web.gunicorn)."""
CONNECT_SECONDS: Final = 2.0
READ_SECONDS: Final = 45.0
FAILURES_TO_REST: Final = 3
REST_SECONDS: Final = 1.0
READS: Final = frozenset({"GET", "HEAD"})


class _Rested:
    """Mixed into connection pools: a connection that lay idle too long is opened anew."""

    def _get_conn(self, timeout: float | None = None) -> Any:
        connection = super()._get_conn(timeout)  # type: ignore[misc]
        if time.monotonic() - getattr(connection, "qisai_used", time.monotonic()) > IDLE_SECONDS:
            connection.close()  # it connects again by itself
        return connection

    def _put_conn(self, connection: Any) -> None:
        if connection is not None:
            connection.qisai_used = time.monotonic()
        super()._put_conn(connection)  # type: ignore[misc]


class _AtOnce:
    """Mixed into connections: a request's head and body leave together, and the service wakes but once for them."""

    _held: list[bytes] | None = None

    def request(self, *arguments: Any, **named: Any) -> None:
        pieces: list[bytes] = []
        self._held = pieces
        try:
            super().request(*arguments, **named)  # type: ignore[misc]
        finally:
            self._held = None
        self.send(b"".join(pieces))

    def send(self, data: Any) -> None:
        if self._held is None:
            super().send(data)  # type: ignore[misc]
        else:
            self._held.append(data)


class _HttpConnection(_AtOnce, HTTPConnection):
    pass


class _HttpsConnection(_AtOnce, HTTPSConnection):
    pass


class _HttpPool(_Rested, HTTPConnectionPool):
    ConnectionCls = _HttpConnection


class _HttpsPool(_Rested, HTTPSConnectionPool):
    ConnectionCls = _HttpsConnection


def _pooled_session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False  # no proxy, no .netrc: only what settings say
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # one caller's cookie never meets another's
    adapter = HTTPAdapter(pool_connections=1, pool_maxsize=POOL_SIZE, max_retries=0)
    adapter.poolmanager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    session.headers.clear()
    return session


@dataclass(slots=True)
class Service:
    """One service behind the gateway. After a few failures in a row it is left alone for a moment."""

    name: str
    base_url: str
    read_seconds: float = READ_SECONDS
    failures: int = 0
    resting_until: float = 0.0
    session: requests.Session = field(default_factory=_pooled_session)
    _adapter: BaseAdapter = field(init=False)

    def __post_init__(self) -> None:
        self._adapter = self.session.get_adapter(self.base_url)

    def send(
        self,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        timeout: tuple[float, float] | None = None,
    ) -> requests.Response:
        """The service's answer, its body not read yet. `target`: path with query. Raises `Unavailable`."""
        if self.failures >= FAILURES_TO_REST and time.monotonic() < self.resting_until:
            raise self._away()
        prepared = _prepared(method, self.base_url + target, headers, body)
        attempts = 2 if method in READS else 1
        for attempt in range(1, attempts + 1):
            try:
                answer = self._adapter.send(
                    prepared, timeout=timeout or (CONNECT_SECONDS, self.read_seconds), stream=True
                )
            except requests.RequestException as error:
                self._failed(method, error)
                if _was_never_sent(error):
                    raise self._away() from error
                if isinstance(error, requests.Timeout) or attempt == attempts:
                    raise self._lost(method) from error
            else:
                self.failures = 0
                return answer
        raise AssertionError("the last attempt returns or raises")

    def _failed(self, method: str, error: Exception) -> None:
        self.failures += 1
        self.resting_until = time.monotonic() + REST_SECONDS
        log.warning("upstream.failed", service=self.name, method=method, error=type(error).__name__)

    def _away(self) -> Unavailable:
        return Unavailable(
            "service-away",
            f"The {self.name} service does not answer; nothing was changed. Try again in a moment.",
            retry_after=1,
            service=self.name,
        )

    def _lost(self, method: str) -> Unavailable:
        if method in READS:
            return self._away()
        return Unavailable(
            "answer-lost",
            f"The {self.name} service was asked, but its answer was lost; look whether it was done before repeating.",
            retry_after=1,
            service=self.name,
        )


def _prepared(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> requests.PreparedRequest:
    """A request as it is to be sent. A session would prepare it too: by merging what it remembers, which is nothing,
    and by rewriting an address that is well-formed already, for a third of what a call costs the gateway."""
    prepared = requests.PreparedRequest()
    prepared.method, prepared.url, prepared.body = method, url, body
    prepared.headers = CaseInsensitiveDict({"Accept-Encoding": "identity", **headers})
    if body is not None or method not in READS:
        prepared.headers["Content-Length"] = str(len(body or b""))
    return prepared


def _was_never_sent(error: Exception) -> bool:
    """Whether no byte of the request can have reached the service."""
    reason: Any = error.args[0] if error.args else None
    if isinstance(reason, MaxRetryError):
        reason = reason.reason
    return isinstance(error, requests.ConnectTimeout) or isinstance(reason, (NewConnectionError, ConnectTimeoutError))
