"""How requests of the typed client travel: a protocol, and the one that speaks HTTP to a gateway."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import requests
from requests.adapters import HTTPAdapter

from qisai.client.problems import raise_problem
from qisai.errors import Unavailable

READS: Final = frozenset({"GET", "HEAD"})
_ATTEMPTS: Final = 4
_LONGEST_PAUSE: Final = 2.0
_IDLE_SECONDS: Final = 30.0
"""A pooled connection unused for longer is not used again: the gateway closes its own after 75 seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of the API. `path` begins with `/api/v1`; `body` is JSON, or bytes with a `content_type`."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    def payload(self) -> bytes | None:
        """The body as it goes over the wire."""
        if self.body is None:
            return None
        if isinstance(self.body, bytes):
            return self.body
        return json.dumps(self.body, ensure_ascii=False).encode()

    def all_headers(self) -> dict[str, str]:
        """Headers with the content type where there is a body."""
        headers = dict(self.headers)
        if self.body is not None:
            headers["Content-Type"] = self.content_type
        return headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """The body as JSON values, None where there is no body. Raises `Unavailable` for anything that is no JSON."""
        if not self.content:
            return None
        try:
            return json.loads(self.content)
        except ValueError as error:
            raise Unavailable(
                "not-our-answer", f"The server answered {self.status} with something else than JSON."
            ) from error


class Transport(Protocol):
    """Carries requests to the API. Raises errors of `qisai.errors` for every problem it answers."""

    def send(self, request: Request) -> Reply: ...


class HttpTransport:
    """Speaks HTTP to a gateway, by API token or by the cookie of a sign-in (`Client.sign_in`).

    Reads are tried again for a few seconds where the gateway is away or busy. A write is sent once: where its answer
    is lost, `Unavailable` with the slug `answer-lost` says so, and the caller looks before writing again. Not meant to
    be shared between threads that sign in; with a token it may be.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        language: str = "en",
        device: str = "",
        connect_seconds: float = 3.0,
        read_seconds: float = 60.0,
        pool: int = 16,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.csrf_token: str | None = None
        self._timeout = (connect_seconds, read_seconds)
        self._session = requests.Session()
        self._session.trust_env = False  # neither proxies nor .netrc of the machine may change who calls and where to
        adapter = HTTPAdapter(pool_connections=1, pool_maxsize=pool, max_retries=0)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)
        self._session.headers.update({"Accept": "application/json", "Accept-Language": language})
        if token is not None:
            self._session.headers["Authorization"] = f"Bearer {token}"
        if device:
            self._session.headers["Qisai-Device"] = device
        self._last_used = time.monotonic()

    def send(self, request: Request) -> Reply:
        """The gateway's answer. Raises the error of `qisai.errors` that its problem stands for, or `Unavailable`."""
        attempts = _ATTEMPTS if request.method in READS else 1
        for attempt in range(1, attempts + 1):
            try:
                reply = self._once(request)
                if reply.status >= 400:
                    raise_problem(reply.status, reply.headers, reply.content)
            except Unavailable as error:
                if attempt == attempts:
                    raise
                time.sleep(min(error.retry_after, _LONGEST_PAUSE, 0.25 * 2**attempt))
            else:
                return reply
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Closes all connections."""
        self._session.close()

    def _once(self, request: Request) -> Reply:
        headers = request.all_headers()
        if request.method not in READS and self.csrf_token is not None:
            headers["X-CSRF-Token"] = self.csrf_token
        if time.monotonic() - self._last_used > _IDLE_SECONDS:
            self._session.close()  # opens again by itself
        self._last_used = time.monotonic()
        try:
            answer = self._session.request(
                request.method,
                self.base_url + request.path,
                params=dict(request.query),
                data=request.payload(),
                headers=headers,
                timeout=self._timeout,
                allow_redirects=False,
            )
        except requests.ConnectTimeout as error:
            raise Unavailable("gateway-away", f"{self.base_url} does not answer.") from error
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
            raise self._lost(request, error) from error
        return Reply(
            status=answer.status_code,
            headers={name.lower(): value for name, value in answer.headers.items()},
            content=answer.content,
        )

    def _lost(self, request: Request, error: requests.RequestException) -> Unavailable:
        never_sent = "NewConnectionError" in repr(error) or "NameResolutionError" in repr(error)
        if never_sent or request.method in READS:
            return Unavailable("gateway-away", f"{self.base_url} does not answer.")
        return Unavailable(
            "answer-lost", "The connection broke before the answer came; look whether it was done before trying again."
        )
