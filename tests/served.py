"""One service over a migrated database of its own, and people who call it: what tests of both services start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from flask import Flask
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from qisai.db.accounts import Role
from tests import calls, fields
from tests.servers import Database, Servers

NO_BROKER: Final = "redis://127.0.0.1:1/0"
"""Nobody listens there: a service must not need Redis."""


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
        name: str = "赵某",
        boards: tuple[int, int] | None = None,
        device: str = "",
    ) -> calls.Caller:
        """A new account with one role."""
        with self.owner() as session:
            account_id = fields.account(session, name=name, role=role, event_id=event_id, boards=boards)
        return calls.caller(self.app, account_id=account_id, device=device)

    def public(self) -> calls.Caller:
        """Somebody who is not signed in."""
        return calls.caller(self.app)


@contextmanager
def running(servers: Servers, name: str, create_app: Callable[[], Flask]) -> Iterator[Service]:
    """The service on a new database, which is dropped at the end."""
    database = servers.clone()
    environment = calls.service_environment(name, database, redis_url=NO_BROKER)
    with calls.service_app(create_app, environment) as app:
        yield Service(app, database)
    servers.drop(database)


def ok(response: TestResponse, status: int = 200) -> Any:
    """The body of a call that went well."""
    assert response.status_code == status, response.get_data(as_text=True)
    return response.json


def problem(response: TestResponse, status: int, slug: str) -> dict[str, Any]:
    """The problem document of a refused call, after checking status, kind and form."""
    assert response.status_code == status, response.get_data(as_text=True)
    assert response.content_type.startswith("application/problem+json")
    body: dict[str, Any] = response.json  # type: ignore[assignment]
    assert body["type"] == f"urn:qisai:problem:{slug}", body
    return body
