"""The registration service as a Flask application: `gunicorn 'services.registration.app:create_app()'`."""

from __future__ import annotations

import os

from flask_openapi3 import OpenAPI

from qisai import settings, telemetry
from qisai.db.session import Database
from qisai.web.app import make_service
from services.registration.process import hold
from services.registration.views import blueprints


def create_app() -> OpenAPI:
    """The application, with settings from the environment. Raises `Invalid` naming a setting that is missing."""
    telemetry.set_up_logging("registration")
    found = settings.service_settings("registration")
    database = Database(found.database_url, application="registration")
    os.register_at_fork(after_in_child=database.dispose_after_fork)
    app = make_service(
        "registration",
        database=database,
        assertion_public_key=found.assertion_public_key,
        max_body_bytes=found.max_body_bytes,
        blueprints=blueprints(),
    )
    hold(app, database)
    return app
