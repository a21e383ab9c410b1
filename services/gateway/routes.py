"""Which public route is answered by which service. What does not stand here is 404: nothing is passed on by default.

Patterns are those of the URL map; ids are whole numbers, so that a path is plain ASCII and the same on both sides of
the signature. How to add a route: docs/how-to/add-a-route.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule

API: Final = "/api/v1"


class Upstream(StrEnum):
    """The services behind the gateway that answer public routes."""

    REGISTRATION = "registration"
    RESULTS = "results"


@dataclass(frozen=True, slots=True)
class Route:
    """One path with its methods and the service that answers it."""

    methods: tuple[str, ...]
    pattern: str
    upstream: Upstream


_EVENT: Final = "/events/<int:event_id>"
_ENTRANT: Final = f"{_EVENT}/entrants/<int:entrant_id>"
_ROUND: Final = f"{_EVENT}/rounds/<int:round_no>"
_DRAW: Final = f"{_ROUND}/draws/<int:draw_no>"

_REGISTRATION: Final[Mapping[str, str]] = {
    "/profiles": "GET",
    "/profiles/<code>": "GET PATCH",
    "/profiles/<code>/history": "GET",
    "/events": "GET POST",
    "/events/preview": "POST",
    _EVENT: "GET PATCH",
    f"{_EVENT}/open": "POST",
    f"{_EVENT}/close-registration": "POST",
    f"{_EVENT}/draft": "POST",
    f"{_EVENT}/archive": "POST",
    f"{_EVENT}/clone": "POST",
    f"{_EVENT}/registrations": "POST",
    "/registrations/<token>": "GET DELETE",
    f"{_EVENT}/entrants": "GET POST",
    _ENTRANT: "GET PATCH",
    f"{_ENTRANT}/transitions": "GET POST",
    f"{_EVENT}/entrants/bulk-transitions": "POST",
    f"{_EVENT}/entrants/bulk-transitions/<int:step_id>/undo": "POST",
    f"{_EVENT}/entrants/export": "GET",
    f"{_EVENT}/entrants/import": "POST",
    f"{_EVENT}/entrants/seat": "POST",
    f"{_EVENT}/check-in": "POST",
    f"{_EVENT}/lots": "GET POST",
    f"{_EVENT}/absences/<int:round_no>/<int:entrant_id>": "PUT DELETE",
    f"{_EVENT}/byes/<int:round_no>/<int:entrant_id>": "PUT DELETE",
    f"{_EVENT}/forbidden-pairs": "GET POST",
    f"{_EVENT}/forbidden-pairs/<int:pair_id>": "DELETE",
    f"{_EVENT}/forbidden-pairs/same-club": "POST DELETE",
    f"{_EVENT}/attendance/<int:round_no>": "GET POST",
    f"{_EVENT}/attendance/<int:round_no>/deadline": "PUT DELETE",
    f"{_EVENT}/attendance/<int:round_no>/<int:entrant_id>": "PUT DELETE",
    f"{_EVENT}/fixed-boards/<int:entrant_id>": "PUT",
}

_RESULTS: Final[Mapping[str, str]] = {
    f"{_EVENT}/start": "POST",
    f"{_EVENT}/finish": "POST",
    f"{_EVENT}/reopen": "POST",
    f"{_EVENT}/rounds": "GET",
    _ROUND: "GET",
    f"{_ROUND}/draws": "GET POST",
    _DRAW: "GET PATCH",
    f"{_DRAW}/why/<int:number>": "GET",
    f"{_ROUND}/draws/manual": "POST",
    f"{_DRAW}/accept": "POST",
    f"{_DRAW}/publish": "POST",
    f"{_ROUND}/close": "POST",
    f"{_ROUND}/reopen": "POST",
    f"{_ROUND}/unpublish": "POST",
    f"{_ROUND}/clock": "POST",
    f"{_EVENT}/adjustments": "GET POST",
    f"{_EVENT}/adjustments/<int:adjustment_id>/take-back": "POST",
    f"{_ROUND}/boards": "GET",
    f"{_ROUND}/results": "PUT",
    "/jobs/<int:job_id>": "GET DELETE",
    "/boards/<int:board_id>": "GET",
    "/boards/<int:board_id>/result": "PUT",
    "/boards/<int:board_id>/correction": "PUT",
    "/boards/<int:board_id>/correction/preview": "POST",
    "/boards/<int:board_id>/log": "GET",
    f"{_EVENT}/log": "GET",
    f"{_EVENT}/log/csv": "GET",
    f"{_EVENT}/feed": "GET",
    f"{_EVENT}/alerts": "GET",
    f"{_EVENT}/standings": "GET",
    f"{_EVENT}/standings/<int:entrant_number>": "GET",
    f"{_EVENT}/crosstable": "GET",
    f"{_EVENT}/histories/<int:entrant_number>": "GET",
    f"{_EVENT}/exports/csv": "GET",
    f"{_EVENT}/exports/json": "GET",
    "/events/imports/json": "POST",
    "/ops/queue": "GET",
    "/ops/jobs": "GET",
    "/ops/jobs/<int:job_id>/cancel": "POST",
    "/ops/workers": "GET",
    "/ops/breakers": "GET",
    "/ops/breakers/<int:event_id>/reset": "POST",
    "/ops/alerts": "GET",
    "/ops/alerts/<int:alert_id>/acknowledge": "POST",
}


def _routes(table: Mapping[str, str], upstream: Upstream) -> tuple[Route, ...]:
    return tuple(Route(tuple(methods.split()), API + pattern, upstream) for pattern, methods in table.items())


ROUTES: Final = (*_routes(_REGISTRATION, Upstream.REGISTRATION), *_routes(_RESULTS, Upstream.RESULTS))
"""Every route that is passed on."""

_MAP: Final = Map(
    [Rule(route.pattern, methods=route.methods, endpoint=route.upstream.value) for route in ROUTES],
    strict_slashes=False,
).bind("gateway")


def upstream_of(method: str, path: str) -> Upstream | None:
    """The service that answers this call, None where none does."""
    try:
        endpoint, _values = _MAP.match(path, method=method)
    except HTTPException:
        return None
    return Upstream(endpoint)
