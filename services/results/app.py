"""The results service as a Flask application: `gunicorn 'services.results.app:create_app()'`."""

from __future__ import annotations

from flask_openapi3 import OpenAPI

from qisai import settings
from qisai.queue.app import make_celery
from qisai.web.app import service_from_environment
from qisai.web.kept_values import KeptValues
from services.results.process import MOST_EXPLANATIONS, MOST_TABLES, Process, hold
from services.results.views import blueprints


def create_app() -> OpenAPI:
    """The application, with settings from the environment. Raises `Invalid` naming a setting that is missing."""
    found = settings.service_settings("results")
    app, database = service_from_environment("results", blueprints=blueprints())
    process = Process(
        database=database,
        celery=make_celery(found.redis_url, prefix=found.redis_prefix, for_worker=False),
        deadline_ms=settings.pairing_deadline_ms(),
        lease_seconds=settings.pairing_lease_seconds(),
        standings=KeptValues(MOST_TABLES),
        explanations=KeptValues(MOST_EXPLANATIONS),
    )
    hold(app, process)
    return app
