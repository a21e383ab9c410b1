"""Pages for people: server-rendered, usable without scripts for reading, in three languages."""

from __future__ import annotations

from flask import Flask


def install(app: Flask) -> None:
    """Adds every page."""
