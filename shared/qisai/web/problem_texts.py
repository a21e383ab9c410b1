"""Titles and details of problems in Chinese (simplified and traditional) and English, by slug.

They stand in problem_texts.json, one line a slug. A detail may use the error's context in braces; a slug without one in
a language shows the error's own English detail. Where one slug has several, the context's `variant` tells them apart
(`slug.variant`); where one is raised with more and with less context, `slug.plain` names what all of them know. Tests
find every slug that the code raises and no text, and every error that is not given what its text names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from werkzeug.datastructures import LanguageAccept

LANGUAGES: Final = ("en", "zh-Hans", "zh-Hant")
_TAGS: Final = {"zh-hant": "zh-Hant", "zh-tw": "zh-Hant", "zh-hk": "zh-Hant", "zh-mo": "zh-Hant"}


@cache
def texts() -> Mapping[str, Mapping[str, tuple[str, str | None]]]:
    """Slug → language → title and detail."""
    raw = json.loads((files("qisai.web") / "problem_texts.json").read_text(encoding="utf-8"))
    return {
        slug: {language: (title, detail) for language, (title, detail) in by_language.items()}
        for slug, by_language in raw.items()
    }


def language_of(languages: LanguageAccept) -> str:
    """The best of `LANGUAGES` for an Accept-Language header; English where nothing fits."""
    for tag, quality in languages:
        lowered = tag.lower()
        if quality <= 0:
            continue
        for prefix, language in _TAGS.items():
            if lowered == prefix or lowered.startswith(prefix + "-"):
                return language
        if lowered == "zh" or lowered.startswith("zh-"):
            return "zh-Hans"
        if lowered == "en" or lowered.startswith("en-"):
            return "en"
    return "en"


def localised(slug: str, detail: str, *, context: Mapping[str, Any], languages: LanguageAccept) -> tuple[str, str]:
    """Title and detail of a problem in the caller's language."""
    language = language_of(languages)
    title, _text = texts().get(slug, {}).get(language, (slug.replace("-", " ").capitalize(), None))
    for key in (f"{slug}.{context.get('variant')}", slug, f"{slug}.plain"):
        _title, text = texts().get(key, {}).get(language, ("", None))
        try:
            if text is not None:
                return title, text.format_map(context)
        except (KeyError, IndexError):
            continue
    return title, detail
