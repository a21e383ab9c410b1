"""Passing a request on to the service that answers it, and its answer back, piece by piece where it is long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import quote

import requests
from flask import Flask, Response, request

from qisai.errors import TooLarge, Unavailable
from qisai.web.problems import from_error
from qisai.web.rights import Right, requires
from services.gateway.parts import credential, parts
from services.gateway.routes import ROUTES, Upstream
from services.gateway.upstreams import READS

PASSED_ON: Final = ("Accept", "Accept-Language", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key")
"""Headers that reach a service. No other does: neither cookies nor anything that claims who calls."""
PASSED_BACK: Final = (
    "Allow", "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "ETag",
    "Idempotency-Replayed", "Last-Modified", "Location", "Retry-After", "Vary", "WWW-Authenticate",
)  # fmt: skip
ENDPOINT: Final = "passed_on."
"""How the endpoint of every route that is passed on begins."""
WHOLE_BYTES: Final = 256 << 10
"""Answers up to this length are read whole, so that the connection is free again at once."""
CHUNK_BYTES: Final = 64 << 10


def install(app: Flask) -> None:
    """Adds every route of the path table."""
    for number, route in enumerate(ROUTES):
        app.add_url_rule(
            route.pattern, endpoint=f"{ENDPOINT}{number}", methods=route.methods, view_func=_view(route.upstream)
        )


def _view(upstream: Upstream) -> Callable[..., Response]:
    @requires(Right.PUBLIC)  # who may do what is decided by the service, which sees the same signature in every case
    def pass_on(**_values: int) -> Response:
        return forward(upstream)

    return pass_on


def forward(upstream: Upstream) -> Response:
    """Sends the request under way to a service. Raises `Unavailable`, `TooLarge`."""
    here = parts()
    query = request.query_string.decode("latin-1")
    body = _whole_body()
    headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
    answer = here.services[upstream].send(
        request.method,
        quote(request.path) + (f"?{query}" if query else ""),  # a ? or # within the path stays part of it
        body=body or None,
        headers={**headers, **here.sign(credential(), method=request.method, path=request.path)},
    )
    if answer.status_code >= 400 and not answer.headers.get("Content-Type", "").startswith("application/problem+json"):
        answer.close()
        return from_error(
            Unavailable(
                "bad-answer", f"The {upstream.value} service answered {answer.status_code} in a way it should not."
            )
        )
    return _passed_back(answer)


def _whole_body() -> bytes:
    """The body, capped. Raises `TooLarge`: one sent in chunks would else silently end at the limit."""
    body = request.get_data(cache=False)
    most = request.max_content_length
    if request.content_length is None and most is not None and len(body) >= most:
        raise TooLarge("request-entity-too-large", f"The body has more than {most} bytes.")
    return body


def _passed_back(answer: requests.Response) -> Response:
    headers = [(name, answer.headers[name]) for name in PASSED_BACK if name in answer.headers]
    length = answer.headers.get("Content-Length", "")
    if request.method == "HEAD" or answer.status_code in (204, 304):
        answer.close()
        return _response(b"", answer.status_code, headers)
    if length.isdigit() and int(length) <= WHOLE_BYTES:
        with answer:
            content = answer.raw.read(decode_content=False)
        if len(content) != int(length):
            raise _broken_off()
        return _response(content, answer.status_code, headers)
    # No Content-Length here: a body made piece by piece is sent in chunks, and both together are refused by clients.
    return _response(_pieces(answer), answer.status_code, headers)


def _broken_off() -> Unavailable:
    if request.method in READS:
        return Unavailable("service-away", "The service broke off its answer; try again.", retry_after=1)
    return Unavailable(
        "answer-lost", "The service broke off its answer; look whether it was done before repeating it.", retry_after=1
    )


def _pieces(answer: requests.Response) -> Iterator[bytes]:
    """Pieces as they come. An answer that breaks off raises, so that the caller's connection breaks off too."""
    with answer:
        while piece := answer.raw.read1(CHUNK_BYTES, decode_content=False):
            yield piece


def _response(content: bytes | Iterator[bytes], status: int, headers: list[tuple[str, str]]) -> Response:
    response = Response(content, status=status)
    del response.headers["Content-Type"]
    response.headers.extend(headers)
    return response
