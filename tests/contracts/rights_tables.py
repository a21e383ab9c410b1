"""Who may call what, written down route by route, apart from the code: a new route fails the test until it stands here.

Letters: P the public, N a signed-in account without any role, A administrator, O organiser, C chief referee, R referee,
D desk (the last four in this event), X ops, W an organiser everywhere, who creates events and organises only their own.
`internal`: not reachable through the gateway, needs no assertion.
"""

from __future__ import annotations

from typing import Final

EVERYBODY: Final = "PNAOCRDXW"
STAFF: Final = "AOCRD"
INTERNAL: Final = "internal"

INTERNAL_ROUTES: Final = {
    "GET /healthz": INTERNAL,
    "GET /readyz": INTERNAL,
    "GET /metrics": INTERNAL,
    "GET /internal/openapi.json": INTERNAL,
}

RESULTS: Final[dict[str, str]] = {
    **INTERNAL_ROUTES,
    "GET /api/v1/events/<event_id>/rounds": EVERYBODY,
    "GET /api/v1/events/<event_id>/rounds/<round_no>": EVERYBODY,
    "GET /api/v1/events/<event_id>/rounds/<round_no>/boards": EVERYBODY,
    "POST /api/v1/events/<event_id>/rounds/<round_no>/close": "AC",
    "POST /api/v1/events/<event_id>/rounds/<round_no>/reopen": "AC",
    "POST /api/v1/events/<event_id>/rounds/<round_no>/unpublish": "AC",
    "POST /api/v1/events/<event_id>/rounds/<round_no>/clock": "AC",
    "GET /api/v1/events/<event_id>/adjustments": STAFF,
    "POST /api/v1/events/<event_id>/adjustments": "AC",
    "POST /api/v1/events/<event_id>/adjustments/<adjustment_id>/take-back": "AC",
    "POST /api/v1/events/<event_id>/rounds/<round_no>/draws": "AC",
    "GET /api/v1/events/<event_id>/rounds/<round_no>/draws": "AC",
    "GET /api/v1/events/<event_id>/rounds/<round_no>/draws/<draw_no>": "AC",
    "POST /api/v1/events/<event_id>/rounds/<round_no>/draws/<draw_no>/accept": "AC",
    "POST /api/v1/events/<event_id>/rounds/<round_no>/draws/<draw_no>/publish": "AC",
    "PATCH /api/v1/events/<event_id>/rounds/<round_no>/draws/<draw_no>": "AC",
    "POST /api/v1/events/<event_id>/rounds/<round_no>/draws/manual": "AC",
    "GET /api/v1/jobs/<job_id>": "AOCX",
    "DELETE /api/v1/jobs/<job_id>": "AC",
    "GET /api/v1/boards/<board_id>": EVERYBODY,
    "PUT /api/v1/boards/<board_id>/result": "ACR",
    "POST /api/v1/boards/<board_id>/correction/preview": "AC",
    "PUT /api/v1/events/<event_id>/rounds/<round_no>/results": "ACR",
    "GET /api/v1/boards/<board_id>/log": STAFF,
    "GET /api/v1/events/<event_id>/standings": EVERYBODY,
    "GET /api/v1/events/<event_id>/standings/<entrant_number>": EVERYBODY,
    "GET /api/v1/events/<event_id>/crosstable": EVERYBODY,
    "GET /api/v1/events/<event_id>/histories/<entrant_number>": EVERYBODY,
    "GET /api/v1/events/<event_id>/exports/csv": EVERYBODY,
    "POST /api/v1/events/<event_id>/start": "AOC",
    "POST /api/v1/events/<event_id>/finish": "AOC",
    "POST /api/v1/events/<event_id>/reopen": "AOC",
    "GET /api/v1/events/<event_id>/feed": EVERYBODY,
    "GET /api/v1/events/<event_id>/log": STAFF,
    "GET /api/v1/events/<event_id>/log/csv": STAFF,
    "GET /api/v1/events/<event_id>/exports/json": EVERYBODY,
    "POST /api/v1/events/imports/json": "AW",
    "GET /api/v1/ops/queue": "AX",
    "GET /api/v1/ops/jobs": "AX",
    "GET /api/v1/ops/workers": "AX",
    "GET /api/v1/ops/breakers": "AX",
    "POST /api/v1/ops/breakers/<event_id>/reset": "AX",
    "GET /api/v1/ops/alerts": "AX",
    "POST /api/v1/ops/alerts/<alert_id>/acknowledge": "AX",
}

_DESK: Final = "AOD"
REGISTRATION: Final[dict[str, str]] = {
    **INTERNAL_ROUTES,
    "GET /api/v1/profiles": EVERYBODY,
    "GET /api/v1/events": EVERYBODY,
    "POST /api/v1/events": "AW",
    "GET /api/v1/events/<event_id>": EVERYBODY,
    "PATCH /api/v1/events/<event_id>": "AO",
    "POST /api/v1/events/<event_id>/open": "AO",
    "POST /api/v1/events/<event_id>/close-registration": "AO",
    "POST /api/v1/events/<event_id>/draft": "AO",
    "POST /api/v1/events/<event_id>/archive": "AO",
    "GET /api/v1/events/<event_id>/entrants": EVERYBODY,
    "POST /api/v1/events/<event_id>/entrants": _DESK,
    "GET /api/v1/events/<event_id>/entrants/<entrant_id>": EVERYBODY,
    "PATCH /api/v1/events/<event_id>/entrants/<entrant_id>": _DESK,
    "GET /api/v1/events/<event_id>/entrants/<entrant_id>/transitions": STAFF,
    "POST /api/v1/events/<event_id>/entrants/<entrant_id>/transitions": "AOCD",
    "POST /api/v1/events/<event_id>/entrants/bulk-transitions": "AOCD",
    "POST /api/v1/events/<event_id>/entrants/import": _DESK,
    "POST /api/v1/events/<event_id>/entrants/seat": _DESK,
    "POST /api/v1/events/<event_id>/check-in": _DESK,
    "GET /api/v1/events/<event_id>/lots": EVERYBODY,
    "POST /api/v1/events/<event_id>/lots": "AOC",
    "PUT /api/v1/events/<event_id>/absences/<round_no>/<entrant_id>": _DESK,
    "DELETE /api/v1/events/<event_id>/absences/<round_no>/<entrant_id>": _DESK,
    "PUT /api/v1/events/<event_id>/byes/<round_no>/<entrant_id>": _DESK,
    "DELETE /api/v1/events/<event_id>/byes/<round_no>/<entrant_id>": _DESK,
    "GET /api/v1/events/<event_id>/forbidden-pairs": STAFF,
    "POST /api/v1/events/<event_id>/forbidden-pairs": _DESK,
    "DELETE /api/v1/events/<event_id>/forbidden-pairs/<pair_id>": _DESK,
    "PUT /api/v1/events/<event_id>/fixed-boards/<entrant_id>": _DESK,
}
