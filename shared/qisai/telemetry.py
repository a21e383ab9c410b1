"""Logs: one structured line an event, each with the request id that came in at the gateway.

Static event names, ids as fields; never names of people, contact data, passwords or tokens.
"""

from __future__ import annotations

import logging
import re
import sys
import uuid
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any, Final

import structlog

from qisai import settings

REQUEST_ID_HEADER: Final = "X-Request-ID"
_REQUEST_ID_FORM: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")

request_id: ContextVar[str] = ContextVar("request_id", default="-")
"""Id of the request (or of the request that asked for the job) that the current code works for."""


def new_request_id(offered: str | None = None) -> str:
    """The offered id where its form is acceptable (8–64 of letters, digits, `._-`), else a new one."""
    if offered and _REQUEST_ID_FORM.fullmatch(offered):
        return offered
    return uuid.uuid4().hex


def _add_request_id(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    event.setdefault("request_id", request_id.get())
    return event


def set_up_logging(process: str) -> None:
    """Sends structlog and the standard library's logging to stderr, one line an event, named after the process."""
    level = logging.getLevelNamesMapping().get((settings.read("QISAI_LOG_LEVEL", "info") or "info").upper(), 20)
    as_json = settings.read("QISAI_LOG_FORMAT", "text") == "json"

    def add_process(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
        event["process"] = process  # not a context variable: threads start with an empty context
        return event

    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        add_process,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_request_id,
    ]
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if as_json
        else structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"], drop_missing=True)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _format_exception,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)


def _format_exception(logger: Any, method: str, event: MutableMapping[str, Any]) -> Any:
    """A traceback without the rows that the database shows in the details of its errors: they are about people."""
    given = event.get("exc_info")
    error = given if isinstance(given, BaseException) else given[1] if isinstance(given, tuple) else sys.exc_info()[1]
    shown: Any = structlog.processors.format_exc_info(logger, method, event)
    seen: set[int] = set()
    while error is not None and "exception" in shown and id(error) not in seen:
        seen.add(id(error))
        detail = getattr(getattr(error, "diag", None), "message_detail", None)
        if detail:
            shown["exception"] = shown["exception"].replace(detail, "(left out)")
        error = error.__cause__ or error.__context__
    return shown
