"""The results service as it is, but for one more path that makes its process forget the tables it keeps in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from flask import Flask

from services.results.app import create_app

FORGET: Final = "/bench/forget"


def create_service() -> Flask:
    """The application."""
    app = create_app()
    inner, kept = app.wsgi_app, app.extensions["qisai.results"].standings

    def forgetting(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] != FORGET:
            return inner(environ, start_response)
        kept.clear()
        start_response("204 No Content", [])
        return []

    app.wsgi_app = forgetting  # type: ignore[method-assign]
    return app
