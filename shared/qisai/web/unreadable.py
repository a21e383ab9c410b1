"""Requests that gunicorn refuses before an application sees them: problems like every other refusal, never its page."""

from __future__ import annotations

import json
from typing import Any

from gunicorn import util
from werkzeug.datastructures import LanguageAccept
from werkzeug.exceptions import default_exceptions
from werkzeug.http import parse_accept_header

from qisai import telemetry
from qisai.web.problem_texts import localised


class _Page:
    """Takes what gunicorn would send to the caller."""

    def __init__(self) -> None:
        self.content = b""

    def gettimeout(self) -> float:
        return 0.0

    def sendall(self, data: bytes) -> None:
        self.content += data

    @property
    def status(self) -> int:
        """The status that gunicorn chose."""
        return int(self.content.split(b" ", 2)[1])


def answer_with_problems(worker: Any) -> None:
    """Makes a worker of gunicorn, of whatever class, send problems where it would send a page in HTML."""
    refuse = worker.handle_error

    def handle_error(req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        page = _Page()
        refuse(req, page, addr, exc)
        try:
            util.write_nonblock(client, answer_of(page.status, _languages(req)))
        except OSError:
            worker.log.debug("The caller did not wait for the answer.")

    worker.handle_error = handle_error


def _languages(request: Any) -> LanguageAccept:
    headers = getattr(request, "headers", None) or ()
    asked = next((value for name, value in headers if name == "ACCEPT-LANGUAGE"), None)
    return parse_accept_header(asked, LanguageAccept)


def answer_of(status: int, languages: LanguageAccept) -> bytes:
    """The whole answer of a refusal; the connection ends with it, since nobody knows where the next request begins."""
    meant = default_exceptions[status]()
    slug = meant.name.lower().replace(" ", "-")
    title, detail = localised(slug, meant.description or meant.name, context={}, languages=languages)
    request_id = telemetry.new_request_id()
    body = {
        "type": f"urn:qisai:problem:{slug}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": request_id,
    }
    content = json.dumps(body, ensure_ascii=False).encode()
    head = (
        f"HTTP/1.1 {status} {meant.name}\r\nConnection: close\r\n"
        "Content-Type: application/problem+json; charset=utf-8\r\n"
        f"Content-Length: {len(content)}\r\n{telemetry.REQUEST_ID_HEADER}: {request_id}\r\n\r\n"
    )
    return head.encode("ascii") + content
