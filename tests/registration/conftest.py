"""The registration service over a migrated database of each test module's own; every test makes an event of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from qisai.db.accounts import Role
from services.registration.app import create_app
from tests import calls, fields
from tests.served import Service, ok, problem, running
from tests.servers import Servers

__all__ = ["Fair", "Service", "make_fair", "ok", "problem"]


@pytest.fixture(scope="module")
def service(servers: Servers) -> Iterator[Service]:
    with running(servers, "registration", create_app) as started:
        yield started


@dataclass(frozen=True, slots=True)
class Fair:
    """An event that its organiser made through the service, with its desk."""

    service: Service
    event_id: int
    organiser: calls.Caller
    desk: calls.Caller

    @property
    def path(self) -> str:
        return f"/api/v1/events/{self.event_id}"

    @property
    def entrants_path(self) -> str:
        return f"{self.path}/entrants"

    def event(self) -> dict[str, Any]:
        """The event as its organiser sees it."""
        return ok(self.organiser.get(self.path))

    def act(self, action: str) -> dict[str, Any]:
        """One step of the event's state."""
        return ok(self.organiser.post(f"{self.path}/{action}", {}, version=self.event()["version"]))

    def add(self, name: str, **more: Any) -> dict[str, Any]:
        """Registers one entrant at the desk."""
        return ok(self.desk.post(self.entrants_path, {"name": name, **more}), 201)

    def entrant(self, entrant_id: int) -> dict[str, Any]:
        """One entrant as the desk sees it."""
        return ok(self.desk.get(f"{self.entrants_path}/{entrant_id}"))

    def move(
        self, entrant: Mapping[str, Any], to: str, *, by: calls.Caller | None = None, **more: Any
    ) -> dict[str, Any]:
        """One step of one entrant at the version it is now."""
        return ok(self.try_move(entrant, to, by=by, **more))

    def try_move(
        self,
        entrant: Mapping[str, Any],
        to: str,
        *,
        by: calls.Caller | None = None,
        version: int | None = None,
        **more: Any,
    ) -> TestResponse:
        """As `move`, whatever comes of it."""
        seen = version if version is not None else self.entrant(entrant["id"])["version"]
        path = f"{self.entrants_path}/{entrant['id']}/transitions"
        return (by or self.organiser).post(path, {"to": to, **more}, version=seen)

    def seated(self, count: int) -> list[dict[str, Any]]:
        """So many entrants, seated, without numbers."""
        added = [self.add(f"棋手{place}", seed=2000 - place) for place in range(1, count + 1)]
        path = f"{self.entrants_path}/bulk-transitions"
        ok(self.organiser.post(path, {"to": "approved", "from": ["registered"]}))
        if self.event()["needs_check_in"]:
            ok(self.desk.post(f"{self.path}/check-in", {"all": True}))
        ok(self.desk.post(f"{self.entrants_path}/seat", {"all": True}))
        return [self.entrant(one["id"]) for one in added]

    def draw_lots(self, body: Mapping[str, Any], *, by: calls.Caller | None = None) -> dict[str, Any]:
        """A draw of lots that saw the latest one."""
        return ok(self.try_lots(body, by=by))

    def try_lots(self, body: Mapping[str, Any], *, by: calls.Caller | None = None) -> TestResponse:
        """As `draw_lots`, whatever comes of it."""
        path = f"{self.path}/lots"
        return (by or self.organiser).post(path, dict(body), version=ok(self.organiser.get(path))["version"])

    def numbers(self) -> tuple[int, int]:
        """feed_no and pairing_no."""
        (row,) = self.service.rows("SELECT feed_no, pairing_no FROM event_feed WHERE event_id = :id", id=self.event_id)
        return row.feed_no, row.pairing_no

    def publish_rounds(self, count: int) -> None:
        """Rounds 1 … count are published behind the service's back, without boards."""
        with self.service.owner() as session:
            for number in range(1, count + 1):
                statement = "INSERT INTO round (event_id, number, state) VALUES (:event, :number, 'published')"
                session.execute(sa.text(statement), {"event": self.event_id, "number": number})
            session.execute(
                sa.text("UPDATE event SET state = 'running', frozen_at = now(), version = version + 1 WHERE id = :id"),
                {"id": self.event_id},
            )
            fields.bump(session, self.event_id)


def make_fair(service: Service, *, state: str = "open", **body: Any) -> Fair:
    """A new event, opened unless `state` says draft."""
    organiser = service.person(Role.ORGANISER, name="李组织")
    made = ok(organiser.post("/api/v1/events", {"name": "甲市象棋赛", "profile": "xiangqi", **body}), 201)
    fair = Fair(service, made["id"], organiser, service.person(Role.DESK, made["id"], name="王登记"))
    if state == "open":
        fair.act("open")
    return fair


@pytest.fixture
def fair(service: Service) -> Fair:
    """An open event with approval and check-in, nobody in it."""
    return make_fair(service)
