"""Calls about entrants: registration, check-in, seating, lots, absences."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from qisai.client.calls import Calls, text_query
from qisai.client.events import BulkChange, Entrant, ImportReport, Lots
from qisai.client.reading import all_items
from qisai.client.transport import Request


def _entrants_path(event_id: int) -> str:
    return f"/api/v1/events/{event_id}/entrants"


class EntrantCalls(Calls):
    """Entrants of an event."""

    def list(self, event_id: int, *, q: str | None = None, state: str | None = None) -> tuple[Entrant, ...]:
        """All entrants the caller may see, page by page."""
        query = {name: value for name, value in {"q": q, "state": state}.items() if value is not None}
        return all_items(self._transport, _entrants_path(event_id), Entrant.from_json, query={"limit": "1000", **query})

    def get(self, event_id: int, entrant_id: int) -> Entrant:
        """One entrant."""
        return Entrant.from_json(self._get(f"{_entrants_path(event_id)}/{entrant_id}"))

    def add(self, event_id: int, *, name: str, key: str | None = None, **more: Any) -> Entrant:
        """Registers one entrant. `more`: club, seed, members, external_id, fixed_board."""
        return Entrant.from_json(self._create(_entrants_path(event_id), {"name": name, **more}, key=key))

    def change(self, event_id: int, entrant: Entrant, **changes: Any) -> Entrant:
        """Changes the version given. Raises `Stale`."""
        path = f"{_entrants_path(event_id)}/{entrant.id}"
        return Entrant.from_json(self._write("PATCH", path, changes, version=entrant.version))

    def move(
        self, event_id: int, entrant: Entrant, to: str, *, reason: str | None = None, from_round: int | None = None
    ) -> Entrant:
        """One step of an entrant's state (rules.md section 10). Raises `Stale`, `Conflict`."""
        body = {"to": to, "reason": reason, "from_round": from_round}
        path = f"{_entrants_path(event_id)}/{entrant.id}/transitions"
        given = {name: value for name, value in body.items() if value is not None}
        return Entrant.from_json(self._write("POST", path, given, version=entrant.version))

    def move_all(self, event_id: int, to: str, *, states: Sequence[str], reason: str | None = None) -> BulkChange:
        """Moves everybody who is in one of these states, in one transaction."""
        body: dict[str, Any] = {"to": to, "from": list(states)} | ({} if reason is None else {"reason": reason})
        return BulkChange.from_json(self._create(f"{_entrants_path(event_id)}/bulk-transitions", body))

    def import_roster(
        self, event_id: int, content: bytes, *, dry_run: bool, plan: str | None = None, key: str | None = None
    ) -> ImportReport:
        """Imports a roster (CSV in UTF-8 or GB18030). Raises `Invalid`, keeping nothing, with each faulty row."""
        request = Request(
            method="POST",
            path=f"{_entrants_path(event_id)}/import",
            query=text_query({"dry_run": dry_run, "plan": plan}),
            body=content,
            content_type="text/csv",
            headers={} if dry_run else {"Idempotency-Key": key or uuid.uuid4().hex},
        )
        return ImportReport.from_json(self._transport.send(request).json())

    def check_in(self, event_id: int, entrants: Sequence[int] | None = None) -> BulkChange:
        """Checks in these entrants (ids), or all approved ones."""
        return self._all_or_some(f"/api/v1/events/{event_id}/check-in", entrants)

    def seat(self, event_id: int, entrants: Sequence[int] | None = None) -> BulkChange:
        """Seats these entrants (ids), or all who may be."""
        return self._all_or_some(f"{_entrants_path(event_id)}/seat", entrants)

    def draw_lots(
        self, event_id: int, *, mode: str = "machine", seed: int | None = None, numbers: Mapping[int, int] | None = None
    ) -> Lots:
        """Gives numbers: `machine` (replayable from `seed`), `seeding`, or `hand` with `numbers` by entrant id."""
        body: dict[str, Any] = {"mode": mode}
        if seed is not None:
            body["seed"] = seed
        if numbers is not None:
            body["numbers"] = {str(entrant): number for entrant, number in numbers.items()}
        return Lots.from_json(self._create(f"/api/v1/events/{event_id}/lots", body))

    def lots(self, event_id: int) -> Lots:
        """How numbers were given."""
        return Lots.from_json(self._get(f"/api/v1/events/{event_id}/lots"))

    def set_absent(self, event_id: int, round_no: int, entrant_id: int, *, absent: bool = True) -> None:
        """Notes or takes back an absence for one round."""
        path = f"/api/v1/events/{event_id}/absences/{round_no}/{entrant_id}"
        self._write("PUT" if absent else "DELETE", path, {} if absent else None)

    def set_bye(self, event_id: int, round_no: int, entrant_id: int, kind: str | None) -> None:
        """Notes a requested bye (half, full, zero), or takes it back with None."""
        path = f"/api/v1/events/{event_id}/byes/{round_no}/{entrant_id}"
        self._write("DELETE" if kind is None else "PUT", path, None if kind is None else {"kind": kind})

    def _all_or_some(self, path: str, entrants: Sequence[int] | None) -> BulkChange:
        body: dict[str, Any] = {"all": True} if entrants is None else {"entrants": list(entrants)}
        return BulkChange.from_json(self._create(path, body))
