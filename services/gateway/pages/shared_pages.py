"""Pages that many look at once: when an event changes, a page is made once for all of the public who take it anew.

A page asks with `live`, the feed number it was told of. What is kept is of a moment no older than that: it was made
after the change was announced here. Where nobody looks at the event through this process, nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from flask import current_app, request

from qisai.web.kept_values import KeptValues
from services.gateway.live_views import live_events
from services.gateway.pages.language import language
from services.gateway.pages.site import viewer

View = TypeVar("View", bound=Callable[..., Any])

_KEY: Final = "qisai-shared-pages"
MOST_PAGES: Final = 32
NOTE_COOKIE: Final = "qisai_note"
"""Of somebody who is shown a note once, which is nobody else's business."""


def shared_while_live(view: View) -> View:
    """Makes the page of an event once for each change and all of the public, in each language."""

    @wraps(view)
    def page(event_id: int, **values: Any) -> Any:
        announced = live_events().announced(event_id)
        asked = request.args.get("live", default=0, type=int)
        if not 0 < asked <= announced or viewer().is_signed_in or NOTE_COOKIE in request.cookies:
            return view(event_id=event_id, **values)
        query = urlencode(sorted((name, value) for name, value in request.args.items(multi=True) if name != "live"))
        kept: KeptValues = current_app.extensions.setdefault(_KEY, KeptValues(MOST_PAGES))
        return kept.get((request.path, query, language(), announced), lambda: view(event_id=event_id, **values))

    return page  # type: ignore[return-value]
