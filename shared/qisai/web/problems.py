"""Errors of the domain as `application/problem+json` (RFC 9457): the only file that knows both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import sqlalchemy as sa
import structlog
from flask import Flask, Response, request
from pydantic import ValidationError
from werkzeug.exceptions import ClientDisconnected, HTTPException

from qisai import errors, telemetry
from qisai.db.session import unavailable
from qisai.web.field_texts import field_text
from qisai.web.problem_texts import localised

log = structlog.get_logger()

STATUS: Final[Mapping[type[errors.QisaiError], HTTPStatus]] = {
    errors.Unauthenticated: HTTPStatus.UNAUTHORIZED,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.Gone: HTTPStatus.GONE,
    errors.Stale: HTTPStatus.PRECONDITION_FAILED,
    errors.TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.Invalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.PreconditionMissing: HTTPStatus.PRECONDITION_REQUIRED,
    errors.TooMany: HTTPStatus.TOO_MANY_REQUESTS,  # before the class it belongs to
    errors.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}

NOWHERE: Final = "There is nothing at this address."


def problem(
    slug: str,
    detail: str,
    *,
    status: int,
    context: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> Response:
    """A problem response in the caller's language. `members` are extension members such as `errors` or `blockers`."""
    context = dict(context or {})
    title, text = localised(slug, detail, context=context, languages=request.accept_languages)
    body = {
        "type": f"urn:qisai:problem:{slug}",
        "title": title,
        "status": int(status),
        "detail": text,
        "instance": telemetry.request_id.get(),
        **members,
    }
    if context:
        body["context"] = context
    # What a caller typed may hold halves of surrogate pairs, which no encoding has: never a 500 for naming them.
    content = json.dumps(body, ensure_ascii=False, default=str).encode(errors="replace")
    response = Response(content, status=int(status))
    response.content_type = "application/problem+json; charset=utf-8"
    response.headers.extend(dict(headers or {}))
    return response


def from_error(error: errors.QisaiError) -> Response:
    """The problem of a domain error."""
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), HTTPStatus.BAD_REQUEST)
    members: dict[str, Any] = {}
    headers: dict[str, str] = {}
    if isinstance(error, errors.Invalid) and error.errors:
        members["errors"] = [_fault(e.pointer, e.slug, e.detail, context=e.context) for e in error.errors]
    if isinstance(error, errors.Conflict) and error.blockers:
        members["blockers"] = [_blocker(blocker) for blocker in error.blockers]
    if isinstance(error, errors.Stale):
        members["current"] = error.current
        headers["ETag"] = f'"v{error.current["version"]}"' if "version" in error.current else ""
    if isinstance(error, errors.Unavailable):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return problem(error.slug, error.detail, status=status, context=error.context, headers=headers, **members)


def _blocker(blocker: errors.Blocker) -> dict[str, Any]:
    languages = request.accept_languages
    _title, detail = localised(blocker.slug, blocker.detail, context=blocker.context, languages=languages)
    return {"slug": blocker.slug, "detail": detail, **blocker.context}


def _fault(pointer: str, slug: str, detail: str, *, context: Mapping[str, Any]) -> dict[str, str]:
    text = field_text(slug, detail, context=context, languages=request.accept_languages)
    return {"pointer": pointer, "detail": text, "slug": slug}


def from_validation(error: ValidationError, *, place: str = "") -> Response:
    """The problem of a body, query or path that does not fit its schema: 422 with a JSON pointer for each place."""
    faults = [_of_schema(found, place) for found in error.errors(include_url=False)]
    return problem("invalid-request", "The request does not fit its form.", status=422, errors=faults)


_MOST_GIVEN: Final = 20
"""Characters of a wrong value that are told again."""
_OF_NUMBERS: Final[Mapping[str, str]] = {
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}
"""English for what pydantic finds wrong with a number, by its type."""


def _of_schema(found: Mapping[str, Any], place: str) -> dict[str, str]:
    """What pydantic found; of a text too short or too long it may speak as of a list."""
    slug, detail, context = found["type"], found["msg"], dict(found.get("ctx") or {})
    given = found["input"]
    if slug in _OF_NUMBERS:
        detail = _OF_NUMBERS[slug].format_map(context)
        # Only of numbers, which no secret is, and only what can be read at a glance.
        if isinstance(given, str | int | float) and 0 < len(str(given)) <= _MOST_GIVEN and not isinstance(given, bool):
            detail, context = f"{detail}, not “{given}”", {**context, "variant": "given", "given": given}
    if slug in ("too_short", "too_long") and isinstance(found["input"], str):
        slug = f"string_{slug}"
        detail = "String has too few characters" if slug == "string_too_short" else "String has too many characters"
    if slug == "string_too_short" and context.get("min_length") == 1:
        detail, context = "must be filled in", {**context, "variant": "empty"}
    return _fault(place + "".join(f"/{part}" for part in found["loc"]), slug, detail, context=context)


def path_for_log() -> str:
    """The path of the request under way; of one that holds a secret its rule."""
    secret = request.url_rule is not None and "token" in (request.view_args or {})
    return request.url_rule.rule if secret and request.url_rule is not None else request.path


def install(app: Flask) -> None:
    """Makes every error of the app a problem: never an HTML page, never a traceback."""

    @app.errorhandler(errors.QisaiError)
    def domain_error(error: errors.QisaiError) -> Response:
        return from_error(error)

    @app.errorhandler(HTTPException)
    def http_error(error: HTTPException) -> Response:
        status = error.code or 500
        slug = error.name.lower().replace(" ", "-").replace("'", "")  # werkzeug's names: Python's change by release
        allow = {"Allow": ", ".join(sorted(error.valid_methods))} if getattr(error, "valid_methods", None) else {}  # type: ignore[attr-defined]
        detail = NOWHERE if status == HTTPStatus.NOT_FOUND else error.description or HTTPStatus(status).phrase
        return problem(slug, detail, status=status, headers=allow)

    @app.errorhandler(ClientDisconnected)
    def broken_off(_error: ClientDisconnected) -> Response:
        detail = "The request broke off before its announced length; nothing was changed. Send it again."
        return problem("body-cut", detail, status=400)

    @app.errorhandler(sa.exc.OperationalError)
    @app.errorhandler(sa.exc.InterfaceError)
    @app.errorhandler(sa.exc.TimeoutError)
    def database_error(error: Exception) -> Response:
        return from_error(unavailable(error))

    @app.errorhandler(Exception)
    def unexpected(error: Exception) -> Response:
        log.error("request.failed", path=path_for_log(), method=request.method, exc_info=error)
        return problem("internal-error", "Something went wrong here; it has been logged.", status=500)
