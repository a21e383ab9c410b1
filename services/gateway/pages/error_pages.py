"""Problems as pages for people: the same words, in the page's language, with a way on."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, g, render_template, request

from qisai.errors import NotFound, QisaiError, Unauthenticated
from qisai.web.problems import NOWHERE, from_error
from services.gateway.credentials import CSRF_FIELD, FORMS
from services.gateway.pages import fault_words
from services.gateway.pages.site import Viewer, viewer
from services.gateway.parts import credential


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
        if response.status_code == HTTPStatus.NOT_FOUND and _was_signed_in():
            response = from_error(Unauthenticated("signed-out", "Your sign-in has ended; sign in again."))
        if response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY and _is_of_the_address(response):
            response = from_error(NotFound("not-found", NOWHERE))
        problem: dict[str, Any] = json.loads(response.get_data())
        faults = [fault_words.fault_line(fault["pointer"], fault["detail"]) for fault in problem.get("errors") or ()]
        response.set_data(render_template("error.html", problem=problem, faults=faults, status=response.status_code))
        response.content_type = "text/html; charset=utf-8"
        response.headers.pop("WWW-Authenticate", None)
        return response


def _is_of_the_address(response: Response) -> bool:
    """Whether what is wrong stands in the path that was opened, of which nothing was typed into a form."""
    typed = {f"/{name}" for name in request.args}
    pointers = {fault["pointer"] for fault in json.loads(response.get_data()).get("errors") or ()}
    return request.method == "GET" and bool(pointers) and not pointers & typed


def _was_signed_in() -> bool:
    """Whether a sign-in that has ended came along: by a cookie, or by the token in the form of a page made for it."""
    if viewer().is_signed_in:
        return False
    return credential().is_dead or (request.mimetype in FORMS and bool(request.form.get(CSRF_FIELD)))


def _wants_page() -> bool:
    if request.path.startswith(("/api/", "/healthz", "/readyz", "/metrics", "/assets/")):
        return False
    # Named, not `*/*`: a program that takes anything gets the problem.
    return any(kind == "text/html" and quality > 0 for kind, quality in request.accept_mimetypes)
