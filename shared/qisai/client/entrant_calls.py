"""Calls about entrants: registration, check-in, seating, lots, absences."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from qisai.client.calls import Calls, text_query
from qisai.client.events import BulkChange, Entrant, ImportReport, Lots
from qisai.client.reading import all_items, items
from qisai.client.registration import Attendance, ForbiddenPair, OwnEntry, Transition
from qisai.client.transport import Request


def _entrants_path(event_id: int) -> str:
    return f"/api/v1/events/{event_id}/entrants"


class EntrantCalls(Calls):
    """Entrants of an event."""

    def list(self, event_id: int, *, q: str | None = None, state: str | None = None) -> tuple[Entrant, ...]:
        """All entrants the caller may see, page by page."""
        query = {name: value for name, value in {"q": q, "state": state}.items() if value is not None}
        return all_items(self._transport, _entrants_path(event_id), Entrant.from_json, query={"limit": "1000", **query})

    def first(
        self, event_id: int, count: int, *, q: str | None = None, state: str | None = None, by_name: bool = False
    ) -> tuple[Entrant, ...]:
        """The first of them (1,000 at most) by number, or by Pinyin."""
        query = {"q": q, "state": state, "sort": "name" if by_name else "number", "limit": count}
        return items(self._get(_entrants_path(event_id), **query), Entrant.from_json)

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

    def transitions(self, event_id: int, entrant_id: int) -> tuple[Transition, ...]:
        """Every change of an entrant's state, oldest first."""
        return items(self._get(f"{_entrants_path(event_id)}/{entrant_id}/transitions"), Transition.from_json)

    def move_all(
        self, event_id: int, to: str, *, states: Sequence[str], reason: str | None = None, dry_run: bool = False
    ) -> BulkChange:
        """Moves everybody who is in one of these states, in one transaction; `dry_run` only says what would happen."""
        body: dict[str, Any] = {"to": to, "from": list(states)} | ({} if reason is None else {"reason": reason})
        if dry_run:
            body["dry_run"] = True
        return BulkChange.from_json(self._create(f"{_entrants_path(event_id)}/bulk-transitions", body))

    def move_some(
        self, event_id: int, to: str, *, entrants: Sequence[Entrant], reason: str | None = None, dry_run: bool = False
    ) -> BulkChange:
        """Moves these at the versions given; whoever was changed meanwhile is named and left alone."""
        seen = [{"id": entrant.id, "version": entrant.version} for entrant in entrants]
        body: dict[str, Any] = {"to": to, "entrants": seen, "dry_run": dry_run, "reason": reason or ""}
        return BulkChange.from_json(self._create(f"{_entrants_path(event_id)}/bulk-transitions", body))

    def undo(self, event_id: int, step_id: int) -> BulkChange:
        """Takes a step of many back (`BulkChange.undo`), for everybody whom nobody changed since."""
        return BulkChange.from_json(self._create(f"{_entrants_path(event_id)}/bulk-transitions/{step_id}/undo"))

    def export(self, event_id: int, *, form: str = "csv", language: str = "zh-Hans") -> bytes:
        """The entrants as `csv` or `xlsx`, headed in a language, as far as the caller may see them."""
        request = Request(
            method="GET",
            path=f"{_entrants_path(event_id)}/export",
            query={"form": form},
            headers={"Accept-Language": language},
        )
        return self._transport.send(request).content

    def attendance(self, event_id: int, round_no: int) -> Attendance:
        """Check-in for one round."""
        return Attendance.from_json(self._get(f"/api/v1/events/{event_id}/attendance/{round_no}"))

    def set_present(self, event_id: int, round_no: int, entrant_id: int, *, present: bool = True) -> None:
        """Notes that a seated entrant came to a round, or takes it back."""
        path = f"/api/v1/events/{event_id}/attendance/{round_no}/{entrant_id}"
        self._write("PUT" if present else "DELETE", path, {} if present else None)

    def set_all_present(
        self, event_id: int, round_no: int, *, entrants: Sequence[int] | None = None, present: bool = True
    ) -> int:
        """Notes that these came to a round, or all who are seated, or takes it back; for how many that was new."""
        who: dict[str, Any] = {"all": True} if entrants is None else {"entrants": list(entrants)}
        body = self._create(f"/api/v1/events/{event_id}/attendance/{round_no}", {**who, "present": present})
        return len(body["changed"])

    def set_deadline(self, event_id: int, round_no: int, until: str | None) -> None:
        """Until when entrants check in for a round (RFC 3339); None: the round has no check-in."""
        path = f"/api/v1/events/{event_id}/attendance/{round_no}/deadline"
        self._write("DELETE" if until is None else "PUT", path, None if until is None else {"until": until})

    def forbidden_pairs(self, event_id: int) -> tuple[ForbiddenPair, ...]:
        """Pairs that do not meet."""
        return items(self._get(f"/api/v1/events/{event_id}/forbidden-pairs"), ForbiddenPair.from_json)

    def forbid_pair(
        self, event_id: int, a: int, b: int, *, from_round: int = 1, to_round: int | None = None, key: str | None = None
    ) -> ForbiddenPair:
        """These two (ids) do not meet in these rounds. Raises `Invalid`, `Conflict` `pair-forbidden`."""
        body = {"entrants": [a, b], "from_round": from_round, "to_round": to_round}
        return ForbiddenPair.from_json(self._create(f"/api/v1/events/{event_id}/forbidden-pairs", body, key=key))

    def allow_pair(self, event_id: int, pair_id: int) -> None:
        """These two may meet again."""
        self._write("DELETE", f"/api/v1/events/{event_id}/forbidden-pairs/{pair_id}")

    def keep_clubs_apart(self, event_id: int, *, from_round: int = 1, to_round: int | None = None) -> int:
        """Nobody meets somebody of the own club in these rounds; how many pairs that added."""
        body = {"from_round": from_round, "to_round": to_round}
        path = f"/api/v1/events/{event_id}/forbidden-pairs/same-club"
        added: int = self._create(path, body)["added"]
        return added

    def let_clubs_meet(self, event_id: int) -> int:
        """Takes back the pairs that keeping clubs apart made; how many."""
        path = f"/api/v1/events/{event_id}/forbidden-pairs/same-club"
        removed: int = self._write("DELETE", path)["removed"]
        return removed

    def register_oneself(self, event_id: int, *, name: str, key: str | None = None, **more: Any) -> OwnEntry:
        """Registers somebody of the public while the event is open; `token` opens the entry from now on.

        `more`: club, members, substitutes, sex, birth_year, phone, email. A key must have 16 characters at least.
        """
        body = {"name": name, **more}
        return OwnEntry.from_json(self._create(f"/api/v1/events/{event_id}/registrations", body, key=key))

    def own_entry(self, token: str) -> OwnEntry:
        """One's own entry behind its link. Raises `NotFound`."""
        return OwnEntry.from_json(self._get(f"/api/v1/registrations/{token}"))

    def cancel_own_entry(self, token: str) -> OwnEntry:
        """Cancels one's own entry, before one is seated. Raises `Conflict` `ask-the-desk`."""
        return OwnEntry.from_json(self._write("DELETE", f"/api/v1/registrations/{token}"))

    def import_roster(
        self, event_id: int, content: bytes, *, dry_run: bool, plan: str | None = None, key: str | None = None
    ) -> ImportReport:
        """Imports a roster (XLSX, or CSV in UTF-8 or GB18030). Raises `Invalid` with each faulty row; none is kept."""
        request = Request(
            method="POST",
            path=f"{_entrants_path(event_id)}/import",
            query=text_query({"dry_run": dry_run, "plan": plan}),
            body=content,
            content_type="application/octet-stream",  # told from the content
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
        self,
        event_id: int,
        *,
        version: int,
        mode: str = "machine",
        seed: int | None = None,
        numbers: Mapping[int, int] | None = None,
    ) -> Lots:
        """Gives numbers: `machine` (replayable from `seed`), `seeding`, or `hand` with `numbers` by entrant id.

        `version`: that of the lots last seen, 0 where there are none. Raises `Stale` where somebody drew since.
        """
        body: dict[str, Any] = {"mode": mode}
        if seed is not None:
            body["seed"] = seed
        if numbers is not None:
            body["numbers"] = {str(entrant): number for entrant, number in numbers.items()}
        return Lots.from_json(self._write("POST", f"/api/v1/events/{event_id}/lots", body, version=version))

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
