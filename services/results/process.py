"""What one process of this service holds: connections, the sender of nudges, the cache of standings."""

from __future__ import annotations

from dataclasses import dataclass

from celery import Celery
from flask import Flask, current_app

from qisai.db.session import Database
from services.results.standings_cache import StandingsCache

_KEY = "qisai.results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """Made once by `create_app`, used by all views."""

    database: Database
    celery: Celery
    deadline_ms: int
    """How long a solver may take by default, in milliseconds."""
    standings: StandingsCache


def hold(app: Flask, process: Process) -> None:
    """Leaves it with the application; its database also under `qisai.database`, where tests and forks find it."""
    app.extensions[_KEY] = process
    app.extensions["qisai.database"] = process.database


def here() -> Process:
    """The process of the request under way."""
    process: Process = current_app.extensions[_KEY]
    return process
