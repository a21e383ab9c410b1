"""The verbs that every group of calls is made of: read, create, change, with versions and idempotency keys."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from qisai.client.transport import Reply, Request, Transport


class Calls:
    """One group of calls of the API, over one transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _get(self, path: str, **query: Any) -> Any:
        return self._transport.send(Request(method="GET", path=path, query=text_query(query))).json()

    def _create(
        self, path: str, body: Any = None, *, key: str | None = None, version: int | None = None, **query: Any
    ) -> Any:
        return self._create_reply(path, body, key=key, version=version, **query).json()

    def _create_reply(
        self, path: str, body: Any = None, *, key: str | None = None, version: int | None = None, **query: Any
    ) -> Reply:
        """POST with an `Idempotency-Key`: a caller who repeats it after a lost answer passes the key of the first.

        `version`: of what the new thing takes the place of.
        """
        seen = {} if version is None else {"If-Match": f'"v{version}"'}
        return self._transport.send(
            Request(
                method="POST",
                path=path,
                query=text_query(query),
                body={} if body is None else body,
                headers={"Idempotency-Key": key or uuid.uuid4().hex, **seen},
            )
        )

    def _write(self, method: str, path: str, body: Any = None, *, version: int | None = None, **query: Any) -> Any:
        """A write that says which version it saw."""
        headers = {} if version is None else {"If-Match": f'"v{version}"'}
        return self._transport.send(
            Request(method=method, path=path, query=text_query(query), body=body, headers=headers)
        ).json()


def text_query(query: Mapping[str, Any]) -> dict[str, str]:
    """Query parameters as text; None is left out."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }
