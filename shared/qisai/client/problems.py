"""Problems of the API (RFC 9457) back as errors of `qisai.errors`: slug, detail, context, blockers, current value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, NoReturn

from qisai import errors

_PREFIX: Final = "urn:qisai:problem:"
_KINDS: Final[Mapping[int, type[errors.QisaiError]]] = {
    HTTPStatus.UNAUTHORIZED: errors.Unauthenticated,
    HTTPStatus.FORBIDDEN: errors.Forbidden,
    HTTPStatus.NOT_FOUND: errors.NotFound,
    HTTPStatus.GONE: errors.Gone,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: errors.TooLarge,
    HTTPStatus.PRECONDITION_REQUIRED: errors.PreconditionMissing,
}
_AWAY: Final = frozenset(
    {
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
        HTTPStatus.INTERNAL_SERVER_ERROR,
    }
)


def raise_problem(status: int, headers: Mapping[str, str], content: bytes) -> NoReturn:
    """Raises what the answer says. `headers` have lower-case names. An answer that is no problem is `Unavailable`."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    if not isinstance(body, dict) or not str(body.get("type", "")).startswith(_PREFIX):
        raise errors.Unavailable("not-our-answer", f"The server answered {status} without saying why.")
    raise error_of(status, headers, body)


def error_of(status: int, headers: Mapping[str, str], body: Mapping[str, Any]) -> errors.QisaiError:
    """The error that a problem's body stands for."""
    slug = str(body["type"]).removeprefix(_PREFIX)
    detail = str(body.get("detail") or body.get("title") or slug)
    context = {str(name): value for name, value in dict(body.get("context") or {}).items()}
    for reserved in ("slug", "detail", "blockers", "current", "errors", "retry_after"):
        context.pop(reserved, None)
    if status == HTTPStatus.CONFLICT:
        return errors.Conflict(slug, detail, blockers=_blockers(body), **context)
    if status == HTTPStatus.PRECONDITION_FAILED:
        return errors.Stale(slug, detail, current=dict(body.get("current") or {}), **context)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return errors.TooMany(slug, detail, retry_after=_pause(headers), **context)
    if status in _AWAY:
        return errors.Unavailable(slug, detail, retry_after=_pause(headers), **context)
    if status in _KINDS:
        return _KINDS[status](slug, detail, **context)
    faults = [
        errors.FieldError(
            pointer=str(e.get("pointer", "")), detail=str(e.get("detail", "")), slug=str(e.get("slug", ""))
        )
        for e in body.get("errors") or ()
    ]
    return errors.Invalid(slug, detail, errors=faults, **context)


def _blockers(body: Mapping[str, Any]) -> list[errors.Blocker]:
    return [
        errors.Blocker(
            slug=str(blocker.get("slug", "")),
            detail=str(blocker.get("detail", "")),
            context={name: value for name, value in blocker.items() if name not in ("slug", "detail")},
        )
        for blocker in body.get("blockers") or ()
    ]


def _pause(headers: Mapping[str, str]) -> int:
    text = headers.get("retry-after", "")
    return int(text) if text.isdigit() else 2
