"""The results service as a Flask application: `gunicorn 'services.results.app:create_app()'`."""

from __future__ import annotations

import os

from flask_openapi3 import OpenAPI

from qisai import settings, telemetry
from qisai.db.session import Database
from qisai.queue.app import make_celery
from qisai.web.app import make_service
from qisai.web.kept_values import KeptValues
from services.results.process import MOST_TABLES, Process, hold
from services.results.views import blueprints


def create_app() -> OpenAPI:
    """The application, with settings from the environment. Raises `Invalid` naming a setting that is missing."""
    telemetry.set_up_logging("results")
    found = settings.service_settings("results")
    database = Database(found.database_url, application="results")
    os.register_at_fork(after_in_child=database.dispose_after_fork)
    app = make_service(
        "results",
        database=database,
        assertion_public_key=found.assertion_public_key,
        max_body_bytes=found.max_body_bytes,
        blueprints=blueprints(),
    )
    hold(
        app,
        Process(
            database=database,
            celery=make_celery(found.redis_url, prefix=found.redis_prefix, for_worker=False),
            deadline_ms=settings.pairing_deadline_ms(),
            standings=KeptValues(MOST_TABLES),
        ),
    )
    return app
