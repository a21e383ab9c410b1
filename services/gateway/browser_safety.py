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
_HTTPS_ONLY: Final = {"Strict-Transport-Security": "max-age=31536000"}


def install(app: Flask, *, is_https: bool) -> None:
    """Adds the headers to every answer; answers for one person are kept by no cache but theirs."""
    added = [(name, value, name.lower()) for name, value in (_HEADERS | (_HTTPS_ONLY if is_https else {})).items()]

    @app.after_request
    def protect(response: Response) -> Response:
        there = {name.lower() for name, _ in response.headers}
        response.headers.extend([(name, value) for name, value, lower in added if lower not in there])
        if "Cookie" in request.headers or "Authorization" in request.headers:
            response.headers.setdefault("Cache-Control", "private, no-cache")
            response.vary.add("Cookie")
        return response
