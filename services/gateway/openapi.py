"""One OpenAPI 3.1 document of the public API, merged from what the services say of themselves and the gateway's own."""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import requests
from flask import Flask, Response, current_app, jsonify

import qisai
from qisai.errors import Unavailable
from qisai.web.app import SECURITY_SCHEMES
from qisai.web.rights import Right, requires
from services.gateway.parts import Parts, parts
from services.gateway.routes import API, ROUTES, Upstream
from services.gateway.upstreams import Service

_FRESH_SECONDS: Final = 30.0
_METHODS: Final = frozenset({"get", "put", "post", "delete", "patch", "head"})
_CONVERTER: Final = re.compile(r"<(?:\w+:)?(\w+)>")
_KEY: Final = "qisai-openapi"

Document = dict[str, Any]

PROBLEM: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "What went wrong (RFC 9457). `type` ends in a slug that never changes its meaning.",
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:qisai:problem:stale"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "For people, in the language of Accept-Language."},
        "instance": {"type": "string", "description": "Id of the request, as in the logs."},
        "context": {"type": "object", "description": "Values that belong to the slug."},
        "errors": {
            "type": "array",
            "description": "One entry for each bad value.",
            "items": {
                "type": "object",
                "properties": {
                    "pointer": {"type": "string", "description": "JSON pointer into the body."},
                    "detail": {"type": "string"},
                    "slug": {"type": "string"},
                },
            },
        },
        "blockers": {
            "type": "array",
            "description": "With 409: what stands in the way, and what to do about it.",
            "items": {
                "type": "object",
                "properties": {"slug": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
        "current": {
            "type": "object",
            "description": "With 412: the present value, with version, updated_by and updated_at.",
        },
    },
}
_PARAMETERS: Final[Mapping[str, Any]] = {
    "IfMatch": {
        "name": "If-Match",
        "in": "header",
        "required": False,
        "description": 'The version seen, as in "v7". Writes to a versioned thing need it: 428 without, 412 if stale.',
        "schema": {"type": "string"},
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "The same key and body again gets the first answer; kept 24 hours.",
        "schema": {"type": "string", "maxLength": 128},
    },
}


@dataclass(slots=True)
class Descriptions:
    """What each service last said of itself; kept while it is away."""

    known: dict[Upstream, tuple[float, Document]] = field(default_factory=dict)

    def of(self, upstream: Upstream, service: Service) -> Document:
        """A service's own document. Raises `Unavailable` where it is away and was never asked before."""
        asked_at, document = self.known.get(upstream, (float("-inf"), None))
        if document is not None and time.monotonic() - asked_at < _FRESH_SECONDS:
            return document
        try:
            answer = service.session.get(f"{service.base_url}/internal/openapi.json", timeout=(1.0, 5.0))
            answer.raise_for_status()
            document = answer.json()
        except (requests.RequestException, ValueError) as error:
            if document is None:
                raise Unavailable("service-away", f"The {service.name} service does not answer.") from error
        self.known[upstream] = (time.monotonic(), document)
        return document


def install(app: Flask) -> None:
    """Adds `/api/v1/openapi.json`."""
    app.extensions[_KEY] = Descriptions()
    app.add_url_rule(f"{API}/openapi.json", view_func=api_description)


@requires(Right.PUBLIC)
def api_description() -> Response:
    """The document itself."""
    return jsonify(merged(parts()))


def merged(here: Parts) -> Document:
    """The whole public API. Raises `Unavailable` where a service never said what it offers."""
    descriptions: Descriptions = current_app.extensions[_KEY]
    document = _frame()
    _add(document, copy.deepcopy(current_app.api_doc), offered=None, prefix="Gateway")  # type: ignore[attr-defined]
    for upstream, service in here.services.items():
        own = copy.deepcopy(descriptions.of(upstream, service))
        _add(document, own, offered=_offered(upstream), prefix=upstream.value.capitalize())
    document["paths"] = dict(sorted(document["paths"].items()))
    document["tags"] = [{"name": name} for name in sorted({tag for op in _operations(document) for tag in op["tags"]})]
    return document


def template(pattern: str) -> str:
    """A pattern of the URL map as a path of OpenAPI."""
    return _CONVERTER.sub(r"{\1}", pattern)


def _frame() -> Document:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "qisai",
            "version": qisai.__version__,
            "description": "Tournaments of a board-game association. Times are RFC 3339 UTC, points are decimals.",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {"session": []}, {}],
        "tags": [],
        "paths": {},
        "components": {
            "schemas": {"Problem": copy.deepcopy(dict(PROBLEM))},
            "parameters": copy.deepcopy(dict(_PARAMETERS)),
            "responses": {
                "Problem": {
                    "description": "A problem",
                    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
                }
            },
            "securitySchemes": copy.deepcopy(dict(SECURITY_SCHEMES)),
        },
    }


def _offered(upstream: Upstream) -> frozenset[tuple[str, str]]:
    return frozenset(
        (method.lower(), template(route.pattern))
        for route in ROUTES
        if route.upstream is upstream
        for method in route.methods
    )


def _add(document: Document, own: Document, *, offered: frozenset[tuple[str, str]] | None, prefix: str) -> None:
    """Adds those operations of a document that the gateway offers, with the schemas they need."""
    schemas = own.get("components", {}).get("schemas", {})
    for name in [name for name, schema in schemas.items() if _clashes(document, name, schema)]:
        schemas[prefix + name] = schemas.pop(name)
        _rename(own, f"#/components/schemas/{name}", f"#/components/schemas/{prefix}{name}")
    document["components"]["schemas"].update(schemas)
    for path, operations in own.get("paths", {}).items():
        kept = {
            method: _with_problems(method, operation, prefix)
            for method, operation in operations.items()
            if method in _METHODS and (offered is None or (method, path) in offered) and path.startswith(API)
        }
        if kept:
            document["paths"].setdefault(path, {}).update(kept)


def _clashes(document: Document, name: str, schema: Any) -> bool:
    present = document["components"]["schemas"].get(name)
    return present is not None and present != schema


def _rename(value: Any, old: str, new: str) -> None:
    if isinstance(value, dict):
        if value.get("$ref") == old:
            value["$ref"] = new
        for item in value.values():
            _rename(item, old, new)
    elif isinstance(value, list):
        for item in value:
            _rename(item, old, new)


def _with_problems(method: str, operation: Document, prefix: str) -> Document:
    problem = {"$ref": "#/components/responses/Problem"}
    successes = {status: response for status, response in operation.get("responses", {}).items() if str(status) < "400"}
    operation["responses"] = {**(successes or {"200": {"description": "OK"}}), "4XX": problem, "5XX": problem}
    operation.setdefault("tags", [prefix.lower()])
    if operation.get("operationId"):
        operation["operationId"] = f"{prefix.lower()}_{operation['operationId']}"
    names = {"put": ["IfMatch"], "patch": ["IfMatch"], "post": ["IfMatch", "IdempotencyKey"]}.get(method, [])
    given = {parameter.get("name") for parameter in operation.get("parameters", ())}
    added = [{"$ref": f"#/components/parameters/{name}"} for name in names if _PARAMETERS[name]["name"] not in given]
    if added:
        operation["parameters"] = [*operation.get("parameters", ()), *added]
    return operation


def _operations(document: Document) -> Iterator[Document]:
    for operations in document["paths"].values():
        yield from operations.values()
