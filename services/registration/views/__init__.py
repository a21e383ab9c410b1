"""Routes by noun: parse, open the transaction, call one operation or query, serialise. No rule and no query here."""

from __future__ import annotations

from collections.abc import Sequence

from flask_openapi3 import APIBlueprint

from services.registration.views import (
    ahead,
    attendance,
    entrants,
    events,
    exports,
    imports,
    lots,
    profiles,
    self_registration,
    steps,
)


def blueprints() -> Sequence[APIBlueprint]:
    """All routes of the service."""
    return [
        module.api
        for module in (profiles, events, entrants, steps, imports, exports, lots, ahead, attendance, self_registration)
    ]
