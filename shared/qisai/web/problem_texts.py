"""Titles and details of problems in Chinese (simplified and traditional) and English, by slug.

A detail template may use the error's context in braces; a slug without one shows the error's own English detail.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from werkzeug.datastructures import LanguageAccept

LANGUAGES: Final = ("en", "zh-Hans", "zh-Hant")
_TAGS: Final = {"zh-hant": "zh-Hant", "zh-tw": "zh-Hant", "zh-hk": "zh-Hant", "zh-mo": "zh-Hant"}

TEXTS: Final[Mapping[str, Mapping[str, tuple[str, str | None]]]] = {
    "stale": {
        "en": ("Changed meanwhile", None),
        "zh-Hans": ("已被他人修改", "此项已被他人修改，请核对后再决定。"),
        "zh-Hant": ("已被他人修改", "此項已被他人修改，請核對後再決定。"),
    },
    "internal-error": {
        "en": ("Internal error", None),
        "zh-Hans": ("内部错误", "系统出错，已记录。"),
        "zh-Hant": ("內部錯誤", "系統出錯，已記錄。"),
    },
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
    title, template = TEXTS.get(slug, {}).get(language, (slug.replace("-", " ").capitalize(), None))
    if template is None:
        return title, detail
    try:
        return title, template.format_map(context)
    except (KeyError, IndexError):
        return title, detail
