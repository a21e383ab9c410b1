"""Reading the API's JSON into values: times, tuples, and pages of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

from qisai.client.transport import Request, Transport

Value = TypeVar("Value")
Json = Mapping[str, Any]


def moment(value: str | None) -> datetime | None:
    """A time of the API (RFC 3339, UTC), or None."""
    return None if value is None else datetime.fromisoformat(value)


def items(body: Any, read: Callable[[Json], Value]) -> tuple[Value, ...]:
    """The values of one list answer."""
    return tuple(read(item) for item in body["items"])


def all_items(
    transport: Transport, path: str, read: Callable[[Json], Value], *, query: Mapping[str, str] | None = None
) -> tuple[Value, ...]:
    """The values of every page of a list, following its cursors."""
    return tuple(read(item) for page in _pages(transport, path, dict(query or {})) for item in page)


def _pages(transport: Transport, path: str, query: dict[str, str]) -> Iterator[list[Json]]:
    while True:
        body = transport.send(Request(method="GET", path=path, query=query)).json()
        yield body["items"]
        if not body.get("next"):
            return
        query["cursor"] = body["next"]
