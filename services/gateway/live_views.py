"""The stream of an event's changes (server-sent events), for pages and programs."""

from __future__ import annotations

from typing import Annotated, Any, Final

import requests
from flask import Response, current_app, request
from flask_openapi3 import APIBlueprint, Tag
from pydantic import Field

from qisai.client.problems import raise_problem
from qisai.errors import Invalid, Unavailable
from qisai.web.rights import Right, requires
from qisai.web.shapes import EventPath, Query
from services.gateway.credentials import Credential
from services.gateway.live import LiveEvents, News, Read
from services.gateway.parts import Parts, credential, parts
from services.gateway.routes import API, Upstream

live = APIBlueprint("live", __name__, url_prefix=API, abp_tags=[Tag(name="events")])

_KEY: Final = "qisai-live"
MOST_MISSED: Final = 200
"""Who missed more than this is told to load the page anew."""


class StreamQuery(Query):
    after: Annotated[int | None, Field(ge=0, le=2**63 - 2)] = None
    """Feed number last seen; without it the stream begins now. The header `Last-Event-ID` goes before it."""


def live_events() -> LiveEvents:
    """The live events of the application under way."""
    found: LiveEvents = current_app.extensions.setdefault(_KEY, LiveEvents())
    return found


@live.get("/events/<int:event_id>/stream", summary="Changes of an event as they happen")
@requires(Right.PUBLIC)  # the results service decides at the viewer's own first read, and at each one for all
def stream(path: EventPath, query: StreamQuery) -> Response:
    """Server-sent events: one message a change of the feed, its id the feed number; `beat` while nothing happens,
    `reload` where too much was missed."""
    who = credential()
    messages = live_events().watch(
        path.event_id,
        after=_last_seen(query.after),
        read=_reader(parts(), who, path.event_id),
        who=who.account_id,
    )
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Response(messages, content_type="text/event-stream; charset=utf-8", headers=headers)


def _last_seen(after: int | None) -> int | None:
    header = request.headers.get("Last-Event-ID", "").strip()
    if not header:
        return after
    if not (header.isascii() and header.isdigit() and len(header) <= 18):
        raise Invalid("bad-cursor", "Last-Event-ID is not one of ours; start again without it.")
    return int(header)


def _reader(here: Parts, who: Credential, event_id: int) -> Read:
    """Reads the event's feed for one credential, from any thread."""
    path = f"{API}/events/{event_id}/feed"

    def read(feed_no: int) -> News:
        headers = {**here.sign(who, method="GET", path=path), "If-None-Match": f'W/"c{feed_no}"'}
        target = f"{path}?after={feed_no}&limit={MOST_MISSED}"
        answer = here.services[Upstream.RESULTS].send("GET", target, headers=headers)
        try:
            with answer:
                return _news(answer, feed_no)
        except requests.RequestException as error:
            raise Unavailable("service-away", "The service broke off its answer; try again.", retry_after=1) from error

    return read


def _news(answer: requests.Response, feed_no: int) -> News:
    if answer.status_code == 304:
        return News(changes=(), feed_no=feed_no)
    if answer.status_code >= 400:
        raise_problem(answer.status_code, {n.lower(): v for n, v in answer.headers.items()}, answer.content)
    body: dict[str, Any] = answer.json()
    return News(changes=body["items"], feed_no=body["feed_no"], is_all=body["next"] is None)
