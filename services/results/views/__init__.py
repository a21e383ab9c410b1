"""Routes by noun: parse, open the transaction, call one operation or query, serialise. No rule and no query here."""

from __future__ import annotations

from collections.abc import Sequence

from flask_openapi3 import APIBlueprint

from services.results.views import (
    adjustments,
    boards,
    draws,
    events,
    files,
    jobs,
    logs,
    operating,
    rounds,
    sheets,
    standings,
)


def blueprints() -> Sequence[APIBlueprint]:
    """All routes of the service."""
    modules = (rounds, draws, jobs, boards, adjustments, standings, sheets, events, files, logs, operating)
    return [module.api for module in modules]
