"""Pages for people: server-rendered, readable without scripts, in Chinese (simplified, traditional) and English.

They ask the services through `qisai.client`, signed for whoever looks: the same way in as everybody else's.
"""

from __future__ import annotations

from typing import Any

from flask import Flask
from flask.sessions import SecureCookieSessionInterface

from services.gateway.pages import (
    account,
    accounts,
    alert_banner,
    api_docs,
    attendance_page,
    batch,
    board,
    chief,
    decisions,
    desk,
    entrant_page,
    error_pages,
    event_form,
    event_log,
    hand,
    handed_links,
    import_pages,
    language,
    lots_page,
    operations,
    organiser,
    pairs_page,
    profile_pages,
    public,
    referee,
    self_registration_pages,
    signing_in,
    site,
    staff,
    tables,
    why_page,
)


class _Notes(SecureCookieSessionInterface):
    """The cookie of the note, whose signer is made once: Flask would make it anew at each request, page or not."""

    _signer: Any = None

    def get_signing_serializer(self, app: Flask) -> Any:
        """As Flask makes it from the application's secret key."""
        if self._signer is None:
            self._signer = super().get_signing_serializer(app)
        return self._signer


def install(app: Flask, *, secret_key: str, is_https: bool) -> None:
    """Adds every page, the languages and the style sheets and scripts."""
    # A roster that is pasted, or that comes back with its report, is as large as any other body may be.
    app.config["MAX_FORM_MEMORY_SIZE"] = app.config["MAX_CONTENT_LENGTH"]
    app.session_interface = _Notes()
    app.secret_key = secret_key  # signs the cookie of the note that is shown after a form was sent
    app.config.update(
        SESSION_COOKIE_NAME="qisai_note",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=is_https,
    )
    language.install(app)
    site.install(app)
    alert_banner.install(app)
    for module in (
        public,
        tables,
        signing_in,
        referee,
        board,
        batch,
        chief,
        hand,
        why_page,
        decisions,
        event_log,
        desk,
        entrant_page,
        import_pages,
        attendance_page,
        pairs_page,
        lots_page,
        organiser,
        event_form,
        profile_pages,
        self_registration_pages,
        staff,
        account,
        accounts,
        handed_links,
        operations,
        api_docs,
    ):
        app.register_blueprint(module.pages)
    error_pages.install(app)
