"""`/healthz`: the process answers. `/readyz`: it can do its work, which needs the database at the code's schema."""

from __future__ import annotations

from typing import Any

from flask import Flask, Response, jsonify

from qisai.db.migrate import schema_is_current
from qisai.db.session import Database
from qisai.errors import Unavailable
from qisai.web.rights import Right, requires


def install(app: Flask, *, database: Database | None) -> None:
    """Adds the two routes; `database` None for a service without one."""

    @app.get("/healthz")
    @requires(Right.INTERNAL)
    def healthz() -> Any:
        return jsonify({"status": "alive"})

    @app.get("/readyz")
    @requires(Right.INTERNAL)
    def readyz() -> Response:
        if database is not None and not schema_is_current(database.engine):
            raise Unavailable("schema-too-old", "The database has an older schema than this release needs.")
        return jsonify({"status": "ready"})
