"""The API's description as a page, from the same document that machines read."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from flask import Blueprint, render_template

from qisai.web.rights import Right, requires
from services.gateway.openapi import merged
from services.gateway.parts import parts

pages = Blueprint("api_docs", __name__)


@pages.get("/api/v1/docs")
@requires(Right.PUBLIC)
def docs() -> str:
    """Every route with what it takes, by subject."""
    document = merged(parts())
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            groups[operation["tags"][0]].append(
                {
                    "method": method.upper(),
                    "path": path,
                    "summary": operation.get("summary", ""),
                    "description": operation.get("description", ""),
                    "parameters": [_resolved(document, p) for p in operation.get("parameters", ())],
                    "fields": _fields(document, operation),
                }
            )
    return render_template("api_docs.html", groups=sorted(groups.items()), info=document["info"])


def _fields(document: dict[str, Any], operation: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """Name, kind and whether it is needed, of each member of the JSON body."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = _resolved(document, content.get("schema", {}))
    needed = set(schema.get("required", ()))
    return [(name, _kind(document, part), name in needed) for name, part in schema.get("properties", {}).items()]


def _kind(document: dict[str, Any], schema: dict[str, Any]) -> str:
    schema = _resolved(document, schema)
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_kind(document, part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        return f"[{_kind(document, schema.get('items', {}))}]"
    return str(schema.get("const") or schema.get("type") or "any")


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """What a reference inside the document stands for."""
    reference = schema.get("$ref", "")
    if not reference.startswith("#/"):
        return schema
    found: Any = document
    for part in reference[2:].split("/"):
        found = found[part]
    return dict(found)
