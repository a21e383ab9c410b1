"""The results service over a migrated database of each test module's own; every test makes an event of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from qisai.db.accounts import Role
from services.results.app import create_app
from tests import calls, fields
from tests.served import Service, problem, running
from tests.servers import Servers

__all__ = ["Play", "Service", "make_play", "problem"]


@pytest.fixture(scope="module")
def service(servers: Servers) -> Iterator[Service]:
    with running(servers, "results", create_app) as started:
        yield started


@dataclass(frozen=True, slots=True)
class Play:
    """An event with its chief referee."""

    service: Service
    field: fields.Field
    chief: calls.Caller

    @property
    def event(self) -> str:
        return f"/api/v1/events/{self.field.event_id}"

    def round(self, number: int) -> str:
        return f"{self.event}/rounds/{number}"

    def result_of(self, round_no: int, board: int) -> str:
        return f"/api/v1/boards/{self.field.board_ids[round_no, board]}/result"

    def referee(self, *, boards: tuple[int, int] | None = None, name: str = "钱裁判", device: str = "") -> calls.Caller:
        return self.service.person(Role.REFEREE, self.field.event_id, name=name, boards=boards, device=device)

    def numbers(self) -> tuple[int, int]:
        """feed_no and pairing_no."""
        (row,) = self.service.rows(
            "SELECT feed_no, pairing_no FROM event_feed WHERE event_id = :id", id=self.field.event_id
        )
        return row.feed_no, row.pairing_no


@pytest.fixture
def play(service: Service) -> Play:
    """Four entrants, nothing drawn."""
    return make_play(service)


def make_play(service: Service, **event: Any) -> Play:
    """An event made by `fields.ready_event` with its chief referee."""
    with service.owner() as session:
        field = fields.ready_event(session, **event)
    return Play(service, field, service.person(Role.CHIEF_REFEREE, field.event_id, name="孙裁判长"))
