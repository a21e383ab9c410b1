"""What is wrong with one value, in Chinese (simplified and traditional), by the slug of its error; English is the
error's own detail.

The texts stand in field_texts.json: `slug`, or `slug.variant` where one slug has several, with both texts. They may use
the error's context in braces. Slugs in snake case are pydantic's types. A test finds every slug that has no text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from werkzeug.datastructures import LanguageAccept

from qisai.web.problem_texts import LANGUAGES, language_of


@cache
def field_texts() -> Mapping[str, Mapping[str, str]]:
    """Slug, or slug and variant → language → text."""
    raw = json.loads((files("qisai.web") / "field_texts.json").read_text(encoding="utf-8"))
    return {key: dict(zip(LANGUAGES[1:], chinese, strict=True)) for key, chinese in raw.items()}


def field_text(slug: str, detail: str, *, context: Mapping[str, Any], languages: LanguageAccept) -> str:
    """The text in the caller's language; the error's own English where there is none, or it cannot be filled in."""
    key = f"{slug}.{context['variant']}" if "variant" in context else slug
    template = field_texts().get(key, {}).get(language_of(languages))
    plain = {name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in context.items()}
    try:
        return detail if template is None else template.format_map(plain)
    except (KeyError, IndexError):
        return detail
