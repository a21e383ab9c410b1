"""Problems as pages for people: the same words, in the page's language, with a way on."""

from __future__ import annotations

import json
from typing import Any

from flask import Flask, Response, g, render_template, request

from qisai.errors import QisaiError
from services.gateway.pages.site import Viewer, viewer


def install(app: Flask) -> None:
    """Turns a problem into a page where a browser asked for a page outside the API."""

    @app.after_request
    def as_page(response: Response) -> Response:
        if response.mimetype != "application/problem+json" or not _wants_page():
            return response
        try:
            viewer()
        except QisaiError:  # the database is away: the page says so to whoever looks
            g.viewer = Viewer()
        problem: dict[str, Any] = json.loads(response.get_data())
        response.set_data(render_template("error.html", problem=problem, status=response.status_code))
        response.content_type = "text/html; charset=utf-8"
        response.headers.pop("WWW-Authenticate", None)
        return response


def _wants_page() -> bool:
    if request.path.startswith(("/api/", "/healthz", "/readyz", "/metrics", "/assets/")):
        return False
    # Named, not `*/*`: a program that takes anything gets the problem.
    return any(kind == "text/html" and quality > 0 for kind, quality in request.accept_mimetypes)
