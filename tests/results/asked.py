"""What the service asks its database, by whichever way: noted at the driver, where every statement passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa
from flask import Flask


@contextmanager
def statements(app: Flask) -> Iterator[list[str]]:
    """The texts of all statements meanwhile, in order."""
    asked: list[str] = []

    class Noting(psycopg.Cursor[Any]):
        def execute(self, query: Any, *arguments: Any, **named: Any) -> Any:
            asked.append(query)
            return super().execute(query, *arguments, **named)

        def executemany(self, query: Any, *arguments: Any, **named: Any) -> None:
            asked.append(query)
            super().executemany(query, *arguments, **named)

    def note(connection: Any, *_: Any) -> None:
        connection.cursor_factory = Noting

    engine = app.extensions["qisai.database"].engine
    sa.event.listen(engine, "checkout", note)
    try:
        yield asked
    finally:
        sa.event.remove(engine, "checkout", note)
        engine.dispose()  # with the connections that note
