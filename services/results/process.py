"""What one process of this service holds: connections, the sender of nudges, answers kept in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from celery import Celery
from flask import Flask, current_app

from qisai.db.session import Database
from qisai.web.kept_values import KeptValues

_KEY = "qisai.results"
MOST_TABLES: Final = 64
"""Tables kept in memory: a crosstable of 500 entrants after nine rounds takes half a megabyte."""

MOST_EXPLANATIONS: Final = 500
"""Answers to "why this pair" kept in memory, a few kilobytes each: a chief referee goes from one to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """Made once by `create_app`, used by all views."""

    database: Database
    celery: Celery
    deadline_ms: int
    """How long a solver may take by default, in milliseconds."""
    lease_seconds: int
    """How long a worker's claim lasts; whether a worker is alive follows from it."""
    standings: KeptValues
    """By event, feed number, round and form."""
    explanations: KeptValues
    """By draw, number of pairing's input, pool and entrant."""


def hold(app: Flask, process: Process) -> None:
    """Leaves it with the application; its views find it with `here`."""
    app.extensions[_KEY] = process


def here() -> Process:
    """The process of the request under way."""
    process: Process = current_app.extensions[_KEY]
    return process
