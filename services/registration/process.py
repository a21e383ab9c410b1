"""What one process of this service holds: its connections."""

from __future__ import annotations

from flask import current_app

from qisai.db.session import Database
from qisai.web.app import DATABASE


def database() -> Database:
    """The connections of the request under way."""
    found: Database = current_app.extensions[DATABASE]
    return found
