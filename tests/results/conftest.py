"""The results service over a migrated database of each test module's own; every test makes an event of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.orm import Session

from qisai.db.accounts import Role
from services.results.app import create_app
from tests import calls, fields
from tests.servers import Database, Servers

NO_BROKER = "redis://127.0.0.1:1/0"
"""Nobody listens there: this service must not need Redis."""


@dataclass(frozen=True, slots=True)
class Service:
    """The application, its database, and people who call it."""

    app: Flask
    database: Database

    def owner(self) -> AbstractContextManager[Session]:
        """A committing session behind the service's back."""
        return fields.owner_of(self.database.owner_url)

    def rows(self, statement: str, **values: Any) -> list[Any]:
        """Rows of a plain query, as they are committed now."""
        with self.owner() as session:
            return list(session.execute(sa.text(statement), values).all())

    def person(
        self,
        role: Role | None,
        event_id: int | None = None,
        *,
        name: str = "赵裁判",
        boards: tuple[int, int] | None = None,
        device: str = "",
    ) -> calls.Caller:
        """A new account with one role."""
        with self.owner() as session:
            account_id = fields.account(session, name=name, role=role, event_id=event_id, boards=boards)
        return calls.caller(self.app, account_id=account_id, device=device)

    def public(self) -> calls.Caller:
        return calls.caller(self.app)


@pytest.fixture(scope="module")
def service(servers: Servers) -> Iterator[Service]:
    database = servers.clone()
    environment = calls.service_environment("results", database, redis_url=NO_BROKER)
    with calls.service_app(create_app, environment) as app:
        yield Service(app, database)
    servers.drop(database)


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


def problem(response: Any, status: int, slug: str) -> dict[str, Any]:
    """The problem document of a refused call, after checking status, kind and form."""
    assert response.status_code == status, response.get_data(as_text=True)
    assert response.content_type.startswith("application/problem+json")
    body: dict[str, Any] = response.json
    assert body["type"] == f"urn:qisai:problem:{slug}", body
    return body
