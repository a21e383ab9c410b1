"""Pages for people: server-rendered, readable without scripts, in Chinese (simplified, traditional) and English.

They ask the services through `qisai.client`, signed for whoever looks: the same way in as everybody else's.
"""

from __future__ import annotations

from flask import Flask

from services.gateway.pages import (
    api_docs,
    chief,
    desk,
    error_pages,
    language,
    operations,
    organiser,
    public,
    referee,
    signing_in,
    site,
    staff,
    tables,
)


def install(app: Flask, *, secret_key: str, is_https: bool) -> None:
    """Adds every page, the languages and the style sheets and scripts."""
    app.secret_key = secret_key  # signs the cookie of the note that is shown after a form was sent
    app.config.update(
        SESSION_COOKIE_NAME="qisai_note",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=is_https,
    )
    language.install(app)
    site.install(app)
    for module in (public, tables, signing_in, referee, chief, desk, organiser, staff, operations, api_docs):
        app.register_blueprint(module.pages)
    error_pages.install(app)
