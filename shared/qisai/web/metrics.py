"""Prometheus metrics of HTTP: by service, method, route pattern and status class; no unbounded labels."""

from __future__ import annotations

import time
from functools import cache
from typing import Final

from flask import Flask, Response, g, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.values import MultiProcessValue, ValueClass

from qisai.web.rights import Right, requires

REQUESTS = Counter("qisai_http_requests_total", "HTTP requests", ["service", "method", "route", "status"])
SECONDS = Histogram(
    "qisai_http_request_seconds",
    "Time from first byte read to last byte written, in seconds",
    ["service", "method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_requests = cache(REQUESTS.labels)
_seconds = cache(SECONDS.labels)
"""Of these labels; found again without the library's lock."""


def exposition() -> bytes:
    """All metrics of this service: of all its processes where they share a folder, else of this one."""
    registry = CollectorRegistry()
    if ValueClass is not None and ValueClass.__qualname__.startswith(MultiProcessValue.__qualname__):
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
    return generate_latest()


def install(app: Flask, *, service: str) -> None:
    """Counts and times every request, and serves `/metrics`."""

    @app.before_request
    def start() -> None:
        g.metrics_start = time.perf_counter()

    @app.after_request
    def count(response: Response) -> Response:
        route = request.url_rule.rule if request.url_rule is not None else "unknown"
        method = request.method if request.method in METHODS else "other"  # callers may make up as many as they like
        _requests(service, method, route, f"{response.status_code // 100}xx").inc()
        if "metrics_start" in g:
            _seconds(service, method, route).observe(time.perf_counter() - g.metrics_start)
        return response

    @app.get("/metrics")
    @requires(Right.INTERNAL)
    def metrics() -> Response:
        return Response(exposition(), content_type=CONTENT_TYPE_LATEST)
