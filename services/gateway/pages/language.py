"""The language of a page: asked for (`?lang=`), kept in a cookie, or the browser's; and its catalogue of texts.

Catalogues are kept as `.po` and read when the process starts, so that no step of compiling can be forgotten.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations
from flask import Flask, Response, g, request
from flask_babel import Babel, Domain, get_locale
from werkzeug.datastructures import LanguageAccept

from qisai.web.problem_texts import LANGUAGES, language_of

COOKIE: Final = "qisai_lang"
FOLDER: Final = Path(__file__).parent / "translations"
NAMES: Final = {"zh-Hans": "简体中文", "zh-Hant": "繁體中文", "en": "English"}
"""Languages under their own names."""
_LOCALES: Final = {"zh-Hans": "zh_Hans", "zh-Hant": "zh_Hant", "en": "en"}
_YEAR: Final = 365 * 24 * 3600


class _Catalogues(Domain):  # type: ignore[misc]
    """Texts from the `.po` files."""

    def get_translations(self) -> NullTranslations:
        return catalogue(str(get_locale() or "en"))


@cache
def catalogue(locale: str) -> NullTranslations:
    """The texts of one locale; English needs none, since the texts in the code are English."""
    path = FOLDER / f"{locale}.po"
    if not path.exists():
        return Translations()
    with path.open("rb") as file:
        messages = read_po(file, locale=locale)
    compiled = BytesIO()
    write_mo(compiled, messages)
    compiled.seek(0)
    return Translations(compiled)


def install(app: Flask) -> None:
    """Chooses the language of each request and remembers what was asked for."""
    babel = Babel(app, locale_selector=lambda: _LOCALES[language()])
    babel.domain_instance = _Catalogues()

    @app.before_request
    def speak() -> None:
        if not request.path.startswith("/api/"):
            # So that problems raised on the way speak the page's language too.
            request.accept_languages = LanguageAccept([(language(), 1.0)])

    @app.after_request
    def remember(response: Response) -> Response:
        asked = request.args.get("lang")
        if asked in LANGUAGES and not request.path.startswith("/api/"):
            response.set_cookie(COOKIE, asked, max_age=_YEAR, samesite="Lax", path="/")
        return response


def language() -> str:
    """The page's language, one of `LANGUAGES`; simplified Chinese where the browser asks for none of them."""
    if "language" not in g:
        g.language = _chosen()
    found: str = g.language
    return found


def _chosen() -> str:
    for asked in (request.args.get("lang"), request.cookies.get(COOKIE)):
        if asked in LANGUAGES:
            return asked
    offered = request.accept_languages
    found = language_of(offered)
    speaks_english = any(tag.lower().split("-")[0] == "en" and quality > 0 for tag, quality in offered)
    return found if found != "en" or speaks_english else "zh-Hans"


def sentences(*said: str) -> str:
    """Whole sentences one after the other; Chinese ones have no space between them."""
    return (" " if language() == "en" else "").join(said)
