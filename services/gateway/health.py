"""Health of the gateway and of the services behind it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

import requests
from flask import Flask, Response, jsonify
from flask_openapi3 import APIBlueprint, Tag

from qisai.db.migrate import schema_is_current
from qisai.errors import Unavailable
from qisai.web.rights import Right, requires
from services.gateway.parts import Parts, parts
from services.gateway.upstreams import Service

operations = APIBlueprint("operations", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="operations")])

_TIMEOUT: Final = (1.0, 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Whether a service is ready. `milliseconds`: how long it took to answer."""

    name: str
    is_ready: bool
    detail: str
    milliseconds: float

    def json(self) -> dict[str, Any]:
        """As the API shows it."""
        state = "ready" if self.is_ready else "away"
        return {"name": self.name, "state": state, "detail": self.detail, "ms": round(self.milliseconds, 1)}


def install(app: Flask) -> None:
    """Adds `/healthz` (the process answers) and `/readyz` (it and the services behind it can work)."""

    @app.get("/healthz")
    @requires(Right.INTERNAL)
    def healthz() -> Response:
        return jsonify({"status": "alive"})

    @app.get("/readyz")
    @requires(Right.INTERNAL)
    def readyz() -> Response:
        if not schema_is_current(parts().database.engine):
            raise Unavailable("schema-too-old", "The database has an older schema than this release needs.")
        found = [ask(service) for service in parts().services.values()]
        away = [health.name for health in found if not health.is_ready]
        if away:
            raise Unavailable("services-away", f"Not ready: {', '.join(away)}.", services=away)
        return jsonify({"status": "ready", "services": [health.name for health in found]})


@operations.get("/ops/services", summary="Health of the services")
@requires(Right.OPERATE)
def list_services() -> Response:
    """The services behind the gateway, and the keeper."""
    return jsonify({"items": [health.json() for health in all_services(parts())], "next": None})


def all_services(here: Parts) -> list[Health]:
    """Health of every service that the gateway knows of."""
    services = list(here.services.values())
    if here.settings.keeper_url:
        services.append(Service("keeper", here.settings.keeper_url.rstrip("/")))
    return [ask(service) for service in services]


def ask(service: Service) -> Health:
    """Asks a service whether it is ready, even while it is being left alone."""
    began = time.monotonic()
    try:
        answer = service.session.get(f"{service.base_url}/readyz", timeout=_TIMEOUT)
        is_ready, detail = answer.status_code == 200, "" if answer.status_code == 200 else str(answer.status_code)
    except requests.RequestException as error:
        is_ready, detail = False, type(error).__name__
    return Health(name=service.name, is_ready=is_ready, detail=detail, milliseconds=(time.monotonic() - began) * 1000)
