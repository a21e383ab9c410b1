"""Bodies of requests: whole, or refused. Half a roster is a roster too, so nobody may read where one broke off."""

from __future__ import annotations

from typing import Any

from flask import Request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import BadRequest, RequestTimeout


class WholeRequest(Request):
    """A request that is never read in part.

    Reading JSON, a form or a file raises werkzeug's `ClientDisconnected` where the body ends before its announced
    length, `BadRequest` for chunks that are none, `RequestTimeout` where the caller takes too long to send it.
    """

    def __init__(self, call: dict[str, Any], **options: Any) -> None:
        super().__init__(call, **options)
        if self.content_length is not None:
            # gunicorn claims that its input ends where the body does; it also ends where the caller hangs up. Without
            # the claim werkzeug compares what came with what was announced.
            call.pop("wsgi.input_terminated", None)
        call["wsgi.input"] = _Sent(call["wsgi.input"])


class _Sent:
    """What gunicorn reads from a caller, with its errors as answers."""

    def __init__(self, body: Any) -> None:
        self._body = body

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end."""
        try:
            data: bytes = self._body.read(size)
        except ParseException as error:
            raise BadRequest("The body is not sent in chunks as it claims.") from error
        except TimeoutError as error:
            raise RequestTimeout("The body was not sent in time; send it again.") from error
        return data
