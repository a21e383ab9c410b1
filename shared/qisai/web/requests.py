"""What views read from a request and write to a response, besides schemas: versions, cursors, feed ETags."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flask import Response, jsonify, request

from qisai.errors import Invalid, PreconditionMissing

_VERSION: Final = re.compile(r'"v(0|[1-9][0-9]{0,9})"')  # one way to write each version
MOST_VERSION: Final = 2**31 - 2
"""A version that can be seen: the next one must still fit its column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a view answers: a JSON body, a status, headers."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> Response:
        """As a Flask response."""
        response = jsonify(self.body) if self.status != 204 else Response(status=204)
        response.status_code = self.status
        response.headers.extend(dict(self.headers))
        return response


def version_seen() -> int:
    """The version in `If-Match: "v7"`.

    Raises `PreconditionMissing` (428) without the header and `Invalid` for a form that no resource has, such as a weak
    ETag of a list.
    """
    header = request.headers.get("If-Match")
    if header is None or not header.strip():
        raise PreconditionMissing(
            "version-needed", 'Say which version you saw: If-Match: "v…" with the version you read.'
        )
    match = _VERSION.fullmatch(header.strip())
    if match is None or int(match.group(1)) > MOST_VERSION:
        raise Invalid("bad-version", f'If-Match is {header[:40]!r}, but must look like "v7".')
    return int(match.group(1))


def version_tag(version: int) -> dict[str, str]:
    """Strong ETag header of a single resource."""
    return {"ETag": f'"v{version}"'}


def feed_answer(feed_no: int, build: Any, *, seen_by: str = "") -> Response:
    """A public read with a weak ETag of the event's feed number: 304 where the caller has it, else `build()`.

    `seen_by` goes into the tag where some see more than others: who gets a role does not keep what it saw without.
    """
    tag = f'W/"c{feed_no}{seen_by}"'
    seen = {part.strip() for part in request.headers.get("If-None-Match", "").split(",")}
    response: Response = Response(status=304) if tag in seen else build()
    response.headers["ETag"] = tag
    response.headers.setdefault("Cache-Control", "no-cache")
    # Staff see more than the public: a cache on the way must not give one the other's answer.
    response.vary.update(("Authorization", "Cookie"))
    return response


def encode_cursor(values: list[Any]) -> str:
    """An opaque cursor from the sort key of the last row shown."""
    return (
        base64.urlsafe_b64encode(json.dumps(values, separators=(",", ":"), default=str).encode()).decode().rstrip("=")
    )


def decode_cursor(cursor: str | None, *, length: int) -> list[Any] | None:
    """The sort key in a cursor of `encode_cursor`. Raises `Invalid` for anything else."""
    if not cursor:
        return None
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        values = None
    plain = isinstance(values, list) and all(isinstance(v, (int, str)) and not isinstance(v, bool) for v in values)
    if not isinstance(values, list) or not plain or len(values) != length:
        raise Invalid("bad-cursor", "The cursor is not one of ours; start again without it.")
    return values
