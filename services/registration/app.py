"""The registration service as a Flask application: `gunicorn 'services.registration.app:create_app()'`."""

from __future__ import annotations

from flask_openapi3 import OpenAPI

from qisai.web.app import service_from_environment
from services.registration.views import blueprints


def create_app() -> OpenAPI:
    """The application, with settings from the environment. Raises `Invalid` naming a setting that is missing."""
    app, _database = service_from_environment("registration", blueprints=blueprints())
    return app
