"""Makes the gateway: `gunicorn -k gevent 'services.gateway.app:create_app()' -c python:qisai.web.gunicorn`."""

from __future__ import annotations

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from qisai import settings as environment
from qisai import telemetry
from qisai.db.session import Database
from qisai.errors import Invalid
from qisai.settings import GatewaySettings
from qisai.web import rights
from qisai.web.app import make_app
from services.gateway import browser_safety, guard, health, openapi, pages, parts, proxy
from services.gateway.account_views import people
from services.gateway.link_views import links
from services.gateway.live_views import live

_POOL: int = 16
"""Database connections of one gateway process; its own statements take a millisecond each."""


def create_app(settings: GatewaySettings | None = None) -> Flask:
    """The gateway with all its routes. Raises `Invalid` naming a setting that is missing or wrong, and `RuntimeError`
    for a route that declares no right."""
    if settings is None:
        telemetry.set_up_logging("gateway")
        settings = environment.gateway_settings()
    # Few requests come to the gateway's own tables, so each may ask whether its connection lives.
    database = Database(settings.database_url, application="gateway", pool_size=_POOL, ping_after_seconds=0)
    app = make_app(
        "gateway", max_body_bytes=settings.max_body_bytes, blueprints=[people, links, health.operations, live]
    )
    try:
        parts.install(app, parts.assemble(settings, database))
    except ValueError as error:
        raise Invalid("bad-setting", "QISAI_ASSERTION_PRIVATE_KEY is no private key in PEM form") from error
    guard.install(app, settings)
    health.install(app)
    proxy.install(app)
    openapi.install(app)
    is_https = settings.public_url.startswith("https://")
    pages.install(app, secret_key=settings.secret_key, is_https=is_https)
    browser_safety.install(app, is_https=is_https)
    if settings.trusted_proxies:
        count = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=count, x_proto=count, x_host=count)  # type: ignore[method-assign]
    rights.refuse_undeclared(app)
    return app
