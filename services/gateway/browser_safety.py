"""Headers that keep a browser from doing what no page of ours asks for."""

from __future__ import annotations

from typing import Final

from flask import Flask, Response, request

_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",  # no inline script: every script is a file of ours
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "manifest-src 'self'",
    )
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`: browsers would then say `Origin: null` for our own forms.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_HSTS: Final = "max-age=31536000"


def install(app: Flask, *, is_https: bool) -> None:
    """Adds the headers to every answer; answers for one person are kept by no cache but theirs."""

    @app.after_request
    def protect(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        if is_https:
            response.headers.setdefault("Strict-Transport-Security", _HSTS)
        if "Cookie" in request.headers or "Authorization" in request.headers:
            response.headers.setdefault("Cache-Control", "private, no-cache")
            response.vary.add("Cookie")
        return response
