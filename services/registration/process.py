"""What one process of this service holds: its connections."""

from __future__ import annotations

from flask import Flask, current_app

from qisai.db.session import Database

_KEY = "qisai.database"


def hold(app: Flask, database: Database) -> None:
    """Leaves it with the application, where views, tests and forks find it."""
    app.extensions[_KEY] = database


def database() -> Database:
    """The connections of the request under way."""
    found: Database = current_app.extensions[_KEY]
    return found
