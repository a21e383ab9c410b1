"""The Flask application every service starts from: request ids, problems, rights, health, metrics, API description."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Final

import structlog
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from flask import Flask, Response, current_app, g, request
from flask_openapi3 import APIBlueprint, Info, OpenAPI
from pydantic import ValidationError
from werkzeug.exceptions import UnsupportedMediaType

import qisai
from qisai import settings, telemetry
from qisai.db.session import DATABASE_AWAY, Database
from qisai.errors import Invalid, Unavailable
from qisai.web import assertion, health, identity, metrics, problems, rights
from qisai.web.bodies import WholeRequest

log = structlog.get_logger()

DATABASE: Final = "qisai.database"
"""Under which name a service's application keeps its `Database`."""

SECURITY_SCHEMES: Mapping[str, Any] = {
    "token": {"type": "http", "scheme": "bearer"},
    "session": {"type": "apiKey", "in": "cookie", "name": "qisai_session"},
}


def make_app(name: str, *, max_body_bytes: int, blueprints: Iterable[APIBlueprint] = ()) -> OpenAPI:
    """An application with problems, request ids, limits and metrics, but without identity.

    Services use `make_service`; the gateway adds its own identity.
    """
    app = OpenAPI(
        f"qisai-{name}",
        info=Info(title=f"qisai {name}", version=qisai.__version__),
        security_schemes=dict(SECURITY_SCHEMES),
        validation_error_callback=_bad_request,
        doc_ui=False,
        static_folder=None,  # a folder served to anybody would be a route without a declared right
    )
    app.request_class = WholeRequest
    app.config["MAX_CONTENT_LENGTH"] = max_body_bytes
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    app.ensure_sync = _as_it_is  # type: ignore[method-assign, assignment]
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # it would redirect, in HTML, to whatever host the caller named
    problems.install(app)
    metrics.install(app, service=name)
    _trace_requests(app)
    for blueprint in blueprints:
        app.register_api(blueprint)
    return app


def make_service(
    name: str,
    *,
    database: Database,
    assertion_public_key: str,
    max_body_bytes: int,
    blueprints: Iterable[APIBlueprint],
) -> OpenAPI:
    """A service behind the gateway. Raises `RuntimeError` where a route declares no right."""
    app = make_app(name, max_body_bytes=max_body_bytes, blueprints=blueprints)
    health.install(app, database=database)
    public_key = load_pem_public_key(assertion_public_key.encode())

    @app.get("/internal/openapi.json")
    @rights.requires(rights.Right.INTERNAL)
    def api_description() -> Any:
        return app.api_doc

    @app.before_request
    def identify() -> None:
        if request.url_rule is None:
            return  # 404 and 405 are answered without telling more
        declared = rights.declaration_of(app.view_functions[request.url_rule.endpoint])
        if declared is None:
            raise RuntimeError(f"{request.url_rule.rule} has no declared right")
        if declared.right is rights.Right.INTERNAL:
            return
        said = assertion.verify(
            request.headers.get(assertion.HEADER), public_key=public_key, method=request.method, path=request.path
        )
        telemetry.request_id.set(said.request_id)
        refuse_broken_json()
        try:
            _admit(database, said, declared)
        except Unavailable as away:
            if away.slug != DATABASE_AWAY:
                raise
            # These are reads, so they may be made twice: a connection that was cut since its last use costs nobody a
            # request, and the pool has dropped the others cut with it before anything is written.
            _admit(database, said, declared)

    rights.refuse_undeclared(app)
    return app


def service_from_environment(name: str, *, blueprints: Iterable[APIBlueprint]) -> tuple[OpenAPI, Database]:
    """A service behind the gateway and its database, with settings from the environment; logging is set up.

    Raises `Invalid` naming a setting that is missing, `RuntimeError` where a route declares no right.
    """
    telemetry.set_up_logging(name)
    found = settings.service_settings(name)
    database = Database(found.database_url, application=name)
    os.register_at_fork(after_in_child=database.dispose_after_fork)
    app = make_service(
        name,
        database=database,
        assertion_public_key=found.assertion_public_key,
        max_body_bytes=found.max_body_bytes,
        blueprints=blueprints,
    )
    app.extensions[DATABASE] = database
    return app, database


def _admit(database: Database, said: assertion.Assertion, declared: rights.Declaration) -> None:
    """Loads the caller and the event this is about, and tests the right. Raises what `identity` raises."""
    with database.reading() as connection:
        event_of = declared.event_of or rights.EVENT_ITSELF
        g.caller, event = identity.identify(connection, said, event_of, request.view_args or {})
        g.event = event
        identity.authorise(
            connection,
            g.caller,
            right=declared.right,
            method=request.method,
            event_id=None if event is None else event.id,
            event=event,
        )


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    """No view of ours is a coroutine: Flask would look again, at each request, at each function it calls."""
    return function


def _bad_request(error: ValidationError) -> Response:
    return problems.from_validation(error)


def refuse_broken_json() -> None:
    """A body that claims to be JSON and is not gets the place where it breaks, not a complaint about its fields.

    One that claims to be something else is refused where JSON is read: what it says would else be passed over, and
    with a body that may be left out the rest would be done.
    """
    if not request.content_length:
        return
    if not request.is_json:
        if request.endpoint is not None and _reads_json(current_app.view_functions[request.endpoint]):
            raise UnsupportedMediaType("Send JSON, with Content-Type: application/json.")
        return
    request.get_data(cache=True)  # one that breaks off is no fault of the JSON
    try:
        request.get_json(cache=True)
    except RecursionError:
        raise Invalid("bad-json", "The body is nested too deeply.") from None
    except Exception as error:  # werkzeug wraps the decoder's error in a BadRequest
        cause = error.__cause__ or error
        raise Invalid("bad-json", f"The body is not valid JSON: {cause}") from error


@cache
def _reads_json(view: Callable[..., Any]) -> bool:
    """Whether a view has a body with a schema."""
    return "body" in inspect.signature(view).parameters


def _is_health_check() -> bool:
    return request.url_rule is not None and request.url_rule.rule.startswith(("/healthz", "/readyz", "/metrics"))


def _trace_requests(app: Flask) -> None:
    @app.before_request
    def begin() -> None:
        g.began = time.perf_counter()
        telemetry.request_id.set(telemetry.new_request_id(request.headers.get(telemetry.REQUEST_ID_HEADER)))

    @app.after_request
    def end(response: Response) -> Response:
        response.headers[telemetry.REQUEST_ID_HEADER] = telemetry.request_id.get()
        if response.status_code != 304 and not _is_health_check():
            log.info(
                "request",
                method=request.method,
                path=problems.path_for_log(),
                status=response.status_code,
                ms=round((time.perf_counter() - g.get("began", time.perf_counter())) * 1000, 1),
            )
        return response
